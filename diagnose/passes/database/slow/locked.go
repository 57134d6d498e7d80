package slow

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/record/database"
)

// mostHolders is the part of the chains of waiting sessions from which one statement is what their heads run.
const mostHolders = 0.5

// holder returns the statement that sessions run while others wait for their locks, and the one that waits; ok is false where sessions do
// not wait for locks, or where the holders run what waits as well, or nothing.
func holder(p *diagnose.Pass) (b demand.Blocked, ok bool) {
	if len(p.Findings("lock-wait")) == 0 {
		return b, false
	}
	b, ok = demand.Blockers(p)
	return b, ok && b.State == "active" && b.Statement != b.Victim && b.Part >= mostHolders
}

// lockWaiter returns the statement whose time is the wait for another one's locks, with its part of all execution time: the server counts
// that wait as execution. The part is 0 without one.
func lockWaiter(p *diagnose.Pass, all *database.Statements) (text string, part float64) {
	b, ok := holder(p)
	if !ok {
		return "", 0
	}
	for _, s := range all.Statements {
		if s.Text == b.Victim {
			part += evidence.StatementShare(all, s)
		}
	}
	return b.Victim, min(part, 0.99)
}

// heldDuring returns the part of request time, 0 to 1, in which sessions wait for locks of one that runs a wasteful statement: they get
// them sooner if it takes less.
func heldDuring(p *diagnose.Pass, c cost, text string) float64 {
	if b, ok := holder(p); !ok || !c.wasteful || b.Statement != text {
		return 0
	}
	return p.Findings("lock-wait")[0].Share
}

// whileLocked adds the wait for the locks to a finding. own is the part of request time that executing the statement takes, and saved the
// part of its work that its remedy spares.
func whileLocked(p *diagnose.Pass, f *diagnose.Finding, held, own, saved float64) {
	f.Title += "; other sessions wait for its transaction's locks meanwhile"
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, held, diagnose.Ratio,
		"requests spend %s of their time waiting for locks of a session that runs it", diagnose.Percent(held)))
	diagnose.Promise(f, p.Elsewhere(min(1, own+held)*saved))
	p.Reached("db-slow-query", nil) // it does not follow from the locks
	p.Cover(*f, p.Findings("lock-wait")[0].Where.Function)
}
