package postgres

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record/database"
)

const (
	// maxIdle bounds the idle sessions that are read, and maxIdleTexts the number
	// of different statements that are kept.
	maxIdle      = 500
	maxIdleTexts = 64
)

// idleSQL reads the last statements of a database's idle sessions.
func idleSQL(version int) string {
	id := "query_id"
	if version < 140000 { // pg_stat_activity has no query_id there
		id = "NULL::bigint"
	}
	// clock_timestamp() and not now(), which is the start of redline's own transaction. LIKE
	// also matches 'idle in transaction' and its '(aborted)'. Workers have rows too, so only
	// client backends count.
	return `SELECT /* redline */ coalesce(state, ''), coalesce(application_name, ''),
	coalesce(extract(epoch FROM clock_timestamp() - state_change), 0)::float8,
	coalesce(extract(epoch FROM clock_timestamp() - xact_start), 0)::float8,
	left(coalesce(query, ''), ` + strconv.Itoa(maxQuery) + `), ` + id + ` FROM pg_stat_activity
	WHERE datid = $1 AND state LIKE 'idle%' AND backend_type = 'client backend'
	AND application_name <> '` + server.Application + `' LIMIT ` + strconv.Itoa(maxIdle)
}

// readIdle queries the idle sessions, one entry each.
func (s *session) readIdle(ctx context.Context) (all []database.Idle, err error) {
	err = s.Ask(ctx, server.Query{SQL: idleSQL(s.Version), Args: []any{s.DB}, Read: func(rows pgx.Rows) (err error) {
		all, err = readIdle(rows)
		return err
	}})
	return all, err
}

// readIdle reads the rows of idle sessions.
func readIdle(rows pgx.Rows) (all []database.Idle, err error) {
	for rows.Next() {
		var one database.Idle
		var idle, open float64 // s
		var id *int64
		if err := rows.Scan(&one.State, &one.Application, &idle, &open, &one.Text, &id); err != nil {
			return nil, err
		}
		// Without compute_query_id it is NULL.
		if id != nil && *id != 0 {
			one.QueryID = strconv.FormatInt(*id, 10)
		}
		one.Text = blockingText(one.Text)
		one.Longest, one.Transaction = server.Seconds(idle), server.Seconds(open)
		all = append(all, one)
	}
	return all, rows.Err()
}

// idles keeps the last statements of idle sessions.
type idles struct {
	kept     map[idleKey]*database.Idle
	readings int64
}

// idleKey identifies idle sessions that count as the same.
type idleKey struct{ state, application, text string }

// add takes one reading, at a run time.
func (i *idles) add(at time.Duration, sessions []database.Idle) {
	i.readings++
	now := map[idleKey]int64{}
	for _, one := range sessions {
		key := idleKey{one.State, one.Application, one.Text}
		kept := i.kept[key]
		if kept == nil {
			if len(i.kept) >= maxIdleTexts {
				continue
			}
			if i.kept == nil {
				i.kept = map[idleKey]*database.Idle{}
			}
			one.First = at
			kept = &one
			i.kept[key] = kept
		}
		if now[key]++; now[key] == 1 {
			kept.Seen++
		}
		kept.Sessions++
		kept.Most, kept.Last = max(kept.Most, now[key]), at
		kept.Longest, kept.Transaction = max(kept.Longest, one.Longest), max(kept.Transaction, one.Transaction)
	}
	// Ordinary idle sessions come and go; leaked ones are still there at the end.
	for key, kept := range i.kept {
		kept.AtEnd = now[key]
	}
}

// all returns them, most sessions first.
func (i *idles) all() []database.Idle {
	var all []database.Idle
	for _, one := range i.kept {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b database.Idle) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.State, b.State), cmp.Compare(a.Text, b.Text),
			cmp.Compare(a.Application, b.Application))
	})
	return all
}
