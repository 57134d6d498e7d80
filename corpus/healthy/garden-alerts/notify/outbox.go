// Package notify takes alerts and writes them into a diary.
package notify

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// ErrFull is returned while too many alerts wait.
var ErrFull = errors.New("notify: too many alerts wait")

// Alert is a gardener's wish to be warned.
type Alert struct {
	Number   uint64  `json:"number"`
	Gardener string  `json:"gardener"`
	Valley   int     `json:"valley"`
	Below    float64 `json:"below"`
}

// Outbox hands alerts to one writer. An alert that was accepted may be lost with
// the machine within the flush interval, which its senders know.
type Outbox struct {
	diary  *Diary
	every  time.Duration
	log    *zap.Logger
	number atomic.Uint64

	mu     sync.RWMutex
	closed bool
	alerts chan Alert
	done   chan error
}

// NewOutbox starts the writer, which flushes at an interval.
func NewOutbox(d *Diary, every time.Duration, log *zap.Logger) *Outbox {
	o := &Outbox{diary: d, every: every, log: log, alerts: make(chan Alert, 64), done: make(chan error, 1)}
	go func() { o.done <- o.write() }()
	return o
}

// Add takes an alert and returns its number.
func (o *Outbox) Add(ctx context.Context, a Alert) (uint64, error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.closed {
		return 0, ErrFull
	}
	a.Number = o.number.Add(1)
	select {
	case o.alerts <- a:
		return a.Number, nil
	case <-ctx.Done():
		return 0, ErrFull
	}
}

// Close writes what waits and closes the diary.
func (o *Outbox) Close() error {
	o.mu.Lock()
	if !o.closed {
		o.closed = true
		close(o.alerts)
	}
	o.mu.Unlock()
	return <-o.done
}

func (o *Outbox) write() error {
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	for {
		select {
		case a, more := <-o.alerts:
			if !more {
				return o.diary.Close()
			}
			if err := o.diary.Write(a); err != nil {
				o.log.Warn("diary", zap.Uint64("number", a.Number), zap.Error(err))
			}
		case <-tick.C:
			go func() {
				if err := o.diary.Flush(); err != nil {
					o.log.Warn("flush", zap.Error(err))
				}
			}()
		}
	}
}
