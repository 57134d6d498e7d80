// Package standings knows how boats stand.
package standings

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
)

// Boat takes part.
type Boat struct {
	Sail    int    `json:"sail"`
	Name    string `json:"name"`
	Class   string `json:"class"`
	Points  int    `json:"points"`
	Seconds int    `json:"seconds"`
	Races   int    `json:"races"`
}

// Card is a boat with its place and its neighbours.
type Card struct {
	Boat  Boat   `json:"boat"`
	Place int    `json:"place"`
	Ahead []Boat `json:"ahead"`
}

// Table is the standing of all boats.
type Table struct {
	mu    sync.RWMutex
	boats map[int]*Boat
	keep  bool
	order []Boat // with keep: the order since the last finish
}

// NewTable makes a table of n boats. With keep, it keeps their order.
func NewTable(n int, keep bool) *Table {
	t := &Table{boats: make(map[int]*Boat, n), keep: keep}
	for i := range n {
		t.boats[i] = &Boat{
			Sail: i, Name: fmt.Sprintf("%s %d", []string{"Gannet", "Tern", "Petrel", "Skua"}[i%4], i),
			Class: []string{"laser", "finn", "470"}[i%3], Points: i * 7919 % 640, Seconds: 3600 + i*104729%4000, Races: 4,
		}
	}
	return t
}

// before orders boats: more points first, then less time, then the lower sail number.
func before(a, b Boat) int {
	return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Sail, b.Sail))
}

func (t *Table) snapshot() []Boat {
	t.mu.RLock()
	defer t.mu.RUnlock()
	list := make([]Boat, 0, len(t.boats))
	for _, b := range t.boats {
		list = append(list, *b)
	}
	return list
}

// ranking returns all boats in order.
func (t *Table) ranking() []Boat {
	if t.keep {
		t.mu.RLock()
		order := t.order
		t.mu.RUnlock()
		if order != nil {
			return order
		}
	}
	list := t.snapshot()
	slices.SortFunc(list, before)
	if t.keep {
		t.mu.Lock()
		t.order = list
		t.mu.Unlock()
	}
	return list
}

func (t *Table) class(name string) []Boat {
	var list []Boat
	for _, b := range t.ranking() {
		if b.Class == name {
			list = append(list, b)
		}
	}
	return list
}

// Card returns a boat's card: its place within its class and the boats just ahead.
func (t *Table) Card(sail int) (Card, bool) {
	t.mu.RLock()
	boat, ok := t.boats[sail]
	if !ok {
		t.mu.RUnlock()
		return Card{}, false
	}
	c := Card{Boat: *boat}
	t.mu.RUnlock()
	rivals := t.class(c.Boat.Class)
	at := slices.IndexFunc(rivals, func(b Boat) bool { return b.Sail == sail })
	c.Place = at + 1
	c.Ahead = rivals[max(0, at-3):max(0, at)]
	return c, true
}

// Podium returns the first n boats of a class.
func (t *Table) Podium(class string, n int) []Boat {
	list := t.class(class)
	return list[:min(n, len(list))]
}

// Finish counts a boat's finish of a race.
func (t *Table) Finish(sail, race, seconds int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, ok := t.boats[sail]
	if !ok || race < 1 || seconds <= 0 {
		return false
	}
	b.Races++
	b.Seconds += seconds
	b.Points += max(1, 100-seconds/60)
	t.order = nil
	return true
}
