package slow

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/passes/database/sessions"
	"github.com/redline-go/redline/record/database"
)

// mostHolders is the part of the chains of waiting sessions from which one statement is what their heads run.
const mostHolders = 0.5

// lockQueue is the sessions that wait for the locks of one that runs another statement in the meantime.
type lockQueue struct {
	sessions.Blocked
	share float64 // of request time, 0 to 1; 0 without such a queue
	place string  // of that finding
}

// queuedFor returns the queue that the finding of lock-wait names. There is none where the holders run what waits as well, or nothing.
func queuedFor(p *diagnose.Pass) (q lockQueue) {
	found := p.Findings("lock-wait")
	b, ok := sessions.Blockers(p)
	if len(found) == 0 || !ok || b.State != "active" || b.Statement == b.Victim || b.Part < mostHolders {
		return q
	}
	return lockQueue{b, found[0].Share, diagnose.PlaceOf(found[0])}
}

// waits reports whether a statement's time is the wait for those locks: the server counts that as execution.
func (q lockQueue) waits(text string) bool { return q.share > 0 && text == q.Victim }

// rest is the part of all execution time that is not a wait for those locks; more than 0.
func (q lockQueue) rest(all *database.Statements) float64 {
	rest := 1.0
	for _, s := range all.Statements {
		if q.waits(s.Text) {
			rest -= evidence.StatementShare(all, s)
		}
	}
	return max(rest, 0.01)
}

// behind returns the part of request time, 0 to 1, in which sessions wait for one that runs a wasteful statement: they get the locks sooner
// if it takes less.
func (q lockQueue) behind(c cost, text string) float64 {
	if !c.wasteful || text != q.Statement {
		return 0
	}
	return q.share
}

// add adds the wait for the locks to a finding. own is the part of request time that executing the statement takes, and saved the part of
// its work that its remedy spares.
func (q lockQueue) add(p *diagnose.Pass, f *diagnose.Finding, own, saved float64) {
	f.Title += "; other sessions wait for its transaction's locks"
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, q.share, diagnose.Ratio,
		"requests spend %s of their time waiting for locks of a session that runs it", diagnose.Percent(q.share)))
	diagnose.Promise(f, p.Elsewhere(min(1, own+q.share)*saved))
	p.Cover(*f, q.place)
}
