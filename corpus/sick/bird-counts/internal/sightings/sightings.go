// Package sightings holds how often birds were seen, by species and square.
package sightings

import (
	"fmt"
	"sync"
)

// Squares is how many squares the land is cut into.
const Squares = 240

// Book counts sightings.
type Book struct {
	mu     sync.RWMutex
	names  []string
	counts [][]float32
	marked map[int]struct{}
}

// NewBook makes a book of n species with the counts of last year.
func NewBook(n int) *Book {
	b := &Book{counts: make([][]float32, n), marked: map[int]struct{}{}}
	for i := range b.counts {
		b.names = append(b.names, fmt.Sprintf("species-%03d", i))
		b.counts[i] = make([]float32, Squares)
		for k := range b.counts[i] {
			b.counts[i][k] = float32((i*i*31 + k*17 + i*k*k) % 53)
		}
		b.marked[i] = struct{}{}
	}
	return b
}

// Len is how many species there are.
func (b *Book) Len() int { return len(b.names) }

// Name is the name of a species.
func (b *Book) Name(i int) string { return b.names[i] }

// Add counts birds of species i in a square.
func (b *Book) Add(i, square, n int) float32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts[i][square] += float32(n)
	b.marked[i] = struct{}{}
	return b.counts[i][square]
}

// Row copies the counts of species i to dst.
func (b *Book) Row(i int, dst []float32) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	copy(dst, b.counts[i])
}

// Marked returns the species that were counted since it was last called.
func (b *Book) Marked() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]int, 0, len(b.marked))
	for i := range b.marked {
		list = append(list, i)
	}
	clear(b.marked)
	return list
}
