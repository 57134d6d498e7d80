// Package tolls calculates tolls.
package tolls

import (
	"errors"
	"math"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/redline-go/redline/corpus/sick/canal-tolls/internal/canals"
)

// ErrNoWay says that a boat cannot get there.
var ErrNoWay = errors.New("no way")

// Boat is a boat.
type Boat struct {
	Name   string
	Beam   float64
	Length float64
}

// Class is what the toll of a boat depends on.
func (b *Boat) Class() int { return min(3, int(b.Length/6)) + 4*int(math.Ceil(b.Beam)) }

// Trip is a trip of a boat.
type Trip struct {
	From, To int
	Boat     *Boat
}

// Plain is a trip of any boat of a class.
type Plain struct{ From, To, Class int }

// Toll is what a trip costs.
type Toll struct {
	Basins []int   `json:"basins"`
	Hours  float64 `json:"hours"`
	Cents  int     `json:"cents"`
}

// Calculator calculates tolls.
type Calculator interface {
	Toll(t Trip) (Toll, error)
}

// Router looks for the best way.
type Router struct{ Canals canals.Network }

// Toll implements Calculator.
func (r Router) Toll(t Trip) (Toll, error) {
	if max(t.From, t.To) >= len(r.Canals) || min(t.From, t.To) < 0 {
		return Toll{}, ErrNoWay
	}
	class := t.Boat.Class()
	basins, hours, ok := r.Canals.Route(t.From, t.To, math.Ceil(t.Boat.Beam), func(c canals.Reach) float64 {
		return c.Km/6 + float64(c.Locks)*0.4
	})
	if !ok {
		return Toll{}, ErrNoWay
	}
	return Toll{basins, hours, 250*len(basins) + 100*(class%4)}, nil
}

type cached[K comparable] struct {
	next  Calculator
	tolls *lru.Cache[K, Toll]
	key   func(Trip) K
}

// Cached remembers the last n tolls.
func Cached[K comparable](next Calculator, n int, key func(Trip) K) (Calculator, error) {
	tolls, err := lru.New[K, Toll](n)
	if err != nil {
		return nil, err
	}
	return &cached[K]{next, tolls, key}, nil
}

// Toll implements Calculator.
func (c *cached[K]) Toll(t Trip) (Toll, error) {
	k := c.key(t)
	if toll, ok := c.tolls.Get(k); ok {
		return toll, nil
	}
	toll, err := c.next.Toll(t)
	if err == nil {
		c.tolls.Add(k, toll)
	}
	return toll, err
}
