package cache

import (
	"errors"
	"testing"
	"time"

	"github.com/redline-go/redline/lab/gateway/internal/order"
)

func TestLoad(t *testing.T) {
	now := time.Unix(0, 0)
	c := New(func() time.Time { return now })
	loads := 0
	get := func() *order.Order {
		t.Helper()
		o, err := c.Load(7, func() (*order.Order, error) { loads++; return &order.Order{ID: int64(loads)}, nil })
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	steps := []struct {
		name string
		do   func()
		want int64 // id of the order that is returned: the number of the load
	}{
		{"first", func() {}, 1},
		{"hit", func() { now = now.Add(timeToLive - 1) }, 1},
		{"expired", func() { now = now.Add(jitter + 1) }, 2},
		{"dropped", func() { c.Drop(7) }, 3},
		{"a neighbour in the shard was written", func() { c.Drop(7 + shardCount) }, 3},
	}
	for _, s := range steps {
		s.do()
		if o := get(); o.ID != s.want {
			t.Errorf("%s: order of load %d, want %d", s.name, o.ID, s.want)
		}
	}
}

func TestWriteDuringLoadWins(t *testing.T) {
	c := New(nil)
	old, _ := c.Load(1, func() (*order.Order, error) {
		c.Drop(1) // another request writes after we read and before we store
		return &order.Order{Status: "old"}, nil
	})
	fresh, _ := c.Load(1, func() (*order.Order, error) { return &order.Order{Status: "new"}, nil })
	if old.Status != "old" || fresh.Status != "new" {
		t.Errorf("got %s, then %s", old.Status, fresh.Status)
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	c := New(nil)
	wanted := errors.New("down")
	if _, err := c.Load(1, func() (*order.Order, error) { return nil, wanted }); err != wanted {
		t.Errorf("error is %v", err)
	}
	if o, err := c.Load(1, func() (*order.Order, error) { return &order.Order{ID: 1}, nil }); err != nil || o.ID != 1 {
		t.Errorf("after an error: %v, %v", o, err)
	}
}

func TestNilCachesNothing(t *testing.T) {
	var c *Orders
	c.Drop(1)
	for want := range int64(2) {
		if o, _ := c.Load(1, func() (*order.Order, error) { return &order.Order{ID: want}, nil }); o.ID != want {
			t.Errorf("order %d, want %d", o.ID, want)
		}
	}
}

func TestShardIsBounded(t *testing.T) {
	c := New(nil)
	for i := range int64(2 * shardLimit) {
		_, _ = c.Load(i*shardCount, func() (*order.Order, error) { return &order.Order{}, nil })
	}
	if n := len(c.shards[0].entries); n != shardLimit {
		t.Errorf("%d entries, want %d", n, shardLimit)
	}
}
