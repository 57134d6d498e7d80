package demand

import (
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/statement"
)

// LookUpNS is about what a server takes for a statement that reads one row by an index, in ns, most of it for the call itself: no index
// makes one faster.
const LookUpNS = 30e3

// ExecutedUnread estimates a part of what a server executes that did not count it, 0 to 1: some returns which part of each statement's
// calls belongs to it. On saturated CPUs each call waits for one on both sides, however little it executes: of isucari's 98 look-ups and
// one scan the former had 47 % of the time, and removing them gained 1.2x. So the mean of the fastest statement is that wait, but for
// what a call takes among as many as share the CPUs.
func ExecutedUnread(p *diagnose.Pass, all *database.Statements, some func(database.Statement) float64) float64 {
	mean := func(s database.Statement) float64 { return float64(s.Time) / float64(max(1, s.Calls)) }
	fastest := math.Inf(1)
	for _, s := range all.Statements {
		if s.Calls > 0 && !statement.Utility(s.Text) {
			fastest = min(fastest, mean(s))
		}
	}
	inDatabase := p.Load().Rate * p.Waits().NS(callstack.DatabaseWait, callstack.PrepareWait) / 1e9 // Little's law
	call := min(fastest, LookUpNS*max(1, inDatabase/max(1, p.CPU().CPUs)))
	var part, sum float64
	for _, s := range all.Statements {
		takes := (max(0, mean(s)-fastest) + call) * float64(s.Calls)
		sum, part = sum+takes, part+takes*some(s)
	}
	return part / max(1, sum)
}
