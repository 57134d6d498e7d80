// Package cache keeps each user's latest order in the process.
//
// An entry is dropped when its user's orders are written here. Against writers
// elsewhere (a second gateway) only the time to live helps, so a reader may be
// that much behind; where that is not acceptable the cache stays off.
//
// Hazard: a read that began before a write can end after the write dropped the
// entry, and would put the old order back. Load therefore notes the user's
// generation before it reads and stores only if no write has moved it since.
package cache

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/order"
)

const (
	shardCount = 64 // a power of two
	timeToLive = 30 * time.Second
	// jitter spreads expiry, so that entries that were loaded together do not
	// miss together.
	jitter = 10 * time.Second
	// shardLimit bounds the entries of a shard; 64 shards hold all 20,000
	// users of the full seed.
	shardLimit = 512
)

// Orders caches orders by user. A nil Orders caches nothing. Cached orders are
// shared: nobody may change one.
type Orders struct {
	now    func() time.Time
	shards [shardCount]shard
}

type shard struct {
	mu      sync.Mutex
	entries map[int64]entry
	// generation counts the writes of this shard's users. One counter for all
	// of them is coarse, and only costs a load now and then.
	generation uint64
	_          [64]byte // keeps two shards' locks out of one cache line
}

type entry struct {
	order   *order.Order
	expires time.Time
}

// New returns an empty cache; now is the clock, nil means time.Now.
func New(now func() time.Time) *Orders {
	if now == nil {
		now = time.Now
	}
	c := &Orders{now: now}
	for i := range c.shards {
		c.shards[i].entries = map[int64]entry{}
	}
	return c
}

func (c *Orders) shard(user int64) *shard { return &c.shards[uint64(user)%shardCount] }

// Load returns a user's order from the cache, else from load. Errors are not
// cached.
func (c *Orders) Load(user int64, load func() (*order.Order, error)) (*order.Order, error) {
	if c == nil {
		return load()
	}
	s, now := c.shard(user), c.now()
	s.mu.Lock()
	e, ok := s.entries[user]
	generation := s.generation
	s.mu.Unlock()
	if ok && now.Before(e.expires) {
		return e.order, nil
	}
	o, err := load()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation == generation {
		s.put(user, entry{o, now.Add(timeToLive + rand.N(jitter))})
	}
	return o, nil
}

// put stores an entry, in place of any other when the shard is full.
func (s *shard) put(user int64, e entry) {
	if _, there := s.entries[user]; !there && len(s.entries) >= shardLimit {
		for victim := range s.entries { // the map's order is random enough
			delete(s.entries, victim)
			break
		}
	}
	s.entries[user] = e
}

// Drop forgets a user's order. Call it after the write was committed and before
// its caller is answered.
func (c *Orders) Drop(user int64) {
	if c == nil {
		return
	}
	s := c.shard(user)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.generation++
	delete(s.entries, user)
}
