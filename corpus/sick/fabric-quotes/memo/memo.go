// Package memo remembers what is expensive to work out.
package memo

import (
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Cache keeps the values that were asked for last.
type Cache[K comparable, V any] struct {
	kept         *lru.Cache[K, V]
	hits, misses atomic.Int64
}

// New makes a cache of so many values.
func New[K comparable, V any](size int) (*Cache[K, V], error) {
	kept, err := lru.New[K, V](size)
	return &Cache[K, V]{kept: kept}, err
}

// Get returns the value of a key, working it out if it is not there.
func (c *Cache[K, V]) Get(key K, work func(K) (V, error)) (V, error) {
	if v, ok := c.kept.Get(key); ok {
		c.hits.Add(1)
		return v, nil
	}
	c.misses.Add(1)
	v, err := work(key)
	if err == nil {
		c.kept.Add(key, v)
	}
	return v, err
}

// Stats says what the cache is good for.
func (c *Cache[K, V]) Stats() map[string]int64 {
	return map[string]int64{"hits": c.hits.Load(), "misses": c.misses.Load(), "kept": int64(c.kept.Len())}
}
