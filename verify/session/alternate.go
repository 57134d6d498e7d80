package session

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/verify"
)

// Alternator measures a block of each side in one span: both are up, and take turns
// under the load. lead is started first, at the plan's own address, and has the
// first turn.
//
// Noise of the machine from one fraction of a second to the next then affects both
// alike. On such a machine, the difference of two blocks had a standard deviation
// of 10 to 19 % one after the other, and of 8 % by turns.
type Alternator interface {
	Alternate(ctx context.Context, lead, other Side, c Course) (leads, others verify.Block, err error)
}

// Course is how two running sides take turns.
type Course struct {
	Turn time.Duration // for which a side is loaded, above zero
	Each int           // turns per side; zero means as many as fit into the block's duration
}

// Bounds on turns and on their number per block.
const (
	// Turns must contain several requests, but longer ones share less of the same
	// noise: turns of 100 and 150 ms had the same deviation, those of 500 ms twice
	// as much.
	leastTurn = 150 * time.Millisecond
	mostTurn  = 600 * time.Millisecond
	// A block has at least leastTurns per side, and at most mostTurns if launches
	// are expensive.
	leastTurns, mostTurns = 4, 60
)

// rest is the pause after every turn: no side gets new requests, and those in
// flight end. Only one side works at a time then, except for what a service does
// after it has answered.
func rest(turn time.Duration) time.Duration { return turn / 3 }

// farewell is how long both sides keep one connection at the end of the span, so that neither ends
// before it.
const farewell = time.Millisecond

// opening is the time that the sources of both sides get to open, from when both
// are ready.
const opening = 200 * time.Millisecond

// fits reports whether nearly all requests of both blocks ended within the rest
// that follows a turn. Otherwise both sides work at once, and a shared resource,
// such as a lock in a database, slows both alike and hides which of them is to
// blame.
func fits(turn time.Duration, blocks ...verify.Block) bool {
	for _, b := range blocks {
		if !(b.Latency.Quantile(0.9) <= float64(rest(turn))) {
			return false
		}
	}
	return true
}

// Alternate launches both sides and measures them by turns, and again if the
// generator spoilt the measurement. The other is launched once the first is ready:
// services that prepare a common database at start-up would interfere with each
// other.
func (l *Launcher) Alternate(ctx context.Context, lead, other Side, c Course) (leads, others verify.Block, err error) {
	err = l.repeat(func() (void, err error) {
		leads, others, void, err = l.alternate(ctx, lead, other, c)
		return void, err
	})
	return leads, others, err
}

// alternate measures them once; void joins the reasons why a block of either side
// does not count. Values are scaled to the part of the span in which a side was
// loaded.
func (l *Launcher) alternate(ctx context.Context, lead, other Side, c Course) (leads, others verify.Block, void, err error) {
	port, err := freePort(other.Plan)
	if err != nil {
		return leads, others, nil, err
	}
	if other.Plan, err = concurrent(other.Plan, port); err != nil {
		return leads, others, nil, err
	}
	clock, err := timebase.Start()
	if err != nil {
		return leads, others, nil, err
	}
	together, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	var voids [2]error
	begin := func(position int, s Side, into *verify.Block, ready func(context.Context) (time.Duration, error)) {
		plan, dir := l.plan(s), l.dir(s)
		own := byTurns(&plan.Load, c, position)
		running.Go(func() {
			b, why, err := l.block(together, s, plan, dir, meeting{clock, ready, own})
			if err != nil {
				cancel(err) // the other has no partner for turns
			}
			if rate, ok := b.Values["throughput"]; ok {
				b.Values["throughput"] = rate / own.share
			}
			*into, voids[position] = b, why
		})
	}
	first, both := make(chan struct{}), make(chan struct{})
	var start time.Duration
	begin(0, lead, &leads, func(ctx context.Context) (time.Duration, error) {
		close(first)
		if err := await(ctx, both); err != nil {
			return 0, err
		}
		return start, nil
	})
	if await(together, first) == nil {
		begin(1, other, &others, func(context.Context) (time.Duration, error) {
			start = aligned(clock.Now()+opening, l.plan(lead).Load.Warmup+rest(c.Turn))
			close(both)
			return start, nil
		})
	}
	running.Wait()
	return leads, others, errors.Join(voids[:]...), context.Cause(together)
}

// meeting is how runs that take turns agree on the time; see run.Options.
type meeting struct {
	clock timebase.Clock
	await func(context.Context) (start time.Duration, err error)
	own   turns
}

// turns is where a side's turns lie in its measured span.
type turns struct {
	turn     time.Duration
	position int // of the side: 0 has the first turn
	each     int
	share    float64 // of the span in which the side is loaded
}

// slot returns the part of the measured span that the side's n-th turn fills, with its rest.
func (t turns) slot(steady timebase.Span, n int) timebase.Span {
	width := t.turn + rest(t.turn)
	from := steady.From + rest(t.turn) + time.Duration(2*n+t.position)*width
	return timebase.Span{From: from, To: from + width}
}

// aligned returns the first time after from such that later after it a window begins, so
// that each window belongs to one turn.
func aligned(from, later time.Duration) time.Duration {
	off := (from + later) % timebase.DefaultWindow
	return from + (timebase.DefaultWindow-off)%timebase.DefaultWindow
}

// await waits for an event or the context's end, whose cause it returns.
func await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// byTurns lays out the closed loop of the side at position 0 or 1: a rest, the turn of
// 0, a rest, the turn of 1, and so on, with a rest at the end, so that every request
// of a turn ends within the span.
func byTurns(l *scenario.Load, c Course, position int) turns {
	turn := c.Turn
	most := float64(l.WithDefaults().Connections)
	each := max(leastTurns, cmp.Or(c.Each, int(l.Duration/(turn+rest(turn)))))
	l.Stages = nil
	hold := func(to float64, over time.Duration) {
		l.Stages = append(l.Stages, scenario.Stage{To: to}, scenario.Stage{To: to, Over: over})
		l.Duration += over
	}
	l.Duration = 0
	for n := range 2 * each {
		hold(0, rest(turn))
		if n%2 == position {
			hold(most, turn)
		} else {
			hold(0, turn)
		}
	}
	// The load, and then the target, ends with its last connection. The side at position 0 would end
	// while the other has its last turn, which cost that turn 60 % of its requests.
	hold(0, rest(turn)-farewell)
	hold(1, farewell)
	return turns{turn: turn, position: position, each: each, share: float64(each) * float64(turn) / float64(l.Duration)}
}
