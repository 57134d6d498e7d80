// Package ratelimit counts requests per user and refuses those above a limit.
// It has two tables: one as it is found (all users under one mutex, a log of
// times per user that is filtered at every request, a key built by fmt), and one
// in shards with a counter per user and second.
package ratelimit

import (
	"fmt"
	"sync"
	"time"
)

// Table decides whether a request may go on.
type Table interface {
	// Allow counts a request of user and reports whether it is within limit.
	Allow(user int64, now time.Time) bool
}

// window is the span over which requests are counted.
const window = time.Second

// New returns a table that lets perSecond requests of each user through.
func New(perSecond int, sharded bool) Table {
	if !sharded {
		return &timesTable{limit: perSecond, seen: map[string][]time.Time{}}
	}
	t := &shardTable{limit: uint32(perSecond)}
	for i := range t.shards {
		t.shards[i].users = map[int64]counter{}
	}
	return t
}

// sweepEvery is how many requests pass between two removals of idle users,
// which keep either table from growing for good.
const sweepEvery = 10_000

// timesTable keeps the times of each user's requests in the last window.
type timesTable struct {
	limit int

	mu    sync.Mutex
	seen  map[string][]time.Time
	since int
}

func (t *timesTable) Allow(user int64, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := fmt.Sprintf("ratelimit:user:%d", user)
	kept := within(t.seen[key], now)
	if t.since++; t.since >= sweepEvery {
		t.sweep(now)
	}
	if len(kept) >= t.limit {
		t.seen[key] = kept
		return false
	}
	t.seen[key] = append(kept, now)
	return true
}

func (t *timesTable) sweep(now time.Time) {
	t.since = 0
	for key, times := range t.seen {
		if len(within(times, now)) == 0 {
			delete(t.seen, key)
		}
	}
}

// within filters times in place to those in the window that ends now.
func within(times []time.Time, now time.Time) []time.Time {
	kept := times[:0]
	for _, at := range times {
		if now.Sub(at) < window {
			kept = append(kept, at)
		}
	}
	return kept
}

const shardCount = 64 // a power of two

// shardTable counts in fixed windows, under the lock of the user's shard.
type shardTable struct {
	limit  uint32
	shards [shardCount]shard
}

type shard struct {
	mu    sync.Mutex
	users map[int64]counter
	since int
	_     [64]byte // keeps two shards' locks out of one cache line
}

type counter struct {
	window int64 // number of the window since the epoch
	count  uint32
}

func (t *shardTable) Allow(user int64, now time.Time) bool {
	s := &t.shards[uint64(user)%shardCount]
	current := now.UnixNano() / int64(window)
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.users[user]
	if c.window != current {
		c = counter{window: current}
	}
	if s.since++; s.since >= sweepEvery {
		s.sweep(current)
	}
	if c.count >= t.limit {
		return false
	}
	c.count++
	s.users[user] = c
	return true
}

func (s *shard) sweep(current int64) {
	s.since = 0
	for user, c := range s.users {
		if c.window < current {
			delete(s.users, user)
		}
	}
}
