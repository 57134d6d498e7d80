package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record/database"
	form "github.com/redline-go/redline/record/statement"
)

const (
	// maxAsked is the number of sessions whose blockers are queried at once, and
	// maxRounds how often in a row: each call stops the lock manager for a moment.
	maxAsked  = 8
	maxRounds = 3
	// maxChains bounds the different chains that are kept.
	maxChains = 64
	// maxQuery bounds the text that is read of a session, in characters.
	maxQuery = 4096
)

const blockingSQL = `SELECT /* redline */ b.pid, pg_blocking_pids(b.pid) FROM unnest($1::int[]) b(pid)`

// involvedSQL reads the sessions of chains; query_id came with version 14.
func involvedSQL(version int) string {
	id := "query_id"
	if version < 140000 {
		id = "NULL::bigint"
	}
	return `SELECT /* redline */ pid, coalesce(state, ''), coalesce(application_name, ''),
	CASE WHEN wait_event_type = 'Lock' THEN 'Lock:' || wait_event ELSE '' END,
	coalesce(extract(epoch FROM clock_timestamp() - xact_start), 0)::float8,
	coalesce(extract(epoch FROM clock_timestamp() - CASE WHEN state = 'active' THEN query_start ELSE state_change END), 0)::float8,
	left(coalesce(query, ''), ` + strconv.Itoa(maxQuery) + `), ` + id + ` FROM pg_stat_activity WHERE pid = ANY($1::int[])`
}

// blockers queries who blocks the given sessions, and who blocks those in turn,
// until the heads of the chains are found or maxRounds is reached. It returns who
// waits for whom, one blocker per session, and the details of all involved.
func (s *session) blockers(ctx context.Context, blocked []int32) (by map[int32]int32, involved map[int32]database.BlockingLink, err error) {
	by = map[int32]int32{}
	met, waits := map[int32]bool{}, map[int32]bool{}
	for _, pid := range blocked {
		waits[pid] = true
	}
	ask := blocked[:min(len(blocked), maxAsked)]
	for round := 0; round == 0 || (round < maxRounds && len(ask) > 0); round++ {
		var next []int32
		err := s.Ask(ctx, server.Query{SQL: blockingSQL, Args: []any{ask}, Read: func(rows pgx.Rows) error {
			var pid int32
			var blockers []int32
			_, err := pgx.ForEachRow(rows, []any{&pid, &blockers}, func() error {
				if len(blockers) == 0 {
					return nil // it got its lock meanwhile
				}
				head := firstHolder(blockers, waits)
				by[pid], met[pid], met[head] = head, true, true
				if _, asked := by[head]; !asked && waits[head] && !slices.Contains(ask, head) && !slices.Contains(next, head) {
					next = append(next, head)
				}
				return nil
			})
			return err
		}})
		if err != nil {
			return nil, nil, err
		}
		ask = next[:min(len(next), maxAsked)]
	}
	pids := []int32{}
	for pid := range met {
		pids = append(pids, pid)
	}
	involved, err = s.involved(ctx, pids)
	return by, involved, err
}

// firstHolder prefers a blocker that does not wait itself: of the sessions ahead in
// a queue, that one is to blame.
func firstHolder(blockers []int32, waits map[int32]bool) int32 {
	for _, pid := range blockers {
		if !waits[pid] {
			return pid
		}
	}
	return blockers[0]
}

// involved returns the sessions of a chain with their last statements. pg_stat_activity
// cuts these at track_activity_query_size.
func (s *session) involved(ctx context.Context, pids []int32) (map[int32]database.BlockingLink, error) {
	var found map[int32]database.BlockingLink
	err := s.Ask(ctx, server.Query{SQL: involvedSQL(s.Version), Args: []any{pids}, Read: func(rows pgx.Rows) (err error) {
		found, err = readInvolved(rows)
		return err
	}})
	return found, err
}

