package pace

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"time"

	"github.com/redline-go/redline/scenario"
)

// Arrivals are the tickets of one event loop of an open loop, in the order of
// their intended times. Its only pointer is to the shared pace, and it never
// allocates.
//
// The loops share the load without communicating:
//
//   - Evenly spaced and replayed tickets have one numbering. Ticket n belongs to
//     loop n mod loops. With a rate per connection, ticket n belongs to
//     connection n mod Connections, so that the m-th request of connection i is
//     due at ticket i + m x Connections and the phases are spread evenly;
//     connection i belongs to loop i mod loops.
//   - Poisson arrivals: each loop draws a process of its own at its share of the
//     rate. Independent Poisson processes add up to one whose rate is the sum
//     (Kingman, Poisson Processes, 1993, section 2.2). With a rate per
//     connection each ticket goes to one of the loop's connections at random,
//     which makes the arrivals of every connection a Poisson process by itself.
//
// In every case the numbers of two loops differ, and with a rate per connection
// n mod Connections is the ticket's connection.
type Arrivals struct {
	pace    *Pace
	part    part
	Poisson bool  // each loop draws its own process; see above
	i       int64 // tickets taken
	next    Ticket
	stream  stream
	// A stream cannot go back, so past states are kept for Due: at the beginning, at
	// the last ticket of the warm-up, and two of the last seconds.
	begin, steady, older, newer stream
}

// Ticket is one request of an open loop that is due.
type Ticket struct {
	N  int64         // its number, which no other ticket has
	At time.Duration // since the load's start
	ok bool          // there is one
}

// NewArrivals returns the tickets of one of the event loops. p must be New's result for l.
// The same seed gives the same Poisson arrivals.
func NewArrivals(l scenario.Load, p *Pace, loop, loops int, seed uint64) Arrivals {
	a := Arrivals{pace: p, part: newPart(l, loop, loops)}
	a.Poisson = l.Arrivals == scenario.PoissonArrivals && l.Replay == nil
	if a.Poisson {
		a.stream = stream{rng: *rand.NewPCG(seed, uint64(loop)), left: math.MaxInt64}
		if p.bound > 0 {
			a.stream.left = a.part.of(p.bound)
		}
		a.stream.draw(p, &a.part)
		a.begin, a.steady, a.older, a.newer = a.stream, a.stream, a.stream, a.stream
	}
	a.fill()
	return a
}

// Peek returns the next ticket; false when none is left.
func (a *Arrivals) Peek() (n int64, at time.Duration, ok bool) {
	return a.next.N, a.next.At, a.next.ok
}

// Take consumes the ticket that Peek returns.
func (a *Arrivals) Take() {
	if !a.next.ok {
		return
	}
	a.i++
	if a.Poisson {
		a.stream.draw(a.pace, &a.part)
		a.mark()
	}
	a.fill()
}

// fill finds the next ticket.
func (a *Arrivals) fill() {
	switch {
	case a.Poisson:
		s := &a.stream
		a.next = Ticket{s.number(&a.part), s.at, s.ok}
	case a.part.size == 0:
		a.next = Ticket{}
	default:
		n := a.part.ticket(a.i)
		at, ok := a.pace.at(n)
		a.next = Ticket{n, at, ok}
	}
}

// Due returns how many of this loop's tickets, taken or not, are due before t. Poisson
// arrivals are counted one by one from the nearest known state, which is cheap at the
// load's start, at the end of the warm-up and near the loop's position.
func (a *Arrivals) Due(t time.Duration) int64 {
	if !a.Poisson {
		return a.part.of(a.pace.Due(t))
	}
	s := a.begin
	for _, later := range []*stream{&a.steady, &a.older, &a.newer, &a.stream} {
		if later.ok && later.at <= t && later.count > s.count {
			s = *later
		}
	}
	for s.ok && s.at < t {
		s.draw(a.pace, &a.part)
	}
	return s.count
}

// mark keeps the states from which Due starts.
func (a *Arrivals) mark() {
	s := &a.stream
	if !s.ok {
		return
	}
	if s.at <= a.pace.steady {
		a.steady = *s
	}
	if s.at-a.newer.at >= time.Second {
		a.older, a.newer = a.newer, *s
	}
}

// stream is a Poisson process at its next ticket. Times of a process of
// rate 1 are turned into intended times through the integral of the rate
// (time-rescaling: Brown et al., Neural Computation 14, 2002, section 2.2). The
// sum of the gaps is one float64, whose rounding is a millionth of a gap after
// 10^10 tickets.
type stream struct {
	rng   rand.PCG
	sum   float64 // of the whole load's integral at the ticket
	count int64   // tickets before this one
	left  int64   // tickets of the measured span that may follow
	at    time.Duration
	pick  uint64 // random, for the ticket's connection
	drawn bool
	ok    bool
}

// draw moves on to the next ticket.
func (s *stream) draw(p *Pace, part *part) {
	if s.drawn && s.ok {
		s.count++
		if s.at >= p.steady {
			s.left--
		}
	}
	s.drawn = true
	if part.size == 0 {
		s.ok = false
		return
	}
	s.sum += exponential(&s.rng) * float64(part.cycle) / float64(part.size)
	s.at, s.ok = p.reach(s.sum)
	if s.at >= p.steady && s.left <= 0 {
		s.ok = false
	}
	if part.perConnection {
		s.pick = s.rng.Uint64()
	}
}

// number returns the ticket's number, which no other loop's ticket has.
func (s *stream) number(p *part) int64 {
	if p.size == 0 {
		return 0
	}
	which, _ := bits.Mul64(s.pick, uint64(p.size))
	return s.count*p.cycle + p.loop + int64(which)*p.loops
}

// part is one loop's share of the tickets 0, 1, 2...: of each cycle of
// tickets those at loop, loop+loops, loop+2 loops...
type part struct {
	loop, loops   int64
	cycle         int64 // loops, or connections where each has its own rate
	size          int64 // tickets of a cycle that are the loop's
	perConnection bool
}

func newPart(l scenario.Load, loop, loops int) part {
	p := part{loop: int64(loop), loops: int64(loops), cycle: int64(loops)}
	if l.PerConnection > 0 && l.Replay == nil {
		p.cycle, p.perConnection = int64(l.Connections), true
	}
	p.size = p.below(p.cycle)
	return p
}

// below returns how many of the first n tickets of a cycle are the loop's.
func (p *part) below(n int64) int64 {
	if n <= p.loop {
		return 0
	}
	return (n - p.loop + p.loops - 1) / p.loops
}

// of returns how many of the tickets below n are the loop's.
func (p *part) of(n int64) int64 {
	return n/p.cycle*p.size + p.below(n%p.cycle)
}

// ticket returns the number of the loop's i-th ticket, from 0.
func (p *part) ticket(i int64) int64 {
	return i/p.size*p.cycle + p.loop + i%p.size*p.loops
}
