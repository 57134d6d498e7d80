package counter_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/puzpuzpuz/xsync/v4"

	"github.com/redline-go/redline/kit/counter"
)

// pooled is the design with a token from sync.Pool that names a shard.
type pooled struct {
	shards []counter.Padded
	tokens sync.Pool
	next   atomic.Uint32
}

func newPooled() *pooled {
	p := &pooled{shards: make([]counter.Padded, 8)}
	p.tokens.New = func() any { token := p.next.Add(1); return &token }
	return p
}

func (p *pooled) Inc() {
	token := p.tokens.Get().(*uint32)
	p.shards[*token&7].Add(1)
	p.tokens.Put(token)
}

// random is the design with another shard each time.
type random struct{ shards [8]counter.Padded }

func (r *random) Inc() { r.shards[rand.Uint32()&7].Add(1) }

type locked struct {
	mu sync.Mutex
	n  int64
}

func (l *locked) Inc() {
	l.mu.Lock()
	l.n++
	l.mu.Unlock()
}

// BenchmarkInc adds from every P at once, and from one goroutine alone.
func BenchmarkInc(b *testing.B) {
	for _, from := range []string{"all", "one"} {
		run := func(name string, inc func(worker int) func(*testing.PB)) {
			b.Run("from="+from+"/design="+name, func(b *testing.B) {
				var workers atomic.Int64
				if from == "one" {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				}
				b.RunParallel(func(pb *testing.PB) { inc(int(workers.Add(1)-1) & 63)(pb) })
			})
		}
		// Each loop calls its design directly: through an interface the call would
		// cost as much as what is measured.
		var plain atomic.Int64
		run("atomic", func(int) func(*testing.PB) {
			return func(pb *testing.PB) {
				for pb.Next() {
					plain.Add(1)
				}
			}
		})
		var mu locked
		run("mutex", func(int) func(*testing.PB) {
			return func(pb *testing.PB) {
				for pb.Next() {
					mu.Inc()
				}
			}
		})
		var beside [64]atomic.Int64
		run("own-unpadded", func(worker int) func(*testing.PB) {
			return func(pb *testing.PB) {
				for pb.Next() {
					beside[worker].Add(1)
				}
			}
		})
		var apart [64]counter.Padded
		run("own-padded", func(worker int) func(*testing.PB) {
			return func(pb *testing.PB) {
				for pb.Next() {
					apart[worker].Add(1)
				}
			}
		})
		var sharded counter.Counter
		run("sharded", func(int) func(*testing.PB) {
			return func(pb *testing.PB) {
				for pb.Next() {
					sharded.Inc()
				}
			}
		})
		striped := xsync.NewCounter()
		run("xsync", func(int) func(*testing.PB) {
			return func(pb *testing.PB) {
				for pb.Next() {
					striped.Inc()
				}
			}
		})
		tokens := newPooled()
		run("pool-token", func(int) func(*testing.PB) {
			return func(pb *testing.PB) {
				for pb.Next() {
					tokens.Inc()
				}
			}
		})
		var anywhere random
		run("random-shard", func(int) func(*testing.PB) {
			return func(pb *testing.PB) {
				for pb.Next() {
					anywhere.Inc()
				}
			}
		})
	}
}

// BenchmarkValue reads a sum that nobody changes.
func BenchmarkValue(b *testing.B) {
	c := counter.New(0)
	c.Inc()
	x := xsync.NewCounter()
	x.Inc()
	var plain atomic.Int64
	var sink int64
	b.Run("design=atomic", func(b *testing.B) {
		for b.Loop() {
			sink += plain.Load()
		}
	})
	b.Run("design=sharded", func(b *testing.B) {
		for b.Loop() {
			sink += c.Value()
		}
	})
	b.Run("design=xsync", func(b *testing.B) {
		for b.Loop() {
			sink += x.Value()
		}
	})
	_ = sink
}
