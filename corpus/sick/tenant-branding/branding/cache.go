package branding

import (
	"context"
	"sync"
	"time"
)

type entry struct {
	theme Theme
	until time.Time
}

// Cache keeps themes for a while.
type Cache struct {
	mu     sync.Mutex
	byID   map[int]entry
	source Store
	ttl    time.Duration
}

// NewCache makes a cache before a source.
func NewCache(s Store, ttl time.Duration) *Cache {
	return &Cache{byID: map[int]entry{}, source: s, ttl: ttl}
}

// Theme implements Store.
func (c *Cache) Theme(ctx context.Context, tenant int) (Theme, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byID[tenant]; ok && time.Now().Before(e.until) {
		return e.theme, nil
	}
	t, err := c.source.Theme(ctx, tenant)
	if err != nil {
		return t, err
	}
	c.byID[tenant] = entry{t, time.Now().Add(c.ttl)}
	return t, nil
}

// OpenCache is a Cache that asks its source while others use it.
type OpenCache struct{ *Cache }

// NewOpenCache makes a cache before a source.
func NewOpenCache(s Store, ttl time.Duration) OpenCache { return OpenCache{NewCache(s, ttl)} }

// Theme implements Store.
func (c OpenCache) Theme(ctx context.Context, tenant int) (Theme, error) {
	c.mu.Lock()
	e, ok := c.byID[tenant]
	c.mu.Unlock()
	if ok && time.Now().Before(e.until) {
		return e.theme, nil
	}
	t, err := c.source.Theme(ctx, tenant)
	if err != nil {
		return t, err
	}
	c.mu.Lock()
	c.byID[tenant] = entry{t, time.Now().Add(c.ttl)}
	c.mu.Unlock()
	return t, nil
}
