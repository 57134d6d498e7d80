package ratelimit

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestAllow(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	for _, sharded := range []bool{false, true} {
		table := New(3, sharded)
		for i, c := range []struct {
			user int64
			at   time.Duration
			want bool
		}{
			{1, 0, true}, {1, 0, true}, {1, 0, true}, {1, 0, false}, {2, 0, true},
			{1, 999 * time.Millisecond, false}, {1, time.Second, true},
		} {
			if got := table.Allow(c.user, start.Add(c.at)); got != c.want {
				t.Errorf("sharded %v, request %d: %v, want %v", sharded, i, got, c.want)
			}
		}
	}
}

func TestAllowTogether(t *testing.T) {
	for _, sharded := range []bool{false, true} {
		table := New(100, sharded)
		var allowed atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 50 {
					if table.Allow(1, time.Unix(5, 0)) {
						allowed.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if allowed.Load() != 100 {
			t.Errorf("sharded %v: %d of 400 passed, want 100", sharded, allowed.Load())
		}
	}
}

func TestIdleUsersAreForgotten(t *testing.T) {
	log := New(1, false).(*timesTable)
	for i := range int64(sweepEvery) {
		log.Allow(i+1, time.Unix(i, 0))
	}
	if len(log.seen) > 2 {
		t.Errorf("%d users are kept", len(log.seen))
	}
	table := New(1, true).(*shardTable)
	for i := range int64(sweepEvery) {
		table.Allow((i+1)*shardCount, time.Unix(i, 0))
	}
	if n := len(table.shards[0].users); n > 1 {
		t.Errorf("%d users are kept in a shard", n)
	}
}
