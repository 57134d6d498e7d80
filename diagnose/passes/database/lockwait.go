package database

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

const (
	// leastBlocked backends that wait for another, on average: half of one is a
	// session that waits all the time, every other moment.
	leastBlocked = 0.5
	// leastBlockedShare of the active backends.
	leastBlockedShare = 0.25
)

// LockWait finds sessions that wait for each other's row and table locks.
var LockWait = diagnose.Analyzer{
	Name:  "lock-wait",
	Stage: diagnose.Database,
	Doc: "Compares the mean number of backends that wait for another backend (or in a wait event of class Lock) with " +
		"0.5, and with 25 % of the active backends; both must be passed.",
	Causes: []diagnose.Cause{{
		ID:     "db-lock-wait",
		Title:  "Sessions wait for row or table locks",
		Doc:    "Transactions update the same rows, and later ones wait until earlier ones end.",
		Remedy: "Shorter transactions, no other I/O inside them, locks in one order, hot rows split or updated last.",
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad, diagnose.NeedStatements},
	Run:   runLockWait,
}

func runLockWait(p *diagnose.Pass) ([]diagnose.Finding, error) {
	isLock := func(labels string) bool {
		event := record.Label(labels, "event")
		return event == "Lock" || strings.HasPrefix(event, "Lock:")
	}
	waiting, okWaits := label(p, record.DBWaits, isLock)
	blocked, okBlocked := p.Mean(record.DBBlocked, "")
	if !okWaits && !okBlocked {
		if observed(p) == 0 {
			p.Unjudged("db-lock-wait", "the database's sessions were not observed")
		}
		return nil, nil
	}
	blocked = max(blocked, waiting)
	active, ok := label(p, record.DBBackends, func(l string) bool { return record.Label(l, "state") == "active" })
	if !ok || active < blocked {
		active = blocked
	}
	share, source, ok := requestShare(p)
	if !ok || blocked < leastBlocked || blocked < leastBlockedShare*active {
		return nil, nil
	}
	part := blocked / active
	if share*part < leastRequestShare {
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "db-lock-wait", Share: share * part, ShareOf: diagnose.OfRequest, Confidence: record.High,
		GainCeiling: max(p.WaitGain(share*part), diagnose.MinGain),
		Title:       fmt.Sprintf("Database sessions wait for each other's locks: %s of request time", diagnose.Percent(share*part)),
		Evidence: []record.Evidence{
			diagnose.Fact(diagnose.FromPostgres, blocked, diagnose.Ratio, "%.1f of %.1f active sessions wait for another session's lock, on average", blocked, active),
			diagnose.Fact(source, share, diagnose.Ratio, "the database takes %s of request time", diagnose.Percent(share)),
		},
		Remedy: "End the transaction right after the contended write, do that write last, and split hot rows (counters per shard).",
	}
	if at, ok := caller(p); ok {
		f.Where = diagnose.WhereOf(at)
	}
	if s, ok := locker(p); ok {
		f.Where.SQL = s.Text
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, float64(s.Time)/float64(s.Calls), diagnose.Nanosec, "the locking statement takes %s per call: %s", diagnose.Span(float64(s.Time)/float64(s.Calls)), brief(s.Text)))
		f.Remedy = fmt.Sprintf("End the transaction right after, or do last, the write that others wait for (%s), and split hot rows.", brief(s.Text))
	}
	if queue := p.Waits().Share(callstack.PoolWait); queue >= leastPoolShare {
		f.Title += fmt.Sprintf("; requests queue for a connection (%s of their time) because of it", diagnose.Percent(queue))
	}
	return []diagnose.Finding{f}, nil
}

// locker returns the statement with most time among those that take row locks.
func locker(p *diagnose.Pass) (record.Statement, bool) {
	for _, s := range p.Statements().Statements {
		text := strings.ToUpper(s.Text)
		for _, verb := range []string{"UPDATE", "DELETE", "INSERT", "LOCK", "MERGE"} {
			if s.Calls > 0 && (strings.HasPrefix(strings.TrimSpace(text), verb) || strings.Contains(text, "FOR UPDATE") || strings.Contains(text, "FOR NO KEY UPDATE")) {
				return s, true
			}
		}
	}
	return record.Statement{}, false
}
