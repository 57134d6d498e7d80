package sockets

import (
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// Amounts that are summed up over sockets, by their place in amounts.
const (
	segments = iota
	retransmits
	busy // us, as those that follow
	rwnd
	sndbuf
	path // busy and limited by neither
	kinds
)

// totals turns the cumulative figures of sockets that come and go into amounts
// of each window. Each socket's is split by the dates of its own two readings,
// which for thousands of sockets lie milliseconds apart. The zero totals, with
// width set, is ready.
type totals struct {
	width time.Duration

	last  map[uint64]figures // by cookie; nil before the first round
	round uint64
	began time.Duration // of this round, its first reading
	prior time.Duration // of the round before

	// Sockets that were read one after the other both times are added up before
	// they are split.
	span timebase.Span
	sum  [kinds]uint64

	next int64 // the window to deliver next; windows before it are closed
	open []amounts
}

// amounts are those of one window.
type amounts [kinds]float64

// figures are the cumulative figures of one socket.
type figures struct {
	segments, retransmits uint32
	busy, rwnd, sndbuf    uint64
	at                    time.Duration
	round                 uint64
}

// begin begins a round of readings, of which the first was taken at that instant.
func (t *totals) begin(at time.Duration) {
	t.prior, t.began = t.began, at
	if t.last == nil {
		t.last = map[uint64]figures{} // no connections is a base as well
		// A window that began a moment ago counts as whole: readings come
		// when their edge has passed.
		t.next, t.open = timebase.Window(at+t.width*9/10, t.width), nil
	}
	t.round++
}

// add takes a socket's figures, read at their instant. born means that it cannot
// have existed at the last round, so that they count from zero; of another new
// socket only its growth from now on counts. Unsigned differences are right across
// a wrap at 32 bits.
func (t *totals) add(cookie uint64, now figures, born bool) {
	old, known := t.last[cookie]
	now.round = t.round
	t.last[cookie] = now
	if !known {
		old.at = t.prior
	}
	if !known && !born {
		return
	}
	if span := (timebase.Span{From: old.at, To: now.at}); span != t.span {
		t.split()
		t.span = span
	}
	t.sum[segments] += uint64(now.segments - old.segments)
	t.sum[retransmits] += uint64(now.retransmits - old.retransmits)
	// The kernel sums up three clocks at slightly different instants, so one may
	// seem to fall by a tick.
	had, waited, filled := rise(old.busy, now.busy), rise(old.rwnd, now.rwnd), rise(old.sndbuf, now.sndbuf)
	t.sum[busy] += had
	t.sum[rwnd] += waited
	t.sum[sndbuf] += filled
	t.sum[path] += rise(waited+filled, had)
}

// split divides the sums among the windows.
func (t *totals) split() {
	for kind, sum := range t.sum {
		if sum == 0 {
			continue
		}
		timebase.Split(t.span, t.width, float64(sum), func(w int64, part float64) {
			if w < t.next {
				return
			}
			t.reach(w)
			t.open[w-t.next][kind] += part
		})
	}
	t.sum = [kinds]uint64{}
}

// reach makes room for window w.
func (t *totals) reach(w int64) {
	for t.next+int64(len(t.open)) <= w {
		t.open = append(t.open, amounts{})
	}
}

// end ends a round: sockets that were not added in it are forgotten, and report is
// called with each window that was over when it began.
func (t *totals) end(describe func(w int64, of *amounts)) {
	t.split()
	for cookie, f := range t.last {
		if f.round != t.round {
			delete(t.last, cookie)
		}
	}
	over := timebase.Window(t.began, t.width)
	if over <= t.next {
		return
	}
	t.reach(over - 1)
	n := int(over - t.next)
	for i := range n {
		describe(t.next+int64(i), &t.open[i])
	}
	t.open, t.next = append(t.open[:0], t.open[n:]...), over
}

// forget makes the next round a new base: the amount since the last one stays
// absent.
func (t *totals) forget() { *t = totals{width: t.width, round: t.round} }

// rise is the growth of a counter. One that fell is a field that the kernel reset, as of
// a socket that was disconnected: it counts as none.
func rise(from, to uint64) uint64 {
	if to < from {
		return 0
	}
	return to - from
}
