package database

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/passes/database/asker"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/diagnose/passes/database/sessions"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/statement"
)

const (
	// leastBlocked is the mean number of backends that wait for another: 0.5 is one
	// session that waits half of the time.
	leastBlocked = 0.5
	// leastBlockedShare is their part of the active backends.
	leastBlockedShare = 0.25
)

// LockWait finds sessions that wait for each other's row and table locks
// (PostgreSQL manual, Explicit Locking).
//
// Sessions are sampled, so the rule compares means, not events: blocked sessions
// over active ones is the part of the database's time that is lock wait, and the
// database's part of request time turns it into a share of the request. It runs
// before slow-query, because pg_stat_statements counts lock waits as execution time
// of the victim's statement.
var LockWait = diagnose.Analyzer{
	Name:  "lock-wait",
	Stage: diagnose.Database,
	Doc: "Compares the mean number of backends that wait for another backend (or in a wait event of class Lock) with 0.5, " +
		"and with 25 % of the active backends; both must be reached.",
	Causes: []diagnose.Cause{lockWaitCause},
	Needs:  []diagnose.Need{diagnose.NeedLoad, diagnose.NeedStatements},
	Run:    runLockWait,
}

// runLockWait promises MinGain at least: blocked sessions are waste even where
// other waits bound the gain. One session holds a lock at a time, as one goroutine
// holds a mutex, and its transaction ends the wait: CPUs that other programs keep
// busy do not bound the gain, those that the load itself fills do.
func runLockWait(p *diagnose.Pass) ([]diagnose.Finding, error) {
	l, ok := lockWait(p)
	if !ok {
		if demand.Observed(p) == 0 {
			p.Unjudged("db-lock-wait", "the database's sessions were not observed")
		}
		return nil, nil
	}
	f := diagnose.Finding{
		Cause: "db-lock-wait", Share: l.share, ShareOf: diagnose.OfRequest, Confidence: findings.High,
		GainCeiling: diagnose.MinGain,
		Title:       fmt.Sprintf("Database sessions wait for each other's locks for %s of request time", diagnose.Percent(l.share)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromPostgres, l.blocked, diagnose.Count, "%s of %s active sessions "+
				"wait for another session's lock, on average", diagnose.Times(l.blocked), diagnose.Times(l.active)),
			diagnose.Fact(l.source, l.database, diagnose.Ratio, "the database takes %s of request time", diagnose.Percent(l.database)),
		},
		Remedy: "Do the contended write last, end the transaction right after it, and split hot rows (counters per shard).",
	}
	diagnose.Promise(&f, p.Elsewhere(l.share))
	l.name(p, &f)
	if at, ok := waiter(p, f.Where.SQL); ok {
		at.Describe(&f)
		f.Confidence = findings.High // that they wait is seen, whoever runs the statement
	}
	return []diagnose.Finding{f}, nil
}

// waiter returns the user's place that runs the statement which waits for a lock.
func waiter(p *diagnose.Pass, text string) (at asker.By, ok bool) {
	for _, s := range p.Statements().Statements {
		if s.Text == text {
			return asker.Of(p, s)
		}
	}
	if a, known := p.AskedAs(text); known && text != "" {
		if by, ok := a.Heaviest(); ok && by.User {
			return asker.By{Place: by.Place}, true
		}
	}
	place, ok := asker.Longest(p)
	return asker.By{Place: place, Inferred: len(asker.Spots(p)) > 1, Loosely: true}, ok
}

// locked is how much requests wait for locks.
type locked struct {
	share           float64 // of request time
	blocked, active float64 // sessions
	database        float64 // share of request time that the database takes
	source          string  // of it
}

