package deadline_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redline-go/redline/kit/deadline"
)

// twin is one context, made with the standard library and with ours.
type twin struct {
	std, ours             context.Context
	cancelStd, cancelOurs context.CancelFunc
	waited                bool
}

func nothing() {}

// child adds one below a twin: a limit, a value, or a standard cancel function in both.
func (p twin) child(random *rand.Rand) twin {
	var c twin
	switch n := random.IntN(10); {
	case n < 6:
		// Odd nanoseconds, so that no two limits are one instant.
		limit := time.Duration(random.IntN(1000))*time.Millisecond + time.Duration(random.IntN(900_000))
		c.std, c.cancelStd = context.WithTimeout(p.std, limit)
		c.ours, c.cancelOurs = deadline.WithTimeout(p.ours, limit)
	case n < 8:
		k, v := key([]string{"a", "b"}[random.IntN(2)]), random.Int()
		c = twin{std: context.WithValue(p.std, k, v), ours: context.WithValue(p.ours, k, v), cancelStd: nothing, cancelOurs: nothing}
	default:
		reason := errors.New("reason")
		std, cancelStd := context.WithCancelCause(p.std)
		ours, cancelOurs := context.WithCancelCause(p.ours)
		c = twin{std: std, ours: ours, cancelStd: func() { cancelStd(reason) }, cancelOurs: func() { cancelOurs(reason) }}
	}
	return c
}

func (c twin) compare(t *testing.T) {
	t.Helper()
	if std, ours := c.std.Err(), c.ours.Err(); std != ours {
		t.Fatalf("Err is %v, with the standard library %v", ours, std)
	}
	std, ok := c.std.Deadline()
	if ours, okOurs := c.ours.Deadline(); !ours.Equal(std) || ok != okOurs {
		t.Fatalf("Deadline is %v, with the standard library %v", ours, std)
	}
	for _, k := range []key{"a", "b"} {
		if std, ours := c.std.Value(k), c.ours.Value(k); std != ours {
			t.Fatalf("Value is %v, with the standard library %v", ours, std)
		}
	}
	// The documented difference: of two ends, Cause may report that above.
	if std, ours := context.Cause(c.std), context.Cause(c.ours); std != ours && (std != c.std.Err() || ours == nil) {
		t.Fatalf("Cause is %v, with the standard library %v", ours, std)
	}
	if c.waited && ended(c.std) != ended(c.ours) {
		t.Fatalf("Done is closed: %v, with the standard library %v", ended(c.ours), ended(c.std))
	}
}

// TestSameAsStandard grows random trees of contexts twice, and lets time pass and parts
// end: both must agree on every one after every step.
func TestSameAsStandard(t *testing.T) {
	for seed := range uint64(120) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 15))
			all := []twin{{std: context.Background(), ours: context.Background(), cancelStd: nothing, cancelOurs: nothing}}
			for range 60 {
				at := random.IntN(len(all))
				switch n := random.IntN(10); {
				case n < 5:
					if random.IntN(2) == 0 { // deep, too
						at = len(all) - 1
					}
					all = append(all, all[at].child(random))
				case n < 7:
					all[at].std.Done()
					all[at].ours.Done()
					all[at].waited = true
				case n < 8:
					all[at].cancelStd()
					all[at].cancelOurs()
				default:
					time.Sleep(time.Duration(random.IntN(50)) * time.Millisecond)
				}
				synctest.Wait()
				for _, c := range all {
					c.compare(t)
				}
				if t.Failed() {
					return
				}
			}
			for _, c := range all {
				c.cancelStd()
				c.cancelOurs()
			}
		})
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}
