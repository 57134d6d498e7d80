// Package kernel watches the target through the kernel it runs on, by three
// sources of their own, so that each is missing by itself:
//
//	netstat  counters of the network namespace from /proc; no privilege
//	sockets  TCP_INFO and accept queues of the target's sockets by sock_diag; the
//	         target's user
//	events   connections, retransmissions, run-queue, block and fsync latency by
//	         eBPF; root or CAP_BPF and CAP_PERFMON
//
// They overlap on purpose: eBPF's counts are held against the kernel's own
// counters of the same namespace, and where it cannot be used the others report
// the same causes less closely.
package kernel

import (
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/events"
	"github.com/redline-go/redline/observe/kernel/netstat"
	"github.com/redline-go/redline/observe/kernel/sockets"
)

// Sources returns the kernel's sources, anew for each run.
func Sources() []observe.Source {
	return []observe.Source{netstat.New(netstat.Options{}), sockets.New(), events.New()}
}
