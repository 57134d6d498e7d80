package batch_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/kit/batch"
)

// ledger is what was written and what callers heard, by item.
type ledger struct {
	written []atomic.Int32
	heard   []error
}

var errInjected = errors.New("injected")

// flush writes, and sometimes fails before or panics after.
func (l *ledger) flush(_ context.Context, items []*item) error {
	fault := rand.IntN(50)
	if fault == 0 {
		return errInjected
	}
	for _, i := range items {
		l.written[i.Value].Add(1)
	}
	if fault == 1 {
		panic("injected")
	}
	return nil
}

// do writes one item; some callers leave.
func (l *ledger) do(w *batch.Writer[int, string], n int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch rand.IntN(10) {
	case 0:
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(200))*time.Microsecond)
		defer cancel()
	case 1:
		go cancel()
	}
	_, l.heard[n] = w.Do(ctx, n)
}

// check holds one against the other, and returns how many were written, may have been,
// and were not.
func (l *ledger) check(t *testing.T) (yes, open, no int) {
	for n, err := range l.heard {
		times := l.written[n].Load()
		var p *batch.PanicError
		switch {
		case err == nil:
			yes++
			if times != 1 {
				t.Errorf("item %d: success, written %d times", n, times)
			}
		case errors.As(err, &p) || errors.Is(err, batch.ErrUncertain):
			open++
			if times > 1 {
				t.Errorf("item %d: written %d times", n, times)
			}
		default: // refused, taken back, or the write failed
			no++
			if times != 0 {
				t.Errorf("item %d: %v, yet written %d times", n, err, times)
			}
		}
	}
	return yes, open, no
}

// TestNothingLostOrTwice holds what callers heard against what was written, while writes
// fail and panic, callers leave, and the writer is closed in the middle.
func TestNothingLostOrTwice(t *testing.T) {
	for name, config := range map[string]batch.Config[int, string]{
		"group commit": {MaxSize: 16, Workers: 1},
		"delay":        {MaxSize: 8, MaxDelay: 50 * time.Microsecond, Workers: 3, Queue: 24},
		"one by one":   {MaxSize: 1, Workers: 2, Queue: 2},
	} {
		t.Run(name, func(t *testing.T) {
			const callers, each = 32, 150
			l := ledger{make([]atomic.Int32, callers*each), make([]error, callers*each)}
			config.Flush = func(ctx context.Context, items []*item) error {
				if len(items) > config.MaxSize || len(items) == 0 {
					t.Errorf("a group of %d", len(items))
				}
				return l.flush(ctx, items)
			}
			w := made(t, config)
			var count atomic.Int64
			var wg sync.WaitGroup
			for caller := range callers {
				wg.Go(func() {
					for n := caller * each; n < (caller+1)*each; n++ {
						l.do(w, n)
						if count.Add(1) == callers*each*9/10 {
							go w.Close()
						}
					}
				})
			}
			wg.Wait()
			w.Close()
			yes, open, no := l.check(t)
			if yes == 0 || no == 0 {
				t.Errorf("the test exercised too little: %d written, %d not", yes, no)
			}
			t.Logf("%d written, %d open, %d not written; %+v", yes, open, no, w.Stats())
		})
	}
}
