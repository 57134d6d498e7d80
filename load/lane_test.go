package load

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redline-go/redline/load/account"
	"github.com/redline-go/redline/scenario"
)

// TestPatience: where the plan does not say how long requests in flight may take, it is as long as answers took, twice, but neither
// less than two seconds nor more than the timeout.
func TestPatience(t *testing.T) {
	for longest, want := range map[time.Duration]time.Duration{
		0: 2 * time.Second, 900 * time.Millisecond: 2 * time.Second, 3 * time.Second: 6 * time.Second, 8 * time.Second: 10 * time.Second,
	} {
		r := &run{plan: scenario.Load{Timeout: 10 * time.Second}}
		for _, d := range []time.Duration{longest, longest / 2} {
			l := &loop{Feed: account.NewFeed(), counted: account.Tally{Longest: int64(d)}}
			l.Publish(&l.counted, &l.published)
			r.loops = append(r.loops, l)
		}
		if got := r.patience(); got != want {
			t.Errorf("with answers of %v at most it waits for %v, want %v", longest, got, want)
		}
	}
}

func TestAlarmsWakeInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var a alarms
	var want []time.Duration
	for range 500 {
		at := time.Duration(rng.IntN(300)) // with ties
		a.add(&lane{}, at)
		want = append(want, at)
		if rng.IntN(3) == 0 {
			u := a.due(at)
			slices.Sort(want)
			if want[0] > at {
				if u != nil {
					t.Fatalf("a lane of %d woke at %d", u.wake, at)
				}
				continue
			}
			if u == nil || u.wake != want[0] {
				t.Fatalf("woke %+v, the first is %d", u, want[0])
			}
			want = want[1:]
		}
	}
	slices.Sort(want)
	for _, at := range want {
		if u := a.due(1 << 40); u == nil || u.wake != at {
			t.Fatalf("woke %+v, the next is %d", u, at)
		}
	}
	if u := a.due(1 << 40); u != nil || len(a) != 0 {
		t.Errorf("a lane is left: %+v", u)
	}
}

func TestLinkQueueKeepsOrder(t *testing.T) {
	lanes := make([]lane, 5)
	var k link
	for i := range lanes {
		k.enqueue(&lanes[i])
	}
	k.remove(&lanes[0])
	k.remove(&lanes[4])
	k.remove(&lanes[2])
	k.remove(&lanes[2]) // not there: nothing happens
	k.enqueue(&lanes[0])
	for _, want := range []*lane{&lanes[1], &lanes[3], &lanes[0], nil} {
		if got := k.dequeue(); got != want {
			t.Fatalf("dequeued %p, not %p", got, want)
		}
	}
	k.enqueue(&lanes[2])
	k.remove(&lanes[2])
	if k.head != nil || k.tail != nil {
		t.Errorf("an empty queue has ends: %p %p", k.head, k.tail)
	}
}

func TestDialsKeepTheConnectRate(t *testing.T) {
	d := dials{gap: 10}
	links := make([]link, 6)
	if !d.admit(&links[0], 100) {
		t.Fatal("the first is queued")
	}
	for i := 1; i < 5; i++ {
		if d.admit(&links[i], 101) || links[i].state != linkQueued {
			t.Fatalf("link %d is admitted %v, state %d", i, d.admit(&links[i], 101), links[i].state)
		}
	}
	var opened []time.Duration
	for now := time.Duration(102); len(opened) < 4 && now < 1000; now++ {
		for k := d.due(now); k != nil; k = d.due(now) {
			if k != &links[len(opened)+1] {
				t.Fatal("out of order")
			}
			opened = append(opened, now)
		}
	}
	if want := []time.Duration{110, 120, 130, 140}; !slices.Equal(opened, want) {
		t.Errorf("opened at %d, not %d", opened, want)
	}
	if _, waits := d.wake(); waits {
		t.Error("something still waits")
	}
	// A pause does not accumulate: two that come after it are a gap apart.
	if !d.admit(&links[0], 500) || d.admit(&links[5], 501) {
		t.Error("the gap is not kept after a pause")
	}
}
