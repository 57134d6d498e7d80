package database

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record"
)

// blocked says who holds the locks that sessions wait for.
type blocked struct {
	statement string  // of the holder, the last one where it is idle
	state     string  // of the holder
	victim    string  // the statement that waits
	idle      float64 // part of the chains whose holder is idle in transaction, 0 to 1
	seen      int64   // readings that met the leading holder
}

// blockers sums the chains of waiting sessions (pg_blocking_pids, PostgreSQL
// manual, System Information Functions) by their head, the session that itself
// waits for no other: it is the one to fix, whichever sessions are between. ok is false
// when no chain was seen.
func blockers(p *diagnose.Pass) (b blocked, ok bool) {
	all := p.Statements()
	if all == nil {
		return b, false
	}
	heads, victims := map[record.BlockingLink]int64{}, map[string]int64{}
	var total, idle int64
	for _, chain := range all.Blocking {
		// A chain of one has lost its waiter between two reads of the server's views.
		if len(chain.Links) < 2 {
			continue
		}
		head, last := chain.Links[0], chain.Links[len(chain.Links)-1]
		// What identifies a head; times differ.
		key := record.BlockingLink{Text: textOf(all, head.QueryID, head.Text), State: head.State}
		heads[key] += chain.Seen
		total += chain.Seen
		if head.State == "idle in transaction" {
			idle += chain.Seen
		}
		if n := heads[key]; n > b.seen {
			b.seen, b.statement, b.state = n, key.Text, key.State
		}
		// The far end of the chain rather than its second link: what most sessions
		// end up waiting in is the contended write.
		victim := textOf(all, last.QueryID, last.Text)
		victims[victim] += chain.Seen
		if victims[victim] >= victims[b.victim] {
			b.victim = victim
		}
	}
	if total == 0 {
		return b, false
	}
	b.idle = float64(idle) / float64(total)
	return b, true
}
