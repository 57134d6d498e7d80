// Package ledger holds which crane is leased to whom. All of it belongs to one
// goroutine; others hand it orders.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/redline-go/redline/corpus/sick/crane-lease/internal/customs"
)

var (
	// ErrTaken says that the crane is leased for that hour.
	ErrTaken = errors.New("crane is taken")
	// ErrHeld says that customs hold the vessel.
	ErrHeld = errors.New("vessel is held by customs")
	// ErrStopped is returned once the ledger has ended.
	ErrStopped = errors.New("ledger has stopped")
)

// Clearer says whether a vessel may unload.
type Clearer interface {
	Clear(ctx context.Context, vessel string) (customs.Clearance, error)
}

// Lease is a crane for an hour.
type Lease struct {
	Crane  int    `json:"crane"`
	Hour   int    `json:"hour"`
	Vessel string `json:"vessel"`
	Tonnes int    `json:"tonnes"`
	Fee    int64  `json:"fee_cents"`
}

type slot struct{ crane, hour int }

type order struct {
	ctx   context.Context
	apply func(*books) error
	err   error
	done  chan struct{}
}

type books struct {
	leases map[slot]Lease
	byHour map[int]int
	turned int
}

// Ledger takes orders.
type Ledger struct {
	orders  chan *order
	stopped chan struct{}
	clear   Clearer
	early   bool
}

// Open starts a ledger that ends with ctx. With early, vessels are cleared by
// whoever asks for the lease.
func Open(ctx context.Context, c Clearer, early bool) *Ledger {
	l := &Ledger{orders: make(chan *order, 16), stopped: make(chan struct{}), clear: c, early: early}
	go l.keep(ctx)
	return l
}

func (l *Ledger) keep(ctx context.Context) {
	defer close(l.stopped)
	b := &books{leases: map[slot]Lease{}, byHour: map[int]int{}}
	for {
		select {
		case <-ctx.Done():
			return
		case o := <-l.orders:
			if o.err = o.ctx.Err(); o.err == nil {
				o.err = o.apply(b)
			}
			close(o.done)
		}
	}
}

func (l *Ledger) submit(ctx context.Context, apply func(*books) error) error {
	o := &order{ctx: ctx, apply: apply, done: make(chan struct{})}
	select {
	case l.orders <- o:
	case <-l.stopped:
		return ErrStopped
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-o.done:
		return o.err
	case <-l.stopped:
		return ErrStopped
	}
}

func (l *Ledger) cleared(ctx context.Context, vessel string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := l.clear.Clear(ctx, vessel)
	if err != nil {
		return fmt.Errorf("vessel %s: %w", vessel, err)
	}
	if c.State != "ok" {
		return ErrHeld
	}
	return nil
}

// Lease books a crane.
func (l *Ledger) Lease(ctx context.Context, want Lease) (Lease, error) {
	if l.early {
		if err := l.cleared(ctx, want.Vessel); err != nil {
			return Lease{}, err
		}
	}
	err := l.submit(ctx, func(b *books) error {
		at := slot{want.Crane, want.Hour}
		if have, ok := b.leases[at]; ok && have.Vessel != want.Vessel {
			b.turned++
			return ErrTaken
		}
		if !l.early {
			if err := l.cleared(ctx, want.Vessel); err != nil {
				return err
			}
		}
		want.Fee = fee(want)
		b.leases[at] = want
		b.byHour[want.Hour]++
		return nil
	})
	return want, err
}

// Hours lists the hours for which leases exist.
func (l *Ledger) Hours(ctx context.Context) ([]int, error) {
	var hours []int
	err := l.submit(ctx, func(b *books) error {
		hours = slices.Sorted(maps.Keys(b.byHour))
		return nil
	})
	return hours, err
}

func fee(l Lease) int64 {
	f := int64(48_000 + 35*l.Tonnes)
	if h := l.Hour % 24; h < 6 || h > 20 {
		f = f * 13 / 10
	}
	return f
}
