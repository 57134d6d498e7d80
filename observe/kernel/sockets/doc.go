// Package sockets samples the target's own TCP sockets by sock_diag
// (sock_diag(7)): the kernel's TCP_INFO of each connection, and how
// full the accept queues of its listening sockets are.
//
// A socket is the target's if a descriptor of one of its processes refers to
// it, or if its local port is one the target listens on: so a connection counts
// before it is accepted. With SO_REUSEPORT another process may share that port;
// its connections are then counted as well. Descriptors are listed once a
// second, so a connection outwards is found up to a second late, and one that
// lived shorter may never be. The counts of package events have no such gap.
//
// Accept queues are read four times a window and reported by their fullest; all
// else is read once per window. The kernel walks its whole table of connections
// for that (0.2 ms if it is in a cache, 0.7 ms on a busy host) and writes out
// the requested ones, 0.3 us each; a filter, which the kernel runs, restricts them to
// the target's ports, so that the generator's ends of the same connections cost
// nothing. If necessary, all of it is read less often to stay below 1 % of a CPU, and
// Health says so.
//
// The kernel lists thousands of connections in parts of about a hundred. Each
// part is dated by the call in which it was made, and a connection's amounts are
// split over windows by its own two readings. So the error of a date is that of a
// part, some 50 us, or of the walk if there is only one part; a walk that was
// interrupted is repeated.
//
// Amounts are sums over sockets that come and go. Amounts of a connection between
// its last sample and its end are left out.
//
// This package speaks sock_diag on a bare netlink socket: the libraries allocate a
// dozen values per socket, for thousands of them ten times a second. Rejected: asking
// for known connections one by one, which takes 1 us each and misses new ones.
package sockets

import (
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/vitals"
	"github.com/redline-go/redline/record"
)

// Source is the observe.Source of the target's sockets.
type Source struct {
	vitals vitals.Vitals
	state  *state // set by Open, released by Run
}

var (
	_ observe.Source   = (*Source)(nil)
	_ observe.Reporter = (*Source)(nil)
)

// New returns a source that has not been opened.
func New() *Source { return &Source{} }

// Describe implements observe.Source.
func (*Source) Describe() observe.Description {
	return observe.Description{
		Name:  "sockets",
		Doc:   "Round trips, retransmissions, limits and queues of the target's TCP connections, and how full its accept queues are.",
		Needs: "a target process on this Linux host, of the same user or with root; root too if it is in another network namespace.",
		Cost: "no code in the target; the kernel walks its table of connections, at most 1 % of a CPU, less often where " +
			"there are thousands.",
	}
}

// Health implements observe.Reporter. It names the figures that were read less often than
// once per window, to stay below 1 % of a CPU.
func (s *Source) Health() record.SourceHealth { return s.vitals.Health(s.Describe().Name) }
