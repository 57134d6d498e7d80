package load

import (
	"math/rand/v2"
	"time"

	"github.com/redline-go/redline/load/pace"
)

// Bounds of the pause after a connection could not be opened. It doubles from the first
// to the longest, so that a loop neither spins on a target that refuses nor leaves it
// alone for long once it is back.
const (
	backoffFirst   = time.Millisecond
	backoffLongest = 100 * time.Millisecond
)

// lane carries one request at a time: in a closed loop it is the virtual user, in an
// open one a slot for a due request. A connection is shared by as many lanes as it has
// streams; see group.
type lane struct {
	x     Exchange
	id    int // of all lanes of the run
	group *group
	state laneState
	link  *link // where the request waits or was sent
	queue *lane // the next lane that waits for the same link

	number   int64         // of the request: its ticket in an open loop
	intended time.Duration // when it was due
	// since is when the generator could have sent it: it was due, the lane was
	// free, and a connection was there.
	since time.Duration
	begun time.Duration
	own   time.Duration // see account.Sample.Own

	resent  uint8         // how often the request went out again; see resend.go
	drawn   bool          // data went into it: the next request takes the next rows
	reused  bool          // it went out over a connection that had been idle
	free    time.Duration // when the last request ended; zero before the first
	backoff time.Duration
	wake    time.Duration // while it is in the loop's alarms
	behind  []pace.Ticket // its connection's due tickets that wait for it, in order; At is run time
	rng     rand.PCG
}

type laneState uint8

// States of a lane.
const (
	laneFree    laneState = iota // without a request
	laneWaiting                  // for a connection, or for room on one
	laneSent
	laneAgain // its request goes out again; the lane is among the loop's hops and on no link
)

// group is the lanes that share connections, and the connections, one per host
// of the plan.
type group struct {
	lanes []lane
	links []*link
}

// deadline is when the lane's request times out: the timeout bounds the wait
// for a connection, and then the answer.
// A request that waits for a connection has a timeout for that, so the two together take at
// most twice the plan's.
func (u *lane) deadline(timeout time.Duration) time.Duration {
	if u.x.Sent > 0 {
		return u.x.Sent + timeout
	}
	return u.begun + timeout
}

// pause returns how long to wait after a request that could not be sent.
func (u *lane) pause() time.Duration {
	u.backoff = min(max(2*u.backoff, backoffFirst), backoffLongest)
	return u.backoff
}

// alarms are sleeping lanes, the first to wake on top: a binary heap that avoids the
// interface of container/heap, which would box every lane.
type alarms []*lane

func (a *alarms) add(u *lane, at time.Duration) {
	u.wake = at
	*a = append(*a, u)
	h := *a
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].wake <= h[i].wake {
			return
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

// due removes and returns a lane whose time has come; nil when there is none.
func (a *alarms) due(now time.Duration) *lane {
	h := *a
	if len(h) == 0 || h[0].wake > now {
		return nil
	}
	first, last := h[0], len(h)-1
	h[0], h[last] = h[last], nil
	h = h[:last]
	*a = h
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			return first
		}
		if right := down + 1; right < last && h[right].wake < h[down].wake {
			down = right
		}
		if h[i].wake <= h[down].wake {
			return first
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}
