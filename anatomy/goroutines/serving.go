package goroutines

import (
	"slices"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/server"
)

// maxServing bounds how many goroutines of one trace are watched because requests wait for them.
const maxServing = 4096

// Serving is the work of one goroutine that requests wait for.
//
// Subtle: it is busy while a request waits for it, whatever it does then, and while it
// works though none waits (after its answer). The first alone would miss that work, the
// second alone what it waits for on its requests' behalf. A wait that is ended by a
// goroutine that serves no request is such work too: of several workers that wake all
// requests at once, only one is seen to be waited for. Waits for the network are not: a
// connection's reader waits for it while it has nothing to do.
type Serving struct {
	Entry         interned.Name
	From          trace.Time // the trace, or the goroutine, begins
	Busy          []stop     // disjoint, in order: the last ones, which a wait may still join
	Closed        time.Duration
	closedTo      trace.Time // where what closed sums ends
	OnCPU, Queued time.Duration
	Calls         *Calls // shared by all that began in the same function
	Waits         time.Duration
	Requests      int
}

// keptBusy is how many busy stretches stay open to be joined by a wait that began
// before them and ends later; what such a wait adds before them is not counted.
const keptBusy = 64

// work adds a stretch in which the goroutine is busy. Stretches come in the order
// of their ends.
func (s *Serving) work(from, to trace.Time) {
	from = max(from, s.closedTo)
	for n := len(s.Busy); n > 0 && s.Busy[n-1].To >= from; n-- {
		from = min(from, s.Busy[n-1].From)
		s.Busy = s.Busy[:n-1]
	}
	if len(s.Busy) == keptBusy {
		s.Closed += s.Busy[0].To.Sub(s.Busy[0].From)
		s.closedTo = s.Busy[0].To
		s.Busy = append(s.Busy[:0], s.Busy[1:]...)
	}
	s.Busy = append(s.Busy, stop{from, to})
}

// did adds a stretch of the goroutine's own; stack is that of a system call.
func (s *Serving) did(state interned.State, stack interned.Stack, from, to trace.Time) {
	switch took := to.Sub(from); state {
	case interned.Running, interned.Assist, interned.Stopped:
		s.OnCPU += took
	case interned.Runnable:
		s.Queued += took
	case interned.Syscalling:
		s.Calls.add(stack, took)
	default:
		return
	}
	s.work(from, to)
}

// delegates reports whether a goroutine that ends another's wait works for it, rather
// than passing it a request's work.
func (all *Set) delegates(by trace.GoID) bool {
	g := all.ByID[by]
	if g == nil || g.Conn != nil && g.Conn.Server != server.None {
		return false
	}
	of, _ := g.Request()
	return of == nil
}

// waited notes that goroutine g, which serves or helps a request, waited for goroutine
// by. A request's own goroutine and one that serves another request do not count.
func (all *Set) waited(g *Goroutine, by trace.GoID, from, to trace.Time) {
	c, serial := g.Request()
	if c == nil {
		return
	}
	w := all.ByID[by]
	if w == nil || w.Entry == 0 || w.Conn != nil && w.Conn.Server != server.None {
		return
	}
	if of, _ := w.Request(); of != nil {
		return
	}
	s := w.serving
	if s == nil {
		if len(all.Served) >= maxServing {
			return
		}
		s = &Serving{Entry: w.Entry, From: max(all.First, w.Born), Calls: all.callsOf(w.Entry)}
		w.serving = s
		all.Served = append(all.Served, s)
	}
	from = max(from, s.From)
	s.work(from, to)
	s.Waits += to.Sub(from)
	if c.servedIn != serial {
		c.servedBy, c.servedIn = c.servedBy[:0], serial
	}
	if !slices.Contains(c.servedBy, s) {
		c.servedBy = append(c.servedBy, s)
		s.Requests++
	}
}

// Woken notes what ended a wait of a goroutine. counts is false for one that serves or helps a request, and for waits that say
// nothing of what the goroutine does next: for a lock, whoever held it works for itself, and for the collector. request reports whether
// the wake-up follows from a request.
func (all *Set) Woken(g *Goroutine, from interned.State, e Ended) (counts, request bool) {
	if of, _ := g.Request(); of != nil || g.Conn != nil && g.Conn.Server != server.None {
		return false, false
	}
	switch {
	case from == interned.Network, from == interned.Sleeping:
	case from == interned.Lock || !from.Followed() || e.By == 0 && e.Stack != TimerWaker:
		return false, false
	}
	g.fed = false
	if w := all.ByID[e.By]; w != nil {
		of, _ := w.Request()
		g.fed = of != nil || w.fed
	}
	return true, g.fed
}
