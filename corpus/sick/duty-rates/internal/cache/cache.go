// Package cache is a bounded map with a lifetime for its entries.
package cache

import (
	"sync"
	"time"
)

type slot[V any] struct {
	value V
	until time.Time
}

// Cache holds values by key.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	slots map[K]slot[V]
	order []K
	cap   int
	ttl   time.Duration
}

// New returns a cache for up to n entries.
func New[K comparable, V any](n int, ttl time.Duration) *Cache[K, V] {
	return &Cache[K, V]{slots: make(map[K]slot[V], n), cap: n, ttl: ttl}
}

// GetOrLoad returns the entry of key, and loads it when it is missing or old.
func (c *Cache[K, V]) GetOrLoad(key K, load func(K) (V, error)) (V, error) {
	now := time.Now()
	c.mu.Lock()
	s, ok := c.slots[key]
	c.mu.Unlock()
	if ok && now.Before(s.until) {
		return s.value, nil
	}
	v, err := load(key)
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.slots[key]; !ok {
		if len(c.order) >= c.cap {
			delete(c.slots, c.order[0])
			c.order = c.order[1:]
		}
		c.order = append(c.order, key)
	}
	c.slots[key] = slot[V]{v, now.Add(c.ttl)}
	return v, nil
}
