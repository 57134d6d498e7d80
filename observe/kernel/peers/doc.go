// Package peers finds the processes of this host that the target asks, its upstreams and
// databases, and reads how much CPU they use: demand of the requests, which would otherwise look
// like that of unrelated programs.
//
// A peer is a process that holds the other end of a connection which the target opened: the accepted
// socket, or the one that listens where the target connected to, so that short connections count, too.
// The kernel lists the sockets (sock_diag(7)), and the links in /proc/PID/fd show who holds them. Each
// process that holds such a socket is a peer, so the workers that a server forked are, too.
//
// peers.cpu is the sum of the CPU clocks of the peers of one program and port (clock_gettime of the
// process's clock id, ns, ended threads included). A peer counts from when it was found, with all that
// it does: for other clients, too. Once it is one, it remains one while it lives.
//
// Left out, and not guessed: what a peer asks in turn, processes that hold no such socket (a
// helper of a peer), those that were forked and ended between two looks, and ends in another network namespace
// (a container's) or on another host. A process of another user shows its sockets to root only:
// peers.unseen counts ends whose process is not seen, and the health says on which ports. redline itself
// (the target may send it spans) and the target's own processes are no peers.
//
// Cost is bounded: connections are compared, and descriptors listed, at most once a second, and as
// seldom as needed to stay below 1 % of a CPU. All processes' descriptors are listed only if an end is new:
// some 15 ms on a host with hundreds of processes, of which 100 ms may be spent at once as the load begins.
package peers

import (
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/vitals"
	"github.com/redline-go/redline/record"
)

// Source is the observe.Source of the target's peers.
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
		Name:  "peers",
		Doc:   "CPU of the programs on this host that the target asks over TCP: its upstreams and databases.",
		Needs: "a target process on this Linux host, and peers, of the same user or with root, in one network namespace.",
		Cost: "no code in the target; the kernel walks its table of connections and lists descriptors at most once a " +
			"second, below 1 % of a CPU after the first 0.1 s, and reads a CPU clock per peer each window.",
	}
}

// Health implements observe.Reporter. It names the ports whose process is not seen, so that nobody
// takes its CPU for known.
func (s *Source) Health() record.SourceHealth { return s.vitals.Health(s.Describe().Name) }
