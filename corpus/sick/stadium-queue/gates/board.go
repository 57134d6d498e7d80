// Package gates knows how long people wait at the gates of a stadium.
package gates

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/patrickmn/go-cache"
	"golang.org/x/sync/singleflight"
)

// Gate is a gate and how long one waits there.
type Gate struct {
	Name    string  `json:"name"`
	Minutes float64 `json:"minutes"`
	Open    bool    `json:"open"`
}

// Board shows gates.
type Board struct {
	kept     *cache.Cache
	turns    turnstiles
	together bool
	flight   singleflight.Group
}

// Option changes how a board works.
type Option func(*Board)

// Together lets callers who miss the same census wait for one that is under way.
func Together() Option { return func(b *Board) { b.together = true } }

// NewBoard makes a board that counts again when a census is older than fresh.
func NewBoard(base string, fresh time.Duration, opts ...Option) *Board {
	b := &Board{kept: cache.New(fresh, time.Minute), turns: newTurnstiles(base)}
	for _, o := range opts {
		o(b)
	}
	return b
}

// Stand returns the gates of a stand, the fastest first.
func (b *Board) Stand(ctx context.Context, stand string) ([]Gate, error) {
	c, err := b.census(ctx)
	if err != nil {
		return nil, fmt.Errorf("census: %w", err)
	}
	var list []Gate
	for i, people := range c {
		name := fmt.Sprintf("%s%d", stand, i+1)
		list = append(list, Gate{name, float64(people) / 11, people < 900})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Minutes < list[j].Minutes })
	return list, nil
}

const key = "census"

// census is how many people stand at each gate.
func (b *Board) census(ctx context.Context) ([]int, error) {
	if v, ok := b.kept.Get(key); ok {
		return v.([]int), nil
	}
	if !b.together {
		return b.recount(ctx)
	}
	v, err, _ := b.flight.Do(key, func() (any, error) { return b.recount(context.WithoutCancel(ctx)) })
	if err != nil {
		return nil, err
	}
	return v.([]int), nil
}

func (b *Board) recount(ctx context.Context) ([]int, error) {
	c, err := b.turns.count(ctx)
	if err != nil {
		return nil, err
	}
	b.kept.SetDefault(key, c)
	return c, nil
}