// lockWait measures waits for locks; ok is false if they do not matter or were not
// observed. The larger of two counts is taken: wait events and pg_blocking_pids are
// read one after the other, and a lock may be granted in between.
func lockWait(p *diagnose.Pass) (l locked, ok bool) {
	isLock := func(labels string) bool {
		event := series.Label(labels, "event")
		return event == "Lock" || strings.HasPrefix(event, "Lock:")
	}
	waiting, okWaits := demand.Label(p, series.DBWaits, isLock)
	blocked, okBlocked := p.Mean(series.DBBlocked, "")
	if !okWaits && !okBlocked {
		return l, false
	}
	l.blocked = max(blocked, waiting)
	active, ok := demand.Label(p, series.DBBackends, func(l string) bool { return series.Label(l, "state") == "active" })
	if l.active = active; !ok || active < l.blocked {
		l.active = l.blocked
	}
	if l.database, l.source, ok = demand.RequestShare(p); !ok || l.blocked < leastBlocked || l.blocked < leastBlockedShare*l.active {
		return l, false
	}
	l.share = l.database * l.blocked / l.active
	return l, l.share >= demand.LeastRequestShare
}

// name adds who holds the lock and who waits. If no chain of sessions was seen, it
// names the statement with the most time that takes row locks, because sessions
// that run the same statement block each other.
func (l locked) name(p *diagnose.Pass, f *diagnose.Finding) {
	b, met := sessions.Blockers(p)
	if met {
		l.chain(b, f)
	} else if s, ok := locker(p); ok {
		each := float64(s.Time) / float64(s.Calls)
		f.Where.SQL = s.Text
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, each, diagnose.Nanosec,
			"the locking statement takes %s per call: %s", diagnose.Span(each), statement.Brief(s.Text)))
		f.Remedy = fmt.Sprintf("Do the write that other sessions wait for (%s) last, end the transaction right after it, and "+
			"split hot rows or update them less often.", statement.Brief(s.Text))
	}
	if queue := p.Waits().Share(callstack.PoolWait); queue >= demand.LeastPoolShare {
		f.Title += fmt.Sprintf("; requests queue for a connection (%s of their time) because of it", diagnose.Percent(queue))
	}
}

// chain adds the leading chain of sessions that wait for each other. What holds a lock has no statement if it is a prepared transaction,
// which belongs to no session.
func (l locked) chain(b sessions.Blocked, f *diagnose.Finding) {
	victim, holder := statement.Brief(b.Victim), statement.Brief(b.Statement)
	f.Where.SQL = b.Victim
	waiting := diagnose.Fact(diagnose.FromPostgres, l.blocked, diagnose.Count, "the waiting sessions run: %s", victim)
	const behind = "Database sessions wait for each other's locks for %s of request time, behind: %s"
	if holder == "" {
		f.Evidence = append(f.Evidence, waiting)
		if b.State == "prepared transaction" {
			f.Title = fmt.Sprintf(behind, diagnose.Percent(l.share), "a prepared transaction")
			f.Remedy = "Commit or roll back the prepared transaction (pg_prepared_xacts): it keeps its locks until then."
		}
		return
	}
	same := statement.Normal(b.Victim) == statement.Normal(b.Statement)
	if !same {
		f.Where.Detail = "held by: " + b.Statement
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, float64(b.Seen), "readings",
		"the session that holds the lock is %s in: %s", b.State, holder), waiting)
	f.Title = fmt.Sprintf(behind, diagnose.Percent(l.share), holder)
	if same {
		f.Remedy = "Sessions that run the same statement wait for each other's rows: update rows that many requests share less often " +
			"(collect changes and write once per interval, or skip what is recent), or split them."
		return
	}
	meanwhile := "While the transaction holds the lock, it runs: " + holder + "."
	if f.Remedy = fmt.Sprintf("Do the write that other sessions wait for (%s) last, and end the transaction right after it. %s "+
		"Split rows that all requests update, or update them less often.", victim, meanwhile); strings.Contains(victim, "advisory_") {
		f.Remedy = fmt.Sprintf("Hold the advisory lock (%s) for a shorter time, or take one of a finer key. %s", victim, meanwhile)
	}
}

// locker returns the statement with the most time among those that take row locks.
func locker(p *diagnose.Pass) (database.Statement, bool) {
	for _, s := range p.Statements().Statements {
		text := strings.ToUpper(s.Text)
		for _, verb := range []string{"UPDATE", "DELETE", "INSERT", "LOCK", "MERGE"} {
			if s.Calls > 0 && (strings.HasPrefix(strings.TrimSpace(text), verb) ||
				strings.Contains(text, "FOR UPDATE") || strings.Contains(text, "FOR NO KEY UPDATE")) {
				return s, true
			}
		}
	}
	return database.Statement{}, false
}
