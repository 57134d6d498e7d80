package anatomy

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/record/breakdown"
)

// Bounds of what is kept of the goroutines that requests wait for.
const (
	maxServing     = 4096 // of one trace, that are watched
	maxSerial      = 16   // kinds that the record keeps
	maxSerialKinds = 1024
)

// serving is the work of one goroutine that requests wait for.
//
// Subtle: it is busy while a request waits for it, whatever it does then, and
// while it works though none waits (after its answer). The first alone would miss
// that work, the second alone what it waits for on its requests' behalf. A wait that
// a goroutine ends which serves no request is such work too: of several workers that
// wake all requests at once only one is seen to be waited for. Waits for the network
// are not: a connection's reader waits for it while it has nothing to do.
type serving struct {
	entry         nameID
	from          trace.Time // the trace, or the goroutine, begins
	busy          []stop     // disjoint, in order: the last ones, which a wait may yet join
	closed        time.Duration
	closedTo      trace.Time // where what closed sums ends
	onCPU, queued time.Duration
	waits         time.Duration
	requests      int
}

// keptBusy is how many busy stretches stay open to be joined by a wait that began
// before them and ends later; what such a wait adds before them is not counted.
const keptBusy = 64

// work adds a stretch in which the goroutine is busy. Stretches come in the order
// of their ends.
func (s *serving) work(from, to trace.Time) {
	from = max(from, s.closedTo)
	for n := len(s.busy); n > 0 && s.busy[n-1].to >= from; n-- {
		from = min(from, s.busy[n-1].from)
		s.busy = s.busy[:n-1]
	}
	if len(s.busy) == keptBusy {
		s.closed += s.busy[0].to.Sub(s.busy[0].from)
		s.closedTo = s.busy[0].to
		s.busy = append(s.busy[:0], s.busy[1:]...)
	}
	s.busy = append(s.busy, stop{from, to})
}

// did adds a stretch of the goroutine's own.
func (s *serving) did(state stateID, from, to trace.Time) {
	switch took := to.Sub(from); state {
	case running, assist, stopped:
		s.onCPU += took
	case runnable:
		s.queued += took
	case syscalling:
	default:
		return
	}
	s.work(from, to)
}

// delegates reports whether a goroutine, which ends another's wait, is one that works
// for it and does not hand it a request's work.
func (all *goroutines) delegates(by trace.GoID) bool {
	g := all.byID[by]
	if g == nil || g.conn != nil && g.conn.server != serverNone {
		return false
	}
	of, _ := g.request()
	return of == nil
}

// waited notes that goroutine g, which serves or helps a request, waited for the
// goroutine by. Neither a goroutine of a request's own nor one that serves another
// request is a server of all.
func (all *goroutines) waited(g *goroutine, by trace.GoID, from, to trace.Time) {
	c, serial := g.request()
	if c == nil {
		return
	}
	w := all.byID[by]
	if w == nil || w.entry == 0 || w.conn != nil && w.conn.server != serverNone {
		return
	}
	if of, _ := w.request(); of != nil {
		return
	}
	s := w.serving
	if s == nil {
		if len(all.served) >= maxServing {
			return
		}
		s = &serving{entry: w.entry, from: max(all.first, w.born)}
		w.serving = s
		all.served = append(all.served, s)
	}
	from = max(from, s.from)
	s.work(from, to)
	s.waits += to.Sub(from)
	if c.servedIn != serial {
		c.servedBy, c.servedIn = c.servedBy[:0], serial
	}
	if !slices.Contains(c.servedBy, s) {
		c.servedBy = append(c.servedBy, s)
		s.requests++
	}
}

// serialKind sums goroutines that began in one function, over all traces.
type serialKind struct {
	goroutines           int
	requests             int
	waits, busy          time.Duration
	onCPU, queued, lived time.Duration
}

// addServing takes what the goroutines of one trace, which ends at end, had to do.
func (a *collector) addServing(list []*serving, end trace.Time) {
	kinds := map[nameID]*serialKind{} // of this trace: the same goroutines live in the next one
	for _, s := range list {
		k := kinds[s.entry]
		if k == nil {
			k = &serialKind{}
			kinds[s.entry] = k
		}
		busy := s.closed
		for _, b := range s.busy {
			busy += b.to.Sub(b.from)
		}
		k.goroutines++
		k.requests += s.requests
		k.waits, k.busy, k.onCPU, k.queued = k.waits+s.waits, k.busy+busy, k.onCPU+s.onCPU, k.queued+s.queued
		k.lived += max(1, end.Sub(s.from))
	}
	for entry, k := range kinds {
		sum := a.serials[entry]
		if sum == nil {
			if len(a.serials) >= maxSerialKinds {
				continue
			}
			sum = &serialKind{}
			a.serials[entry] = sum
		}
		sum.goroutines = max(sum.goroutines, k.goroutines)
		sum.requests += k.requests
		sum.waits, sum.busy, sum.onCPU, sum.queued = sum.waits+k.waits, sum.busy+k.busy, sum.onCPU+k.onCPU, sum.queued+k.queued
		sum.lived += k.lived
	}
}

// serial returns the goroutines that requests wait for, those waited for longest
// first.
func (a *collector) serial() []breakdown.Serial {
	var list []breakdown.Serial
	for entry, k := range a.serials {
		part := func(d time.Duration) float64 { return min(1, float64(d)/float64(k.lived)) }
		list = append(list, breakdown.Serial{
			Goroutine: a.stacks.names[entry], Goroutines: k.goroutines, Requests: k.requests, WaitNS: int64(k.waits) / int64(k.requests),
			Utilization: part(k.busy), OnCPU: part(k.onCPU), Queued: part(k.queued), ServiceNS: int64(k.busy) / int64(k.requests),
		})
	}
	slices.SortFunc(list, func(x, y breakdown.Serial) int {
		return cmp.Or(cmp.Compare(y.WaitNS*int64(y.Requests), x.WaitNS*int64(x.Requests)), cmp.Compare(x.Goroutine, y.Goroutine))
	})
	return list[:min(len(list), maxSerial)]
}
