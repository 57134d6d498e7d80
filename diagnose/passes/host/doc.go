// Package host holds the analyzers of whether the measurement is valid and of
// the limits that the host and the container set: the generator, warm-up and the
// quiet of the host; CPU quotas, GOMAXPROCS, memory, descriptors, the disk; and
// what the network does to connections.
package host

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers, in the order of judgement.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{Generator, Cold, Stability, Throttling, Procs, Descriptors, Accept, Ports, Loss, Softnet,
		Disk, Memory, Connections}
}
