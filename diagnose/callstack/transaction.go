package callstack

import "github.com/redline-go/redline/record/code"

// lenders are functions of database clients that call a function of the service's with a transaction, a session or a connection,
// by the last part of their names: pgx' BeginFunc, go-pg's RunInTransaction, mongo's WithTransaction.
var lenders = map[string]bool{"BeginFunc": true, "BeginTxFunc": true, "beginFuncExec": true, "AcquireFunc": true,
	"RunInTransaction": true, "WithTransaction": true, "UseSession": true, "UseSessionWithOptions": true}

// lentTo returns the part of a stack inside the function of the service's that a database client calls with what it lends, and all of
// the stack if there is none: what such a function computes or waits for is its own, and no part of the client.
func (x *Index) lentTo(stack []code.Frame) []code.Frame {
	for i, f := range stack {
		if i > 0 && lenders[bare(Enclosing(f.Function))] && x.Role(f.Function).Has(DBClient) && x.Innermost(stack[:i]) >= 0 {
			return stack[:i]
		}
	}
	return stack
}
