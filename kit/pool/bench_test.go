package pool_test

import (
	"context"
	"testing"
	"time"

	"github.com/redline-go/redline/kit/pool"
)

func full(s *server) pool.Config[*conn] {
	return pool.Config[*conn]{
		Dial: s.dial, MaxOpen: 64, MaxIdleTime: time.Minute, MaxLifetime: time.Hour, MaxWait: time.Second,
		Check: func(context.Context, *conn) error { return nil },
	}
}

// BenchmarkGetRelease has every limit on.
func BenchmarkGetRelease(b *testing.B) {
	var s server
	p := made(b, full(&s))
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		lease, err := p.Get(ctx)
		if err != nil {
			b.Fatal(err)
		}
		lease.Release()
	}
}

// BenchmarkGetReleaseParallel has more borrowers than CPUs, and connections for all.
func BenchmarkGetReleaseParallel(b *testing.B) {
	var s server
	p := made(b, full(&s))
	b.SetParallelism(8)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			lease, err := p.Get(context.Background())
			if err != nil {
				b.Error(err)
				return
			}
			lease.Release()
		}
	})
}
