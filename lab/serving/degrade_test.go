package serving_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bits-and-blooms/bloom/v3"               // the claim's filter
	"github.com/failsafe-go/failsafe-go"                // a breaker that is kept
	"github.com/failsafe-go/failsafe-go/circuitbreaker" // its states

	"github.com/redline-go/redline/lab/micro"
)

// accounts asks another service for balances. It stalls, and callers then wait for their
// limit.
type accounts struct {
	stalled bool
	known   int
}

const (
	callLimit = 2 * time.Millisecond
	fresh     = 30 * time.Second // of a kept balance
)

var errUnknown = errors.New("no such account")

func (a *accounts) balance(ctx context.Context, id int) (int64, error) {
	if a.stalled {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	if id >= a.known {
		return 0, errUnknown
	}
	return int64(100 * id), nil
}

// plain asks within a limit, and fails with it.
func (a *accounts) plain(id int) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	return a.balance(ctx, id)
}

// degraded asks through a breaker; while that is open, or the call fails, it answers with
// what it kept, unless that is older than fresh. The filter knows the accounts that exist,
// so that an unknown one is answered without a call or a place in the cache.
type degraded struct {
	accounts *accounts
	breaker  circuitbreaker.CircuitBreaker[int64]
	filter   *bloom.BloomFilter
	now      func() time.Time
	mu       sync.Mutex
	kept     map[int]keptBalance
}

type keptBalance struct {
	cents int64
	at    time.Time
}

func newDegraded(a *accounts) *degraded {
	d := &degraded{
		accounts: a, filter: bloom.NewWithEstimates(10_000, 0.01), now: time.Now, kept: map[int]keptBalance{},
		// The claim's 15 % of the last 20 calls; an unknown account is no failure.
		breaker: circuitbreaker.NewBuilder[int64]().HandleIf(func(_ int64, err error) bool {
			return err != nil &&
				!errors.Is(err, errUnknown)
		}).
			WithFailureThresholdRatio(3, 20).WithDelay(time.Minute).Build(),
	}
	for id := range a.known {
		d.filter.Add(key(id))
	}
	return d
}

func key(id int) []byte { return fmt.Append(nil, "account ", id) }

func (d *degraded) balance(id int) (int64, error) {
	if !d.filter.Test(key(id)) {
		return 0, errUnknown
	}
	cents, err := failsafe.With(d.breaker).Get(func() (int64, error) { return d.accounts.plain(id) })
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.kept[id] = keptBalance{cents, d.now()}
		return cents, nil
	}
	if kept, ok := d.kept[id]; ok && !errors.Is(err, errUnknown) && d.now().Sub(kept.at) < fresh {
		return kept.cents, nil
	}
	return 0, err
}

const asked = 100

// BenchmarkDegrade asks for 100 balances, of which ten do not exist, while the other
// service stalls, and reports how many are not answered.
func BenchmarkDegrade(b *testing.B) {
	a := &accounts{known: asked * 9 / 10}
	d := newDegraded(a)
	ask := micro.Of(a.plain, d.balance)
	for id := range a.known { // before the stall
		if cents, err := ask(id); err != nil || cents != int64(100*id) {
			b.Fatal(cents, err)
		}
	}
	a.stalled = true
	failed := 0
	for b.Loop() {
		for id := range asked {
			cents, err := ask(id)
			switch {
			case err != nil && !errors.Is(err, errUnknown):
				failed++
			case err == nil && cents != int64(100*id):
				b.Fatalf("account %d has %d", id, cents)
			}
		}
	}
	b.ReportMetric(float64(failed)/float64(b.N), "failed/op")
}

// TestDegrade: while all is well both answer alike. In a stall what was kept is answered
// until it is too old, and an account that only the filter takes for known never is.
func TestDegrade(t *testing.T) {
	a := &accounts{known: 50}
	d := newDegraded(a)
	for id := range 80 {
		x, errX := a.plain(id)
		y, errY := d.balance(id)
		if x != y || !errors.Is(errX, errY) {
			t.Errorf("account %d: %d, %v and %d, %v", id, x, errX, y, errY)
		}
	}
	now := time.Now()
	d.now = func() time.Time { return now }
	a.stalled = true
	for range 5 {
		if cents, err := d.balance(7); err != nil || cents != 700 {
			t.Errorf("in a stall: %d, %v", cents, err)
		}
	}
	if !d.breaker.IsOpen() {
		t.Error("five failures of the last twenty leave the breaker closed")
	}
	d.filter.Add(key(1000)) // as a false positive would
	if cents, err := d.balance(1000); err == nil {
		t.Errorf("an account that does not exist has %d", cents)
	}
	now = now.Add(fresh)
	if cents, err := d.balance(7); err == nil {
		t.Errorf("a balance of %v ago is answered: %d", fresh, cents)
	}
}
