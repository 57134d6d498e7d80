// Package plan holds planograms: fixtures, their shelves, and what faces the customer.
package plan

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
)

// ErrNotFound says that a store has no such plan.
var ErrNotFound = errors.New("plan: not found")

// Facing is one article on a shelf.
type Facing struct {
	SKU    string            `json:"sku"`
	Slot   int               `json:"slot"`
	Width  float64           `json:"width"`
	Depth  int               `json:"depth"`
	Labels map[string]string `json:"labels,omitempty"`
}

// Shelf is a row of facings.
type Shelf struct {
	Height  int      `json:"height"`
	Facings []Facing `json:"facings"`
}

// Fixture is a piece of furniture.
type Fixture struct {
	Name    string  `json:"name"`
	Shelves []Shelf `json:"shelves"`
}

// Repository finds the plans.
type Repository interface {
	Reference() []Fixture
	Store(id int) ([]Fixture, error)
}

var skuPattern = regexp.MustCompile(`^SKU-\d{6}$`)

// Memory keeps the plans in memory.
type Memory struct {
	mu     sync.RWMutex
	ref    []Fixture
	stores map[int][]Fixture
}

// NewMemory draws the plans of n stores.
func NewMemory(n int) *Memory {
	m := &Memory{ref: draw(0), stores: map[int][]Fixture{}}
	for i := 1; i <= n; i++ {
		m.stores[i] = draw(i)
	}
	return m
}

func draw(store int) []Fixture {
	var fs []Fixture
	for f := range 12 {
		fix := Fixture{Name: fmt.Sprintf("gondola-%02d", f)}
		for s := range 5 {
			sh := Shelf{Height: 40 + 30*s}
			for k := range 10 {
				fc := Facing{SKU: fmt.Sprintf("SKU-%06d", f*1000+s*100+k), Slot: k, Width: 8.5 + float64(k)/4, Depth: 3}
				if k%5 == 0 {
					fc.Labels = map[string]string{"promo": "week-48", "tone": "red"}
				}
				if store > 0 && (f+store)%7 == 0 && s == 4 && k == 9 {
					fc.Depth = 2
				}
				if !skuPattern.MatchString(fc.SKU) {
					panic(fc.SKU)
				}
				sh.Facings = append(sh.Facings, fc)
			}
			fix.Shelves = append(fix.Shelves, sh)
		}
		fs = append(fs, fix)
	}
	return fs
}

// Reference returns what head office drew.
func (m *Memory) Reference() []Fixture {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.ref
}

// Store returns what a store built.
func (m *Memory) Store(id int) ([]Fixture, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	p, ok := m.stores[id]
	if !ok {
		return nil, ErrNotFound
	}
	return p, nil
}
