package storage

import (
	"database/sql"
	"testing"
	"time"

	"github.com/redline-go/redline/lab/micro"
)

// limits are those of a pool of database/sql, as its setters take them.
type limits struct {
	open, idle int
	lifetime   time.Duration
}

var (
	// defaults open as many connections as there are callers, and keep two.
	defaults = limits{idle: 2}
	// claimed are the report's.
	claimed = limits{open: 200, idle: 50, lifetime: 30 * time.Minute}
)

func (l limits) apply(db *sql.DB) {
	db.SetMaxOpenConns(l.open)
	db.SetMaxIdleConns(l.idle)
	db.SetConnMaxLifetime(l.lifetime)
}

const (
	// callers of a burst: fewer than claimed.idle, so that a kept connection is one for each.
	callers = 32
	inTurn  = 4
)

// BenchmarkKeptConnections has callers read four accounts each, in bursts: through a pool
// that keeps two connections, or one of the claimed limits.
func BenchmarkKeptConnections(b *testing.B) {
	readThrough(b, micro.Of(defaults, claimed), callers)
}

// The sweep: pools of these sizes, or one with a connection for every caller.
func BenchmarkPoolOf1(b *testing.B)  { poolOf(b, 1) }
func BenchmarkPoolOf2(b *testing.B)  { poolOf(b, 2) }
func BenchmarkPoolOf4(b *testing.B)  { poolOf(b, 4) }
func BenchmarkPoolOf8(b *testing.B)  { poolOf(b, 8) }
func BenchmarkPoolOf16(b *testing.B) { poolOf(b, 16) }

// crowd is as many callers as the sweep has.
const crowd = 64

func poolOf(b *testing.B, size int) {
	size = micro.Of(size, crowd)
	readThrough(b, limits{open: size, idle: size}, crowd)
}

func readThrough(b *testing.B, l limits, callers int) {
	db := standard(b, accounts(b))
	l.apply(db)
	fill(b, db, l)
	read := standardReader(db)
	for b.Loop() {
		if err := burst(b.Context(), callers, inTurn, read); err != nil {
			b.Fatal(err)
		}
	}
}

// fill opens the connections that a pool keeps, each of which reads once: a process of the server
// that has seen neither the table nor the statement takes several times as long.
func fill(tb testing.TB, db *sql.DB, l limits) {
	must(tb, hold(l.idle, func() (func(), error) {
		c, err := db.Conn(tb.Context())
		if err != nil {
			return nil, err
		}
		var cents int64
		err = c.QueryRowContext(tb.Context(), readAccount, 0).Scan(&cents)
		return func() { _ = c.Close() }, err
	}))
}

// TestPoolsAnswerAlike: each pool gives every caller its accounts.
func TestPoolsAnswerAlike(t *testing.T) {
	dsn := accounts(t)
	for name, l := range map[string]limits{"defaults": defaults, "claimed": claimed, "one": {open: 1, idle: 1}} {
		db := standard(t, dsn)
		l.apply(db)
		if err := burst(t.Context(), callers, inTurn, standardReader(db)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDefaultPoolChurns: of eight connections that are given back at once, the default keeps
// two and closes six, which the next burst opens again.
func TestDefaultPoolChurns(t *testing.T) {
	dsn := accounts(t)
	const atOnce = 8
	for name, c := range map[string]struct {
		limits
		closed int64
		open   int
	}{
		"defaults": {defaults, atOnce - 2, 2},
		"claimed":  {claimed, 0, atOnce},
	} {
		db := standard(t, dsn)
		c.apply(db)
		fill(t, db, limits{idle: atOnce})
		if s := db.Stats(); s.MaxIdleClosed != c.closed || s.OpenConnections != c.open {
			t.Errorf("%s: %d closed, %d open; want %d and %d", name, s.MaxIdleClosed, s.OpenConnections, c.closed, c.open)
		}
	}
}
