package load

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/record"
)

// Bounds of the pause after a connection could not be opened. It doubles from
// the first to the longest, so that a target that refuses is neither spun on
// nor left alone for long once it is back.
const (
	backoffFirst   = time.Millisecond
	backoffLongest = 100 * time.Millisecond
)

// connection drives one client. All but the atomics belong to its goroutine.
type connection struct {
	id      int
	client  Client
	run     *run
	rng     *rand.PCG
	backoff time.Duration
	x       Exchange
	ring    ring

	// pending is the request that was begun and not recorded; it outlives the
	// goroutine when the run ends first.
	pending struct {
		is       bool
		intended time.Duration
	}
	ended counts // requests recorded, by where their intended time falls

	begun  atomic.Int64 // requests begun
	unsent atomic.Int64 // of these, those that ended before they were sent
	dials  atomic.Int64
	open   atomic.Int64
}

// counts are requests of the measured span and outside of it.
type counts struct{ steady, other int64 }

func (c *counts) add(steady record.Span, intended time.Duration) {
	if within(steady, intended) {
		c.steady++
	} else {
		c.other++
	}
}

func within(s record.Span, t time.Duration) bool { return t >= s.From && t < s.To }

// perform sends the next request of the mix and records what became of it. The
// connection has been free since free. It returns false when the run ended
// before the request did.
func (c *connection) perform(ctx context.Context, id int64, intended, free time.Duration, openLoop bool) bool {
	c.x = Exchange{Request: c.run.mix.pick(c.rng), Timeout: c.run.plan.Timeout}
	c.pending.is, c.pending.intended = true, intended
	c.begun.Add(1)
	err := c.client.Do(ctx, &c.x)
	if c.x.Dials > 0 {
		c.dials.Add(int64(c.x.Dials))
	}
	if open := int64(c.x.Open); c.open.Load() != open {
		c.open.Store(open)
	}
	if err != nil && ctx.Err() != nil {
		return false
	}
	s := sample{
		intended: intended, sent: c.x.Sent, first: c.x.FirstByte, done: c.x.Done, id: id,
		bytesIn: clamp32(c.x.BytesIn), bytesOut: clamp32(c.x.BytesOut),
		request: int32(c.x.Request), status: uint16(c.x.Status),
	}
	if !openLoop && c.x.Sent > 0 {
		// A closed loop's request is intended once its connection is there.
		s.intended = min(intended+c.x.Opening, c.x.Sent)
	}
	if c.x.Sent > 0 {
		s.own = max(0, c.x.Sent-max(intended, free)-c.x.Opening)
	} else {
		c.unsent.Add(1)
	}
	if err != nil {
		s.kind = c.run.failed(err)
	}
	c.ended.add(c.run.steady, s.intended)
	c.pending.is = false
	for !c.ring.push(&s) {
		c.run.collector.empty(c)
	}
	if err != nil && c.x.Sent == 0 {
		c.pause(ctx)
	} else {
		c.backoff = 0
	}
	return true
}

// pause waits after a connection could not be opened.
func (c *connection) pause(ctx context.Context) {
	c.backoff = min(max(2*c.backoff, backoffFirst), backoffLongest)
	timer := time.NewTimer(c.backoff)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// clamp32 bounds a size to what a sample holds: 4 GiB.
func clamp32(n int64) uint32 { return uint32(min(max(n, 0), 1<<32-1)) }

// mix chooses requests by their weights. It is immutable.
type mix struct {
	upTo  []uint64 // cumulative weights
	total uint64
}

func newMix(weights []int) mix {
	var m mix
	for _, w := range weights {
		if w <= 0 {
			w = 1
		}
		m.total += uint64(w)
		m.upTo = append(m.upTo, m.total)
	}
	return m
}

// pick returns an index with the probability of its weight. The modulo's bias
// is below total/2^64.
func (m *mix) pick(rng *rand.PCG) int {
	if len(m.upTo) == 1 {
		return 0
	}
	at := rng.Uint64() % m.total
	for i, upTo := range m.upTo {
		if at < upTo {
			return i
		}
	}
	return len(m.upTo) - 1
}
