package versus3

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/puddle/v2"

	"github.com/redline-go/redline/kit/pool"
)

// conn is a connection that costs nothing, so that the pools are what is measured.
type conn struct{ _ [64]byte }

func (*conn) Close() error { return nil }

// loan borrows a connection, calls use, and gives it back.
type loan func(ctx context.Context, use func()) error

// pools are the alternatives, each with room for size connections.
func pools(b *testing.B, size int) map[string]loan {
	dial := func(context.Context) (*conn, error) { return new(conn), nil }
	kit, err := pool.New(pool.Config[*conn]{
		Dial: dial, MaxOpen: size, MaxIdleTime: time.Minute, MaxLifetime: time.Hour, MaxWait: time.Minute,
		Check: func(context.Context, *conn) error { return nil }, CheckAfter: 30 * time.Second,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { kit.Close() })
	pud, err := puddle.NewPool(&puddle.Config[*conn]{Constructor: dial, Destructor: func(*conn) {}, MaxSize: int32(size)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pud.Close)
	channel := make(chan *conn, size)
	for range size {
		channel <- new(conn)
	}
	unsound := sync.Pool{New: func() any { return new(conn) }}
	return map[string]loan{
		"kit": func(ctx context.Context, use func()) error {
			lease, err := kit.Get(ctx)
			if err != nil {
				return err
			}
			use()
			lease.Release()
			return nil
		},
		"puddle": func(ctx context.Context, use func()) error {
			r, err := pud.Acquire(ctx)
			if err != nil {
				return err
			}
			use()
			r.Release()
			return nil
		},
		"channel": func(ctx context.Context, use func()) error {
			select {
			case c := <-channel:
				use()
				channel <- c
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		// Leaks sockets; for the claim's figure alone.
		"syncpool": func(_ context.Context, use func()) error {
			c := unsound.Get().(*conn)
			use()
			unsound.Put(c)
			return nil
		},
	}
}

var poolKinds = []string{"kit", "puddle", "channel", "syncpool"}

// BenchmarkPool is one borrower who always finds an idle connection.
func BenchmarkPool(b *testing.B) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	all := pools(b, 16)
	for _, kind := range poolKinds {
		b.Run("kind="+kind, func(b *testing.B) {
			b.ReportAllocs()
			defer cpu(b)()
			for b.Loop() {
				if err := all[kind](ctx, func() {}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPoolShared has a borrower per CPU and a connection for each.
func BenchmarkPoolShared(b *testing.B) { share(b, 16, 1, poolKinds) }

// BenchmarkPoolWait has 32 borrowers per CPU and four connections: nearly all wait. A
// sync.Pool never makes anybody wait.
func BenchmarkPoolWait(b *testing.B) { share(b, 4, 32, poolKinds[:3]) }

func share(b *testing.B, size, borrowers int, kinds []string) {
	all := pools(b, size)
	for _, kind := range kinds {
		b.Run("kind="+kind, func(b *testing.B) {
			b.ReportAllocs()
			defer cpu(b)()
			b.SetParallelism(borrowers)
			b.RunParallel(func(pb *testing.PB) {
				work := 0
				for pb.Next() {
					err := all[kind](context.Background(), func() {
						for range 100 {
							work++
						}
					})
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
