// Package cellar keeps the reports of tanks.
package cellar

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"time"

	_ "modernc.org/sqlite"
)

// ErrFull says that the cellar cannot keep up.
var ErrFull = errors.New("queue is full")

// Report is what a sensor reports.
type Report struct {
	Tank    int     `json:"tank"`
	At      int64   `json:"at"`
	Celsius float64 `json:"celsius"`
	Gravity float64 `json:"gravity"`
}

// Config says how a cellar stores.
type Config struct {
	Queue int
	Every time.Duration
}

// Cellar has all tanks.
type Cellar struct {
	db    *sql.DB
	queue chan Report
	done  chan struct{}
	once  sync.Once

	mu   sync.RWMutex
	last map[int]Report
}

// Open opens a cellar.
func Open(ctx context.Context, path string, c Config) (*Cellar, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(2000)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `CREATE TABLE reports (tank INTEGER, at INTEGER, celsius REAL, gravity REAL)`); err != nil {
		db.Close()
		return nil, err
	}
	k := &Cellar{db: db, queue: make(chan Report, c.Queue), done: make(chan struct{}), last: map[int]Report{}}
	go k.store(c.Every)
	return k, nil
}

// Accept takes a report.
func (c *Cellar) Accept(r Report) error {
	select {
	case c.queue <- r:
	default:
		return ErrFull
	}
	c.mu.Lock()
	c.last[r.Tank] = r
	c.mu.Unlock()
	return nil
}

// Last returns the last report of a tank.
func (c *Cellar) Last(tank int) (Report, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	r, ok := c.last[tank]
	return r, ok
}

// Close stores what is left.
func (c *Cellar) Close() error {
	c.once.Do(func() { close(c.queue) })
	<-c.done
	return c.db.Close()
}

func (c *Cellar) store(every time.Duration) {
	defer close(c.done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	var batch []Report
	for open := true; open; {
		select {
		case r, ok := <-c.queue:
			if open = ok; ok {
				batch = append(batch, r)
			}
			if open && len(batch) < 500 {
				continue
			}
		case <-tick.C:
		}
		if err := c.insert(batch); err != nil {
			slog.Error("store", "reports", len(batch), "err", err)
		}
		batch = batch[:0]
	}
}

func (c *Cellar) insert(batch []Report) error {
	if len(batch) == 0 {
		return nil
	}
	tx, err := c.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	st, err := tx.Prepare(`INSERT INTO reports VALUES (?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	for _, r := range batch {
		if _, err := st.Exec(r.Tank, r.At, r.Celsius, r.Gravity); err != nil {
			return err
		}
	}
	return tx.Commit()
}
