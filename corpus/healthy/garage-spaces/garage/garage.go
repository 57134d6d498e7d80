// Package garage asks the gates of garages, and remembers their answers for a moment.
package garage

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Spaces is what is free.
type Spaces struct {
	Garage string `json:"garage"`
	State  string `json:"state"`
	Free   int    `json:"free"`
}

// Gate is a client of the gates.
type Gate struct {
	base string
	http *http.Client
}

// NewGate makes a client.
func NewGate(base string) *Gate {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	return &Gate{base, &http.Client{Transport: t, Timeout: time.Second}}
}

// Ask asks a gate, again when it does not answer.
func (g *Gate) Ask(ctx context.Context, id string) (s Spaces, err error) {
	for try := range 3 {
		if try > 0 {
			time.Sleep(time.Duration(try) * 50 * time.Millisecond)
		}
		if s, err = g.once(ctx, id); err == nil || ctx.Err() != nil {
			break
		}
	}
	return s, err
}

func (g *Gate) once(ctx context.Context, id string) (Spaces, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, g.base+"/gates/"+id, nil)
	if err != nil {
		return Spaces{}, err
	}
	resp, err := g.http.Do(req)
	if err != nil {
		return Spaces{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Spaces{}, fmt.Errorf("gate: %s", resp.Status)
	}
	var doc struct{ State, Note string }
	err = json.NewDecoder(resp.Body).Decode(&doc)
	return Spaces{id, doc.State, len(doc.Note)}, err
}

type entry struct {
	s  Spaces
	at time.Time
}

// Finder finds spaces.
type Finder struct {
	gate   *Gate
	ttl    time.Duration
	flight singleflight.Group
	mu     sync.Mutex
	seen   map[string]entry
}

// NewFinder makes a Finder.
func NewFinder(g *Gate, ttl time.Duration) *Finder {
	return &Finder{gate: g, ttl: ttl, seen: map[string]entry{}}
}

// Spaces returns what a garage has.
func (f *Finder) Spaces(ctx context.Context, id string) (Spaces, error) {
	f.mu.Lock()
	e, ok := f.seen[id]
	f.mu.Unlock()
	if ok && time.Since(e.at) < f.ttl {
		return e.s, nil
	}
	v, err, _ := f.flight.Do(id, func() (any, error) {
		s, err := f.gate.Ask(context.WithoutCancel(ctx), id)
		if err == nil {
			f.mu.Lock()
			f.seen[id] = entry{s, time.Now()}
			f.mu.Unlock()
		}
		return s, err
	})
	if err != nil {
		return Spaces{}, err
	}
	return v.(Spaces), nil
}
