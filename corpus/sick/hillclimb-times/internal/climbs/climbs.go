// Package climbs has the best times of all riders.
package climbs

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

// Ride is the best ride of a rider on a climb.
type Ride struct {
	Rider  int
	Name   string
	Millis int64
}

// Standing is the place of a rider with those around it.
type Standing struct {
	Place  int
	Of     int
	Mine   Ride
	Around []Ride
}

type climb struct {
	mu    sync.RWMutex
	rides []Ride
	best  map[int]int64
}

// Climbs has all climbs.
type Climbs struct {
	all     []*climb
	ordered bool
}

// Option changes how the climbs are kept.
type Option func(*Climbs)

// Ordered keeps the rides in order.
func Ordered() Option { return func(c *Climbs) { c.ordered = true } }

func faster(a, b Ride) int {
	return cmp.Or(cmp.Compare(a.Millis, b.Millis), cmp.Compare(a.Name, b.Name))
}

// New returns n climbs with so many riders each.
func New(n, riders int, opts ...Option) *Climbs {
	c := &Climbs{all: make([]*climb, n)}
	for _, o := range opts {
		o(c)
	}
	rng := rand.New(rand.NewPCG(7, 11))
	for i := range c.all {
		k := &climb{rides: make([]Ride, riders), best: make(map[int]int64, riders)}
		for r := range k.rides {
			k.rides[r] = Ride{r, fmt.Sprintf("rider-%05d", r), 600_000 + rng.Int64N(900_000)}
			k.best[r] = k.rides[r].Millis
		}
		if c.ordered {
			slices.SortFunc(k.rides, faster)
		}
		c.all[i] = k
	}
	return c
}

// Standing returns where a rider stands on a climb.
func (c *Climbs) Standing(id, rider int) (Standing, bool) {
	if id < 0 || id >= len(c.all) {
		return Standing{}, false
	}
	k := c.all[id]
	k.mu.RLock()
	defer k.mu.RUnlock()
	best, ok := k.best[rider]
	if !ok {
		return Standing{}, false
	}
	mine := Ride{rider, fmt.Sprintf("rider-%05d", rider), best}
	table := k.rides
	if !c.ordered {
		table = slices.Clone(k.rides)
		slices.SortFunc(table, faster)
	}
	at, _ := slices.BinarySearchFunc(table, mine, faster)
	from, to := max(0, at-3), min(len(table), at+4)
	return Standing{Place: at + 1, Of: len(table), Mine: mine, Around: slices.Clone(table[from:to])}, true
}

// Improve notes a better ride.
func (c *Climbs) Improve(id, rider int, millis int64) bool {
	if id < 0 || id >= len(c.all) {
		return false
	}
	k := c.all[id]
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.best[rider]; !ok || old <= millis {
		return false
	}
	at := slices.IndexFunc(k.rides, func(r Ride) bool { return r.Rider == rider })
	ride := k.rides[at]
	ride.Millis = millis
	k.best[rider] = millis
	if !c.ordered {
		k.rides[at] = ride
		return true
	}
	k.rides = slices.Delete(k.rides, at, at+1)
	to, _ := slices.BinarySearchFunc(k.rides, ride, faster)
	k.rides = slices.Insert(k.rides, to, ride)
	return true
}
