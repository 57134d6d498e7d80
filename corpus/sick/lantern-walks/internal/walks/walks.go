// Package walks is the office that sells walks.
package walks

import (
	"context"
	"errors"
	"log/slog"
	"sync"
)

// ErrFull says that a walk has no place left.
var ErrFull = errors.New("full")

// Guides knows who leads a walk.
type Guides interface {
	Guide(ctx context.Context, walk int) (string, error)
}

// Ticket is a place of a walk.
type Ticket struct {
	Walk  int    `json:"walk"`
	No    int    `json:"no"`
	Guide string `json:"guide"`
	Name  string `json:"name"`
}

type result[T any] struct {
	value T
	err   error
}

type order struct {
	ctx   context.Context
	walk  int
	name  string
	reply chan result[Ticket]
}

// Config says how an office works.
type Config struct {
	Desks  int
	Places int
	Log    *slog.Logger
}

// Office sells tickets at its desks.
type Office struct {
	orders chan order
	guides Guides
	log    *slog.Logger

	mu     sync.Mutex
	sold   map[int]int
	places int
}

// Open opens an office until ctx ends.
func Open(ctx context.Context, g Guides, c Config) *Office {
	if c.Places == 0 {
		c.Places = 1 << 30
	}
	o := &Office{orders: make(chan order), guides: g, log: c.Log, sold: map[int]int{}, places: c.Places}
	for range max(1, c.Desks) {
		go o.desk(ctx)
	}
	return o
}

func (o *Office) desk(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case ord := <-o.orders:
			t, err := o.sell(ord)
			ord.reply <- result[Ticket]{t, err}
		}
	}
}

func (o *Office) sell(ord order) (Ticket, error) {
	guide, err := o.guides.Guide(ord.ctx, ord.walk)
	if err != nil {
		o.log.Warn("guide", "walk", ord.walk, "err", err)
		return Ticket{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sold[ord.walk] >= o.places {
		return Ticket{}, ErrFull
	}
	o.sold[ord.walk]++
	return Ticket{ord.walk, o.sold[ord.walk], guide, ord.name}, nil
}

// Buy buys a ticket.
func (o *Office) Buy(ctx context.Context, walk int, name string) (Ticket, error) {
	ord := order{ctx, walk, name, make(chan result[Ticket], 1)}
	select {
	case o.orders <- ord:
	case <-ctx.Done():
		return Ticket{}, ctx.Err()
	}
	select {
	case r := <-ord.reply:
		return r.value, r.err
	case <-ctx.Done():
		return Ticket{}, ctx.Err()
	}
}
