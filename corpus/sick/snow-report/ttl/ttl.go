// Package ttl remembers values for a while.
package ttl

import (
	"sync"
	"time"
)

const stripes = 16

type item[V any] struct {
	value V
	until time.Time
}

type stripe[K comparable, V any] struct {
	mu    sync.RWMutex
	items map[K]item[V]
}

// Cache remembers values under keys. It is safe for concurrent use.
type Cache[K ~string, V any] struct {
	ttl     time.Duration
	stripes [stripes]stripe[K, V]
}

// New makes a cache that forgets values after ttl.
func New[K ~string, V any](ttl time.Duration) *Cache[K, V] {
	c := &Cache[K, V]{ttl: ttl}
	for i := range c.stripes {
		c.stripes[i].items = map[K]item[V]{}
	}
	return c
}

func (c *Cache[K, V]) stripe(key K) *stripe[K, V] {
	sum := uint32(2166136261)
	for i := range len(key) {
		sum = (sum ^ uint32(key[i])) * 16777619
	}
	return &c.stripes[sum%stripes]
}

// Get returns what is remembered under key.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	s := c.stripe(key)
	s.mu.RLock()
	defer s.mu.RUnlock()
	it, ok := s.items[key]
	if !ok || time.Now().After(it.until) {
		var zero V
		return zero, false
	}
	return it.value, true
}

// Set remembers a value under key.
func (c *Cache[K, V]) Set(key K, value V) {
	s := c.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[key] = item[V]{value, time.Now().Add(c.ttl)}
}

// Remember returns what is remembered under key, or else what load returns,
// which is then remembered. Errors are not.
func (c *Cache[K, V]) Remember(key K, load func() (V, error)) (V, error) {
	if v, ok := c.Get(key); ok {
		return v, nil
	}
	v, err := load()
	if err != nil {
		return v, err
	}
	c.Set(key, v)
	return v, nil
}
