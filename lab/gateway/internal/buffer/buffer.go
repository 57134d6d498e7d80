// Package buffer hands out byte buffers for bodies, fresh ones or reused ones.
//
// Hazard: a buffer's bytes belong to the next borrower after Put. Whoever keeps
// a part of them must copy it first.
package buffer

import (
	"bytes"
	"sync"
)

const (
	// freshSize is what a fresh buffer holds: "the largest reply we have",
	// as such services size it.
	freshSize = 64 << 10
	// pooledSize fits an order's reply without growing.
	pooledSize = 4 << 10
	// keepLimit keeps one huge body from staying in the pool for good.
	keepLimit = 64 << 10
)

// Source hands out buffers. The zero Source makes a fresh one each time.
type Source struct {
	pool *sync.Pool
}

// New returns a source that reuses buffers, or one that does not.
func New(pooled bool) *Source {
	if !pooled {
		return &Source{}
	}
	return &Source{pool: &sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, pooledSize)) }}}
}

// Get returns an empty buffer.
func (s *Source) Get() *bytes.Buffer {
	if s.pool == nil {
		return bytes.NewBuffer(make([]byte, 0, freshSize))
	}
	return s.pool.Get().(*bytes.Buffer)
}

// Put gives a buffer back, after which its bytes must not be used.
func (s *Source) Put(b *bytes.Buffer) {
	if s.pool == nil || b.Cap() > keepLimit {
		return
	}
	b.Reset()
	s.pool.Put(b)
}
