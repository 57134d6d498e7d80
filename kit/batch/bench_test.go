package batch_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/kit/batch"
)

// BenchmarkDo is what the hand-over costs: the write itself costs nothing.
func BenchmarkDo(b *testing.B) {
	for _, c := range []struct {
		name    string
		callers int
		delay   time.Duration
	}{{"1", 1, 0}, {"64", 64, 0}, {"64-after-1ms", 64, time.Millisecond}} {
		b.Run(c.name, func(b *testing.B) {
			w := made(b, batch.Config[int, string]{MaxDelay: c.delay, MaxSize: 64,
				Flush: func(context.Context, []*item) error { return nil }})
			defer w.Close()
			b.ReportAllocs()
			var wg sync.WaitGroup
			for caller := range c.callers {
				wg.Go(func() {
					for n := caller; n < b.N; n += c.callers {
						if _, err := w.Do(context.Background(), n); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
