// Package pool shows a program's database connection pools to redline: how many
// connections are in use, how many there may be, and how often and how long the
// program waited for one.
//
//	remove := pool.DB("orders", db)            // *sql.DB
//	remove := pool.Pgx("orders", pgxPool.Stat) // *pgxpool.Pool
//
// The figures go into the probe's shared memory with every sample; redline shows
// them as series pool.* with the label pool. Importing the package starts the
// probe as package auto does: without redline nothing happens, and the pools are
// never read.
//
// A reading costs what the pool's own statistics cost, once per window: a lock of
// the pool and, with pgxpool, a walk over its connections and an allocation.
// At most 16 pools are shown; those that come later, and those that have an
// empty name, are not. Nothing here ever fails or logs.
//
// pgxpool is known only by the methods of its statistics, so that a program that
// does not use it does not link it.
package pool

import (
	"database/sql"
	"time"

	_ "github.com/redline-go/redline/probe/auto" // a program that shows its pools needs the probe
	"github.com/redline-go/redline/probe/slots"
)

// DB shows a pool of database/sql under a name, until the returned function is
// called. Its waits are the acquisitions that had to wait, and its wait time is
// theirs.
func DB(name string, db interface{ Stats() sql.DBStats }) (remove func()) {
	return show(name, func(f *slots.Figures) {
		s := db.Stats()
		f.InUse, f.Idle, f.Most = float64(s.InUse), float64(s.Idle), float64(s.MaxOpenConnections)
		f.Waits, f.WaitTime = float64(s.WaitCount), float64(s.WaitDuration)
		f.Closed = float64(s.MaxIdleClosed + s.MaxIdleTimeClosed + s.MaxLifetimeClosed)
	})
}

// Stat is what *pgxpool.Stat has.
type Stat interface {
	AcquireCount() int64
	AcquireDuration() time.Duration
	AcquiredConns() int32
	EmptyAcquireCount() int64
	IdleConns() int32
	MaxConns() int32
}

// closer is what later versions of *pgxpool.Stat add.
type closer interface {
	MaxIdleDestroyCount() int64
	MaxLifetimeDestroyCount() int64
}

// Pgx shows a pool of pgxpool under a name, until the returned function is
// called; stat is its method Stat. Its waits are the acquisitions that found no
// idle connection. Its wait time is that of all acquisitions: no other is reported
// by all versions of pgxpool, and one that finds a connection takes next to none.
func Pgx[S Stat](name string, stat func() S) (remove func()) {
	return show(name, func(f *slots.Figures) {
		s := stat()
		f.InUse, f.Idle, f.Most = float64(s.AcquiredConns()), float64(s.IdleConns()), float64(s.MaxConns())
		f.Acquires, f.Waits, f.WaitTime = float64(s.AcquireCount()), float64(s.EmptyAcquireCount()), float64(s.AcquireDuration())
		if c, ok := any(s).(closer); ok {
			f.Closed = float64(c.MaxIdleDestroyCount() + c.MaxLifetimeDestroyCount())
		}
	})
}

func show(name string, read func(*slots.Figures)) (remove func()) {
	slot, turn := slots.Add(name, read)
	return func() { slots.Remove(slot, turn) }
}
