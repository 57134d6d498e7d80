// Package rates keeps the prices of the market for a moment.
package rates

import (
	"context"
	"sync"
	"time"
)

// Pricer knows prices.
type Pricer interface {
	Price(ctx context.Context, stone string) (float64, error)
}

type rate struct {
	price float64
	until time.Time
}

// Book has the rates of all stones.
type Book struct {
	mu     sync.Mutex
	rates  map[string]rate
	asked  int
	market Pricer
	ttl    time.Duration
}

// NewBook makes a book whose rates are good for ttl.
func NewBook(p Pricer, ttl time.Duration) *Book {
	return &Book{rates: make(map[string]rate), market: p, ttl: ttl}
}

// Rate returns the rate of a stone.
func (b *Book) Rate(ctx context.Context, stone string) (float64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if r, ok := b.rates[stone]; ok && now.Before(r.until) {
		return r.price, nil
	}
	price, err := b.market.Price(ctx, stone)
	if err != nil {
		return 0, err
	}
	b.asked++
	b.rates[stone] = rate{price, now.Add(b.ttl)}
	return price, nil
}

// Shelf has a place for each stone.
type Shelf struct {
	places sync.Map
	market Pricer
	ttl    time.Duration
}

type place struct {
	mu sync.Mutex
	rate
}

// NewShelf makes a shelf whose rates are good for ttl.
func NewShelf(p Pricer, ttl time.Duration) *Shelf { return &Shelf{market: p, ttl: ttl} }

// Rate returns the rate of a stone.
func (s *Shelf) Rate(ctx context.Context, stone string) (float64, error) {
	v, ok := s.places.Load(stone)
	if !ok {
		v, _ = s.places.LoadOrStore(stone, new(place))
	}
	p := v.(*place)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.until) {
		return p.price, nil
	}
	price, err := s.market.Price(ctx, stone)
	if err == nil {
		p.rate = rate{price, now.Add(s.ttl)}
	}
	return price, err
}
