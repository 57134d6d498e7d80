// Package plays counts plays.
package plays

import (
	"hash/fnv"
	"sync"
)

// Play is a listener who heard an episode.
type Play struct {
	Episode  string `json:"episode"`
	Listener string `json:"listener"`
	Seconds  int    `json:"seconds"`
}

// Shelf remembers who heard what.
type Shelf interface {
	// Seen notes a play, and says whether it had been noted before.
	Seen(p Play) bool
}

// List is a Shelf.
type List struct{ plays []Play }

// Seen implements Shelf.
func (l *List) Seen(p Play) bool {
	for i := range l.plays {
		if l.plays[i].Listener == p.Listener && l.plays[i].Episode == p.Episode {
			return true
		}
	}
	l.plays = append(l.plays, p)
	return false
}

type key struct{ episode, listener string }

// Set is a Shelf.
type Set struct{ plays map[key]int }

// NewSet makes a Set.
func NewSet() *Set { return &Set{map[key]int{}} }

// Seen implements Shelf.
func (s *Set) Seen(p Play) bool {
	k := key{p.Episode, p.Listener}
	if _, ok := s.plays[k]; ok {
		return true
	}
	s.plays[k] = p.Seconds
	return false
}

type shard struct {
	mu    sync.Mutex
	shelf Shelf
	count map[string]int
}

// Counter counts plays.
type Counter struct{ shards [16]shard }

// NewCounter makes a Counter.
func NewCounter(shelf func() Shelf) *Counter {
	c := &Counter{}
	for i := range c.shards {
		c.shards[i].shelf, c.shards[i].count = shelf(), map[string]int{}
	}
	return c
}

// Add counts a play, and says whether it is the listener's first of the episode.
func (c *Counter) Add(p Play) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(p.Episode))
	s := &c.shards[h.Sum32()%uint32(len(c.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shelf.Seen(p) {
		return false
	}
	s.count[p.Episode]++
	return true
}
