// Package shingles is a filter of comments that say the same thing again and again:
// it counts how many runs of three words are there more than once.
package shingles

import (
	"hash/fnv"
	"sync"

	"github.com/redline-go/redline/corpus/sick/comment-gate/filter"
)

const (
	run   = 3
	slots = 1 << 17
)

func init() {
	filter.Register("shingles", func(o filter.Options) (filter.Filter, error) {
		s := &shingles{fresh: newTable, done: func(*table) {}}
		if o.Reuse {
			pool := sync.Pool{New: func() any { return newTable() }}
			s.fresh = func() *table {
				t := pool.Get().(*table)
				t.turn++
				return t
			}
			s.done = func(t *table) { pool.Put(t) }
		}
		return s, nil
	})
}

// table is an open-addressed set of hashes. A slot counts if it is of this turn.
type table struct {
	hash []uint32
	seen []uint32
	turn uint32
}

func newTable() *table {
	return &table{hash: make([]uint32, slots), seen: make([]uint32, slots), turn: 1}
}

// add puts h into the table and says whether it was there.
func (t *table) add(h uint32) bool {
	for i := h % slots; ; i = (i + 1) % slots {
		switch {
		case t.seen[i] != t.turn:
			t.hash[i], t.seen[i] = h, t.turn
			return false
		case t.hash[i] == h:
			return true
		}
	}
}

type shingles struct {
	fresh func() *table
	done  func(*table)
}

func (*shingles) Name() string { return "shingles" }

// Score is the part of runs that are repeated.
func (s *shingles) Score(c *filter.Comment) float64 {
	if len(c.Words) < 2*run {
		return 0
	}
	t := s.fresh()
	defer s.done(t)
	again, all := 0, len(c.Words)-run+1
	for i := range all {
		h := fnv.New32a()
		for _, w := range c.Words[i : i+run] {
			_, _ = h.Write([]byte(w))
			_, _ = h.Write([]byte{0})
		}
		if t.add(h.Sum32()) {
			again++
		}
	}
	return float64(again) / float64(all)
}
