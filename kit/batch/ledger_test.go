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

// TestNothingLostOrTwice holds what callers heard against what was written, while writes
// fail and panic, callers leave, and the writer is closed in the middle.
func TestNothingLostOrTwice(t *testing.T) {
	failed := errors.New("injected")
	for _, c := range []struct {
		name   string
		config batch.Config[int, string]
	}{
		{"group commit", batch.Config[int, string]{MaxSize: 16, Workers: 1}},
		{"delay", batch.Config[int, string]{MaxSize: 8, MaxDelay: 50 * time.Microsecond, Workers: 3, Queue: 24}},
		{"one by one", batch.Config[int, string]{MaxSize: 1, Workers: 2, Queue: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const callers, each = 32, 150
			var written [callers * each]atomic.Int32
			c.config.Flush = func(_ context.Context, items []*item) error {
				if len(items) > c.config.MaxSize || len(items) == 0 {
					t.Errorf("a group of %d", len(items))
				}
				fault := rand.IntN(50)
				if fault == 0 {
					return failed // before anything was written
				}
				for _, i := range items {
					written[i.Value].Add(1)
				}
				if fault == 1 {
					panic("injected") // after
				}
				return nil
			}
			w := made(t, c.config)
			var heard [callers * each]error
			var count atomic.Int64
			var wg sync.WaitGroup
			for caller := range callers {
				wg.Go(func() {
					for n := caller * each; n < (caller+1)*each; n++ {
						ctx, cancel := context.Background(), context.CancelFunc(func() {})
						switch rand.IntN(10) {
						case 0:
							ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(200))*time.Microsecond)
						case 1:
							ctx, cancel = context.WithCancel(ctx)
							go cancel()
						}
						_, heard[n] = w.Do(ctx, n)
						cancel()
						if count.Add(1) == callers*each*9/10 {
							go w.Close()
						}
					}
				})
			}
			wg.Wait()
			w.Close()
			var outcomes [3]int
			for n, err := range heard {
				times := written[n].Load()
				var p *batch.PanicError
				switch {
				case err == nil:
					outcomes[0]++
					if times != 1 {
						t.Errorf("item %d: success, written %d times", n, times)
					}
				case errors.As(err, &p) || errors.Is(err, batch.ErrUncertain):
					outcomes[1]++
					if times > 1 {
						t.Errorf("item %d: written %d times", n, times)
					}
				default: // refused, taken back, or the write failed
					outcomes[2]++
					if times != 0 {
						t.Errorf("item %d: %v, yet written %d times", n, err, times)
					}
				}
			}
			if outcomes[0] == 0 || outcomes[2] == 0 {
				t.Errorf("the test exercised too little: %v", outcomes)
			}
			t.Logf("%d written, %d open, %d not written; %+v", outcomes[0], outcomes[1], outcomes[2], w.Stats())
		})
	}
}
