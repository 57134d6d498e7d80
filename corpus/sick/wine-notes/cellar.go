package main

import "sync"

// Note is what one taster says of a wine.
type Note struct {
	Wine   int    `json:"wine"`
	Taster string `json:"taster"`
	Text   string `json:"text"`
	Points int    `json:"points"`
	Rev    int    `json:"rev"`
}

// Cellar keeps one note for each wine and taster.
type Cellar interface {
	Upsert(Note) (stored Note, created bool)
}

// Shelf is a Cellar in the order of arrival.
type Shelf struct {
	mu    sync.Mutex
	notes []*Note
}

func NewShelf() *Shelf { return &Shelf{} }

func (s *Shelf) snapshot() []*Note {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.notes
}

func (s *Shelf) find(n Note) *Note {
	for _, have := range s.snapshot() {
		if have.Wine == n.Wine && have.Taster == n.Taster {
			return have
		}
	}
	return nil
}

func (s *Shelf) Upsert(n Note) (Note, bool) {
	if have := s.find(n); have != nil {
		n.Rev = have.Rev + 1
		return n, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, &n)
	return n, true
}

type place struct {
	wine   int
	taster string
}

// Rack is a Cellar by place.
type Rack struct {
	mu    sync.Mutex
	notes map[place]*Note
}

func NewRack() *Rack { return &Rack{notes: map[place]*Note{}} }

func (r *Rack) Upsert(n Note) (Note, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := place{n.Wine, n.Taster}
	if have, ok := r.notes[k]; ok {
		n.Rev = have.Rev + 1
		return n, false
	}
	r.notes[k] = &n
	return n, true
}
