package ladder

import (
	"time"

	"github.com/redline-go/redline/verify"
)

// Collector gathers what one side did by the turns it had.
//
// A request and a window's CPU belong to the side's last turn that had begun: work that
// outlasts a turn is that turn's, not the other side's.
type Collector struct {
	Turns Turns
	A     bool          // side a
	From  time.Duration // begin of the span, on the clock of the times below

	turns []turn
}

// turn is what was counted of one.
type turn struct {
	even    int64 // answers in the measured part
	latency verify.Latencies
	cpu     float64 // ns
}

// Answered counts n successes that ended in the window that begins at a time, after some
// latency in ns.
func (c *Collector) Answered(at time.Duration, ns, n int64) {
	t, measured := c.turn(at)
	if t == nil {
		return
	}
	t.latency.Add(ns, n)
	if measured {
		t.even += n
	}
}

// Spent counts CPU of the service, in ns, in the window that begins at a time.
func (c *Collector) Spent(at time.Duration, ns float64) {
	if t, _ := c.turn(at); t != nil && ns > 0 {
		t.cpu += ns
	}
}

func (c *Collector) turn(at time.Duration) (*turn, bool) {
	if c.turns == nil {
		c.turns = make([]turn, len(c.Turns.First))
		for i := range c.turns {
			c.turns[i].latency = verify.Latencies{}
		}
	}
	pair, measured := c.Turns.at(at-c.From, c.A)
	if pair < 0 || at < c.From {
		return nil, false
	}
	return &c.turns[pair], measured
}

// Blocks returns a block per turn.
func (c *Collector) Blocks() []verify.Block {
	blocks := make([]verify.Block, 0, len(c.turns))
	for _, t := range c.turns {
		blocks = append(blocks, t.block(c.Turns.Hold))
	}
	return blocks
}

// Whole returns one block of all turns together.
func (c *Collector) Whole() verify.Block {
	all := turn{latency: verify.Latencies{}}
	for _, t := range c.turns {
		all.even, all.cpu = all.even+t.even, all.cpu+t.cpu
		for bucket, n := range t.latency {
			all.latency[bucket] += n
		}
	}
	return all.block(time.Duration(len(c.turns)) * c.Turns.Hold)
}

func (t turn) block(measured time.Duration) verify.Block {
	b := verify.Block{Values: map[string]float64{}, Latency: t.latency}
	if t.even > 0 && measured > 0 {
		b.Values[Throughput] = float64(t.even) / measured.Seconds()
	}
	if n := t.latency.Total(); n > 0 && t.cpu > 0 {
		b.Values[CPU] = t.cpu / float64(n)
	}
	return b
}
