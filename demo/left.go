package demo

import (
	"math/rand/v2"
	"time"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/notation"
)

const (
	// usualSteps is how many steps findings called for in each whole run on two cores: what a ladder
	// "order" will have is known only at its end.
	usualSteps = 7
	// usualFall is by what the turns of a comparison are shorter than those of the one before, as
	// latency falls.
	usualFall = 0.7
	// diagnosed is the part of a rung's time beside the turns that is over when its turns begin:
	// answers compared, the diagnosed run, requests taken apart.
	diagnosed = 0.65
)

// course is how far a ladder is, and what it took.
type course struct {
	took  time.Duration // since the first rung began
	turns time.Duration // of it, the turns of comparisons that are over
	rungs int           // that are over
	// laid says that a rung's turns are next; else a rung begins.
	laid bool
	left int // comparisons to come
	// ahead are the lengths of the first of their turns, as far as latencies are known; least is
	// the shortest that there is.
	ahead []time.Duration
	least time.Duration
	again time.Duration // of a longer look: one at the end, and one for each four steps before
}

// remaining is how long the ladder takes from here; 0 before a rung is over.
func (c course) remaining() time.Duration {
	rungs := float64(c.rungs)
	if rungs == 0 {
		return 0
	}
	if c.laid {
		rungs += diagnosed
	}
	fixed := float64(c.took-c.turns) / rungs
	all, turns := c.again+c.again*time.Duration(c.left)/4, c.least
	for n := range c.left {
		if turns = max(time.Duration(usualFall*float64(turns)), c.least); n < len(c.ahead) {
			turns = c.ahead[n]
		}
		all += turns
		if n == 0 && c.laid {
			all += time.Duration((1 - diagnosed) * fixed)
		} else {
			all += time.Duration(fixed)
		}
	}
	return all
}

// remaining words how long the ladder may still take, for progress; "" before the first rung of
// this run is there. turns are those that come next, nil where there are none; over says that the
// rung's are over, and that the longer look comes.
func (c *climb) remaining(turns *ladder.Turns, over bool) string {
	if c.climbed == 0 {
		return ""
	}
	meetings := time.Duration(1)
	if c.Full {
		meetings = ladder.Pairs
	}
	span := func(p95 int64) time.Duration {
		of := time.Duration(p95)
		// Which side begins changes no length, and the climb's own generator is not drawn from to word this.
		laid := ladder.Lay(of, of, c.pairsOf(), rand.New(rand.NewPCG(0, 0)))
		return meetings * laid.Span()
	}
	taken := len(c.result.Rungs) - 1 // steps
	at := course{
		took: time.Since(c.begun), turns: c.turned, rungs: c.climbed, least: span(0),
		again: 2*c.Duration + c.Warmup + 2*time.Second,
	}
	if over {
		taken, at.rungs = taken+1, at.rungs+1
	}
	if at.left = max(usualSteps-taken, 0); !over {
		at.left = max(at.left, 1)
	}
	if c.Ladder == ladder.Stack {
		at.left, at.again = len(stack)-taken, 0
	}
	if c.Whole {
		at.left++ // the first rung against the last
	}
	if c.MaxSteps > 0 {
		at.left, at.again = min(at.left, c.MaxSteps-1-taken), 0
	}
	if at.laid = turns != nil; at.laid {
		at.ahead = append(at.ahead, meetings*turns.Span())
	}
	if n := len(c.steps); n > 0 {
		at.ahead = append(at.ahead, span(c.steps[n-1].P95))
	}
	return "; about " + notation.Time(at.remaining().Round(time.Second)) + " left"
}
