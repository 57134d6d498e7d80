package goroutines

import (
	"sort"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
)

// past is a stretch of one state in a goroutine's past. It ends where the next one
// begins, or where the goroutine's current stretch does.
type past struct {
	from  trace.Time
	by    trace.GoID // who ended it, when it was a wait that can be followed
	stack interned.Stack
	state interned.State
}

// Bounds of what is remembered: per goroutine, and in total (24 bytes each). While half of the
// total is free, a goroutine may have four times as much: three hundred calls that one makes for
// a request are two thousand stretches.
const (
	maxPast    = 512
	maxPastAll = 1 << 20
	morePast   = 4 * maxPast
)

// shortCall is the length up to which a system call between two runs counts as running:
// a goroutine that uses the network makes two of them per message, and they would push
// out what is worth remembering.
const shortCall = 20 * time.Microsecond

// history is the last part of what a goroutine did: a ring.
type history struct {
	ring []past
	head int // of the oldest, once the ring is full
	n    int
}

// at returns the i-th stretch, oldest first. A ring's length is a power of two.
func (h *history) at(i int) *past { return &h.ring[(h.head+i)&(len(h.ring)-1)] }

// before returns the number of stretches that begin before t.
func (h *history) before(t trace.Time) int {
	return sort.Search(h.n, func(i int) bool { return h.at(i).from >= t })
}

// add appends a stretch. If the ring may not grow, the oldest goes.
func (h *history) add(p past, all *Set) {
	if h.n > 0 {
		last := h.at(h.n - 1)
		if last.state == p.state && last.stack == p.stack && last.by == 0 && p.state != interned.Sleeping {
			last.by = p.by
			return
		}
		if p.state == interned.Running && last.state == interned.Syscalling && p.from.Sub(last.from) < shortCall &&
			h.n > 1 && h.at(h.n-2).state == interned.Running {
			h.n--
			return
		}
	}
	if h.n == len(h.ring) && !h.grow(all) {
		if h.n == 0 {
			return
		}
		h.head, h.n = (h.head+1)&(len(h.ring)-1), h.n-1
	}
	*h.at(h.n) = p
	h.n++
}

func (h *history) grow(all *Set) bool {
	more := max(8, len(h.ring))
	most := maxPast
	if all.room > maxPastAll/2 {
		most = morePast
	}
	if len(h.ring)+more > most || more > all.room {
		return false
	}
	all.room -= more
	ring := make([]past, len(h.ring)+more)
	for i := range h.n {
		ring[i] = *h.at(i)
	}
	h.ring, h.head = ring, 0
	return true
}
