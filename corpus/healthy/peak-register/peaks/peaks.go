// Package peaks is a summit book: mountains and the ascents that climbers note.
package peaks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrUnknown is returned for a summit that is not in the book.
var ErrUnknown = errors.New("peaks: unknown summit")

// Ascent is an entry of a climber.
type Ascent struct {
	Climber string    `json:"climber"`
	Route   string    `json:"route"`
	At      time.Time `json:"at"`
}

// Peak is a summit with its latest ascents.
type Peak struct {
	ID     int      `json:"id"`
	Name   string   `json:"name"`
	Metres int      `json:"metres"`
	Lat    float64  `json:"lat"`
	Lon    float64  `json:"lon"`
	Routes []string `json:"routes"`
	Latest []Ascent `json:"latest"`
	total  int
}

// Standing is a place in the ranking of summits by ascents.
type Standing struct {
	Name  string `json:"name"`
	Total int    `json:"total"`
}

const kept = 6

// Book is all summits behind one lock.
type Book struct {
	mu    sync.Mutex
	peaks map[int]*Peak
	order []int
	ranks []Standing
}

// NewBook makes a book.
func NewBook(all []Peak) *Book {
	b := &Book{peaks: make(map[int]*Peak, len(all))}
	for _, p := range all {
		b.peaks[p.ID] = &p
		b.order = append(b.order, p.ID)
	}
	return b
}

// Note adds an ascent.
func (b *Book) Note(id int, a Ascent) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.peaks[id]
	if !ok {
		return ErrUnknown
	}
	p.total++
	p.Latest = append(p.Latest[:len(p.Latest):len(p.Latest)], a)
	if len(p.Latest) > kept {
		p.Latest = p.Latest[1:]
	}
	return nil
}

// Find returns a summit.
func (b *Book) Find(id int) (Peak, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.peaks[id]
	if !ok {
		return Peak{}, ErrUnknown
	}
	return *p, nil
}

// Above returns all summits from a height on.
func (b *Book) Above(metres int) []Peak {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []Peak
	for _, id := range b.order {
		if p := b.peaks[id]; p.Metres >= metres {
			found = append(found, *p)
		}
	}
	return found
}

// Ranks returns the summits that are climbed most.
func (b *Book) Ranks() []Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ranks
}

// Rank renews the ranking at an interval until ctx ends.
func (b *Book) Rank(ctx context.Context, every time.Duration) {
	for ctx.Err() == nil {
		time.Sleep(every)
		b.mu.Lock()
		ranks := make([]Standing, 0, len(b.peaks))
		for _, p := range b.peaks {
			ranks = append(ranks, Standing{p.Name, p.total})
		}
		b.mu.Unlock()
		slices.SortFunc(ranks, func(x, y Standing) int { return y.Total - x.Total })
		b.mu.Lock()
		b.ranks = ranks[:min(10, len(ranks))]
		b.mu.Unlock()
	}
}

// Range makes a range of n summits.
func Range(n int) []Peak {
	kinds := []string{"Piz", "Monte", "Corno", "Cima", "Pizzo"}
	names := []string{"Alva", "Brun", "Cotschen", "Duan", "Ela", "Forun", "Grisch"}
	all := make([]Peak, 0, n)
	for i := 1; i <= n; i++ {
		all = append(all, Peak{
			ID: i, Name: fmt.Sprintf("%s %s %d", kinds[i%len(kinds)], names[i%len(names)], i),
			Metres: 1900 + i*37%1900, Lat: 46.3 + float64(i%50)/100, Lon: 9.4 + float64(i%70)/100,
			Routes: []string{"north ridge", "south face", fmt.Sprintf("couloir %d", i%9)},
		})
	}
	return all
}
