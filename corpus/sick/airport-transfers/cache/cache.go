// Package cache keeps values for a while.
package cache

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

type item[V any] struct {
	v     V
	until time.Time
}

// Cache keeps the last used values.
type Cache[K comparable, V any] struct {
	items *lru.Cache[K, item[V]]
	ttl   time.Duration
}

// New makes a cache.
func New[K comparable, V any](size int, ttl time.Duration) *Cache[K, V] {
	c, err := lru.New[K, item[V]](size)
	if err != nil {
		panic(err)
	}
	return &Cache[K, V]{c, ttl}
}

// Get returns a value.
func (c *Cache[K, V]) Get(k K) (v V, ok bool) {
	i, ok := c.items.Get(k)
	if !ok || time.Now().After(i.until) {
		return v, false
	}
	return i.v, true
}

// Put keeps a value.
func (c *Cache[K, V]) Put(k K, v V) { c.items.Add(k, item[V]{v, time.Now().Add(c.ttl)}) }
