// Package events counts events in the kernel by eBPF programs on its
// tracepoints:
//
//	tcp.*        connections opened, established and closed, segments retransmitted
//	             (inet_sock_set_state, tcp_retransmit_skb, tcp_retransmit_synack)
//	runqueue.*   from runnable to running, of the target's threads
//	             (sched_switch)
//	block.*      from issue to completion of requests to the host's block devices
//	             (block_rq_issue, block_rq_complete)
//	fsync.*      files synced by the target (ext4_sync_file_*, f2fs_sync_file_*)
//
// The programs add up in maps of the kernel, which are read once per window; only
// retransmissions are passed on one by one, through a ring of 64 KB. Latencies
// are kept in buckets of a quarter of a power of two, so that a quantile is
// known to within about an eighth of its value, and q=max is the top of its bucket.
//
// Each set of tracepoints is tried by itself; one that cannot be attached is named
// in Health with its remedy. All are raw tracepoints with BTF, so that
// neither tracefs nor a BPF file system has to be mounted, and no kprobes are
// needed. The timestamps are CLOCK_MONOTONIC, which is the run's clock.
//
// The programs also count the whole of the target's network namespace, as the kernel
// does in its own counters; the difference is the series kernel.calibration, and
// Health reports one above 1 %.
//
// It refuses to be on the path of requests: uprobes (some 20 us a hit) and
// tracepoints of system calls (0.1 to 0.4 us on each call of the machine) were
// measured and left out.
package events

import (
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/vitals"
	"github.com/redline-go/redline/record"
)

// Source is the observe.Source of kernel events.
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
		Name:  "events",
		Doc:   "Connections, retransmissions, run-queue, block-device and fsync latency, counted by eBPF.",
		Needs: "root, or CAP_BPF and CAP_PERFMON; Linux 5.11 or later with BTF, on amd64 or arm64; redline in the host's PID namespace.",
		Cost: "some 0.1 µs on each switch of threads of the machine, and as much on each connection opened or closed; " +
			"nothing per request.",
	}
}

// Health implements observe.Reporter.
func (s *Source) Health() record.SourceHealth { return s.vitals.Health(s.Describe().Name) }
