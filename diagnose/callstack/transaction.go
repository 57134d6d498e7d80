package callstack

import (
	"strings"

	"github.com/redline-go/redline/record/code"
)

// lenders are functions of database clients that call a function of the service's with a transaction, a session, a connection or a
// row, by the last part of their names: pgx' BeginFunc and CollectRows, go-pg's RunInTransaction, mongo's WithTransaction.
var lenders = map[string]bool{"BeginFunc": true, "BeginTxFunc": true, "beginFuncExec": true, "AcquireFunc": true,
	"RunInTransaction": true, "WithTransaction": true, "UseSession": true, "UseSessionWithOptions": true, "Raw": true,
	"ForEachRow": true, "AppendRows": true, "CollectRows": true, "CollectOneRow": true, "CollectExactlyOneRow": true}

// lends reports whether a function of a database client is such a one.
func lends(function string) bool {
	pkg, name := Split(function)
	return lenders[bare(Enclosing(function))] ||
		strings.HasPrefix(name, "(*QueuedQuery).") || // of a batch of pgx
		strings.HasPrefix(name, "exec") && strings.HasSuffix(pkg, "/sqlitex")
}

// lentTo returns the part of a stack inside the function of the service's that a database client calls with what it lends, and all of
// the stack if there is none: what such a function computes or waits for is its own, and no part of the client.
func (x *Index) lentTo(stack []code.Frame) []code.Frame {
	for i, f := range stack {
		if i > 0 && lends(f.Function) && x.Role(f.Function).Has(DBClient) && x.Innermost(stack[:i]) >= 0 {
			return stack[:i]
		}
	}
	return stack
}
