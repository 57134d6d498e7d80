// Package cpu holds the analyzers of what the service's CPU is spent on, from its
// CPU profile: libraries that it calls (domain.go), what the runtime and the
// kernel do for its functions (work.go), its own functions (hot.go); and of CPUs
// that are simply used up.
//
// Each sample is booked on one domain only: the outermost library inside the
// handler, so hashing inside a TLS handshake is TLS and JSON inside a logger is
// logging. Shares are of the whole process's CPU, collector and scheduler
// included.
//
// A share of CPU alone is no sickness: a service is there to do something. What
// decides is what removing the work would gain, and each analyzer says from which gain
// on that is more than a service is for.
package cpu

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers, in the order of judgement.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{
		JSON, Logging, Instrument, RegexpCompile, RegexpMatch, TemplateParse, Format, Crypto, Handshakes, Compress, Sort, Reflect, Clock, Router,
		Map, Copy, Syscalls, Atomics, Background, Growth, Hot, Saturated,
	}
}
