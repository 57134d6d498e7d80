// Package host holds the analyzers of whether the measurement is valid and of the
// limits that the host and the container set: the generator, warm-up and the quiet
// of the host; CPU quotas, GOMAXPROCS, memory, descriptors, the disk; and what the
// network does to connections.
//
// Findings on validity come first of all: if the generator was the limit, no other
// finding holds (Voids); a cold start or a noisy host lowers the confidence of the
// others (Qualifies).
//
// Most kernel-level causes pair a counter with a share. The counter (overflows,
// retransmits, faults) proves that something happens. The share bounds what it
// explains: by the most that each event costs, and by the part of latency above the
// median, because such events delay a few requests by a lot.
package host

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers in the order in which they run.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{Generator, Cold, Stability, Throttling, Procs, Descriptors, Accept, Ports, Loss, Softnet,
		Disk, Memory, Connections}
}