// readInvolved reads the rows of involved. Texts go through blockingText before they are
// kept.
func readInvolved(rows pgx.Rows) (map[int32]database.BlockingLink, error) {
	found := map[int32]database.BlockingLink{}
	for rows.Next() {
		var pid int32
		var link database.BlockingLink
		var held, running float64 // s
		var id *int64
		if err := rows.Scan(&pid, &link.State, &link.Application, &link.Wait, &held, &running, &link.Text, &id); err != nil {
			return nil, err
		}
		if id != nil && *id != 0 {
			link.QueryID = strconv.FormatInt(*id, 10)
		}
		link.Text = blockingText(link.Text)
		link.Transaction, link.Statement = server.Seconds(held), server.Seconds(running)
		found[pid] = link
	}
	return found, rows.Err()
}

// blockingText is the part of a session's text, which holds constants, that may be
// kept: utility statements are cut as in statements, others are kept without constants.
func blockingText(text string) string {
	if cut := kept(text); strings.HasSuffix(cut, strings.TrimSpace(notKept)) {
		return cut
	}
	return form.Normal(text)
}

// chains keeps the chains of blocked sessions that were seen.
type chains struct {
	kept    map[string]*database.Blocking
	dropped bool
}

// add takes one result of blockers, at a run time: one chain per session that waits
// and for which no other waits.
func (c *chains) add(at time.Duration, by map[int32]int32, involved map[int32]database.BlockingLink) {
	awaited := map[int32]bool{}
	for _, head := range by {
		awaited[head] = true
	}
	seen := map[string]bool{}
	for pid := range by {
		if awaited[pid] && !inCycle(pid, by) {
			continue
		}
		c.met(at, links(pid, by, involved), seen)
	}
}

// links walks from a waiting session to the head of its chain and returns the
// sessions head first. A deadlock, which the server is about to end, is cut.
func links(pid int32, by map[int32]int32, involved map[int32]database.BlockingLink) []database.BlockingLink {
	var chain []database.BlockingLink
	walked := map[int32]bool{}
	for {
		link, known := involved[pid]
		if !known {
			link = database.BlockingLink{State: "gone"}
			if pid == 0 { // so pg_blocking_pids reports two-phase commit
				link.State = "prepared transaction"
			}
		}
		chain = append(chain, link)
		walked[pid] = true
		next, waits := by[pid]
		if !waits || walked[next] {
			slices.Reverse(chain)
			return chain
		}
		pid = next
	}
}

// inCycle reports whether a session waits for itself: a deadlock that the server has not
// broken yet, whose chain has no head.
func inCycle(pid int32, by map[int32]int32) bool {
	at := pid
	for range len(by) {
		next, waits := by[at]
		if !waits {
			return false
		}
		if at = next; at == pid {
			return true
		}
	}
	return false
}

// met counts a chain once per reading, however many sessions wait in it.
func (c *chains) met(at time.Duration, chain []database.BlockingLink, seen map[string]bool) {
	var key strings.Builder
	for _, l := range chain {
		fmt.Fprintf(&key, "%q%q%q%q", l.Application, l.State, l.Wait, l.Text)
	}
	k := key.String()
	kept := c.kept[k]
	if kept == nil {
		if len(c.kept) >= maxChains {
			c.dropped = true
			return
		}
		if c.kept == nil {
			c.kept = map[string]*database.Blocking{}
		}
		kept = &database.Blocking{Links: chain, First: at}
		c.kept[k] = kept
	}
	if !seen[k] {
		kept.Seen, kept.Last, seen[k] = kept.Seen+1, at, true
	}
	for i, l := range chain {
		kept.Links[i].Transaction = max(kept.Links[i].Transaction, l.Transaction)
		kept.Links[i].Statement = max(kept.Links[i].Statement, l.Statement)
	}
}

// all returns the chains, longest wait of their last session first.
func (c *chains) all() []database.Blocking {
	var all []database.Blocking
	for _, b := range c.kept {
		all = append(all, *b)
	}
	wait := func(b database.Blocking) time.Duration { return b.Links[len(b.Links)-1].Statement }
	slices.SortFunc(all, func(a, b database.Blocking) int {
		return cmp.Or(cmp.Compare(wait(b), wait(a)), cmp.Compare(a.First, b.First), cmp.Compare(a.Links[0].Text, b.Links[0].Text))
	})
	return all
}
