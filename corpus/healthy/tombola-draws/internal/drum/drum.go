// Package drum draws tickets. A few drums turn at the same time; whoever comes later waits.
package drum

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Hall has drums.
type Hall struct {
	mu   sync.Mutex
	free *sync.Cond
	idle int
}

// New makes a hall of n drums.
func New(n int) *Hall {
	h := &Hall{idle: n}
	h.free = sync.NewCond(&h.mu)
	return h
}

func (h *Hall) take() {
	h.mu.Lock()
	for h.idle == 0 {
		h.free.Wait()
	}
	h.idle--
	h.mu.Unlock()
}

func (h *Hall) put() {
	h.mu.Lock()
	h.idle++
	h.mu.Unlock()
	h.free.Signal()
}

// Prize is a prize and its winning tickets.
type Prize struct {
	Name    string
	Tickets []int
}

func seed(name string) uint64 {
	f := fnv.New64a()
	_, _ = f.Write([]byte(name))
	return f.Sum64()
}

func draw(name string, tickets, n int) Prize {
	r := rand.New(rand.NewPCG(seed(name), uint64(tickets)))
	p := Prize{Name: name}
	for len(p.Tickets) < n {
		if t := 1 + r.IntN(tickets); !slices.Contains(p.Tickets, t) {
			p.Tickets = append(p.Tickets, t)
		}
	}
	slices.Sort(p.Tickets)
	return p
}

// Draw draws three prizes together.
func (h *Hall) Draw(ctx context.Context, tombola string, tickets int) ([]Prize, error) {
	h.take()
	defer h.put()
	names := []string{"ham", "bicycle", "teapot"}
	out := make([]Prize, len(names))
	g, ctx := errgroup.WithContext(ctx)
	for i, name := range names {
		g.Go(func() error {
			out[i] = draw(tombola+"/"+name, tickets, 12)
			out[i].Name = name
			return ctx.Err()
		})
	}
	return out, g.Wait()
}
