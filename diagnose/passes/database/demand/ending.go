package demand

import (
	"slices"
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/operation"
)

// Ending returns how long the mean request is seen to wait while its transactions commit or roll back, in ns. In a process's own
// database that is the wait for the disk.
func Ending(p *diagnose.Pass) (ns float64) {
	return within(p, "(*Tx).Commit", "(*Tx).Rollback", "(*Tx).rollback")
}

// Beginning returns how long the mean request is seen to wait while its transactions begin, in ns.
func Beginning(p *diagnose.Pass) (ns float64) { return within(p, "(*DB).beginDC") }

// within returns how long the mean request waits in some functions of database/sql, in ns.
func within(p *diagnose.Pass, names ...string) (ns float64) {
	if !p.Has(diagnose.NeedAnatomy) {
		return 0
	}
	for _, part := range p.Anatomy.All {
		if part.State == breakdown.StateRunning || part.State == breakdown.StateRunnable {
			continue
		}
		if slices.ContainsFunc(part.Stack, func(f code.Frame) bool {
			pkg, name := callstack.Split(f.Function)
			return pkg == "database/sql" && slices.Contains(names, name)
		}) {
			ns += float64(part.NS)
		}
	}
	return ns
}

// WithCommits adds the commits to statements that the hooks counted in a database within the process: a server counts them
// as statements. ns is the mean request's time in them.
func WithCommits(p *diagnose.Pass, all *database.Statements) (with *database.Statements, ns float64) {
	ns = Ending(p)
	if ops := p.Operations(); ops != nil && ns > 0 && InProcess(p) {
		var calls int64
		for _, o := range ops.Operations {
			if o.Kind == operation.Transaction {
				calls += o.Calls
			}
		}
		with = &database.Statements{Statements: append(slices.Clone(all.Statements),
			database.Statement{Text: "COMMIT", Calls: calls, Time: time.Duration(ns * Requests(p))})}
		return with, ns
	}
	return all, 0
}
