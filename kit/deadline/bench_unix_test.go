//go:build unix

package deadline_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/redline-go/redline/kit/deadline"
)

type within = func(context.Context, time.Duration) (context.Context, context.CancelFunc)

// descend passes through layers that each set a limit, and calls leaf at the end.
func descend(ctx context.Context, depth int, limit within, values bool, leaf func(context.Context)) {
	if depth == 0 {
		leaf(ctx)
		return
	}
	ctx, cancel := limit(ctx, time.Hour)
	defer cancel()
	if values { // as a span of a trace
		ctx = context.WithValue(ctx, key("span"), depth)
	}
	descend(ctx, depth-1, limit, values, leaf)
}

// BenchmarkRequest is one request below a server's context: nested limits, with a leaf
// that looks (Err), waits (Done, as a socket or a database driver does), or waits below
// layers that add values.
func BenchmarkRequest(b *testing.B) {
	server, cancel := context.WithCancel(context.Background())
	defer cancel()
	looks := func(ctx context.Context) { _ = ctx.Err() }
	waits := func(ctx context.Context) { _ = ctx.Done() }
	for _, depth := range []int{1, 5, 50} {
		for _, leaf := range []struct {
			name   string
			call   func(context.Context)
			values bool
		}{{"look", looks, false}, {"wait", waits, false}, {"wait-values", waits, true}} {
			for _, kind := range []struct {
				name  string
				limit within
			}{{"std", context.WithTimeout}, {"flat", deadline.WithTimeout}} {
				b.Run(fmt.Sprintf("depth=%d/leaf=%s/kind=%s", depth, leaf.name, kind.name), func(b *testing.B) {
					b.ReportAllocs()
					defer cpu(b)()
					for b.Loop() {
						ctx, cancel := context.WithCancel(server) // the request's
						descend(ctx, depth, kind.limit, leaf.values, leaf.call)
						cancel()
					}
				})
			}
		}
	}
}

// BenchmarkExpiry is from the cancellation at the top to the leaf that hears of it.
func BenchmarkExpiry(b *testing.B) {
	for _, depth := range []int{1, 5, 50} {
		for _, kind := range []struct {
			name  string
			limit within
		}{{"std", context.WithTimeout}, {"flat", deadline.WithTimeout}} {
			b.Run(fmt.Sprintf("depth=%d/kind=%s", depth, kind.name), func(b *testing.B) {
				defer cpu(b)()
				for b.Loop() {
					top, cancel := kind.limit(context.Background(), time.Hour)
					descend(top, depth, kind.limit, false, func(ctx context.Context) {
						done := ctx.Done()
						cancel()
						<-done
					})
				}
			})
		}
	}
}

// cpu reports the processor time of the process per operation as cpu-ns/op, between its
// call and that of what it returns: elapsed time also counts what else the machine does.
func cpu(b *testing.B) (report func()) {
	begun := spent(b)
	return func() { b.ReportMetric(float64(spent(b)-begun)/float64(b.N), "cpu-ns/op") }
}

func spent(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
