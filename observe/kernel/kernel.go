// Package kernel watches the target through the kernel it runs on, by four
// separate sources, so that one can be missing without the others:
//
//	netstat  counters of the network namespace from /proc; no privilege
//	sockets  TCP_INFO and accept queues of the target's sockets by sock_diag; the
//	         target's user
//	peers    CPU of the programs on this host that the target asks, found by their
//	         sockets; their user
//	events   connections, retransmissions, run-queue, block and fsync latency by
//	         eBPF; root or CAP_BPF and CAP_PERFMON
//
// They overlap on purpose: eBPF's counts are compared with the kernel's own
// counters of the same namespace, and if it cannot be used the others report
// the same causes less precisely.
package kernel

import (
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/events"
	"github.com/redline-go/redline/observe/kernel/netstat"
	"github.com/redline-go/redline/observe/kernel/peers"
	"github.com/redline-go/redline/observe/kernel/sockets"
)

// Sources returns new instances of the kernel's sources, for one run.
func Sources() []observe.Source {
	return []observe.Source{netstat.New(netstat.Options{}), sockets.New(), peers.New(), events.New()}
}
