// Package sessions reads what the sessions of a database's server were seen to do: which of them wait for whose locks, and in which
// statements. It makes no findings.
package sessions

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record/database"
)

// Blocked says who holds the locks that sessions wait for.
type Blocked struct {
	Statement string  // of the holder, the last one where it is idle
	State     string  // of the holder
	Victim    string  // the statement that waits
	Idle      float64 // the part of chains with a holder idle in transaction, 0 to 1
	Seen      int64   // readings that found the leading holder
	Part      float64 // the part of chains with the leading holder, 0 to 1
}

// Blockers sums the chains of waiting sessions (pg_blocking_pids, PostgreSQL
// manual, System Information Functions) by their head, the session that itself
// waits for no other: it is the one to fix, whichever sessions are between. ok is false
// when no chain was seen.
func Blockers(p *diagnose.Pass) (b Blocked, ok bool) {
	all := p.Statements()
	if all == nil {
		return b, false
	}
	heads, victims := map[database.BlockingLink]int64{}, map[string]int64{}
	var total, idle int64
	for _, chain := range all.Blocking {
		// A chain of one lost its waiter between two reads of the server's views.
		if len(chain.Links) < 2 {
			continue
		}
		head, last := chain.Links[0], chain.Links[len(chain.Links)-1]
		// Text and state identify a head; times differ.
		key := database.BlockingLink{Text: TextOf(all, head.QueryID, head.Text), State: head.State}
		heads[key] += chain.Seen
		total += chain.Seen
		if head.State == "idle in transaction" {
			idle += chain.Seen
		}
		if n := heads[key]; n > b.Seen {
			b.Seen, b.Statement, b.State = n, key.Text, key.State
		}
		// The far end of the chain rather than its second link: most sessions end
		// up waiting there, in the contended write.
		victim := TextOf(all, last.QueryID, last.Text)
		victims[victim] += chain.Seen
		if victims[victim] >= victims[b.Victim] {
			b.Victim = victim
		}
	}
	if total == 0 {
		return b, false
	}
	b.Idle, b.Part = float64(idle)/float64(total), float64(b.Seen)/float64(total)
	return b, true
}

// TextOf returns a statement's text from the server's statistics, which have no
// constants, or else the session's own.
func TextOf(all *database.Statements, id, text string) string {
	for _, s := range all.Statements {
		if id != "" && s.QueryID == id {
			return s.Text
		}
	}
	return text
}
