// Package cpu holds the analyzers of what the service's CPU is spent on, from its
// CPU profile: libraries that it calls (domain.go), work of the runtime and the
// kernel for its functions (work.go), its own functions (hot.go); and of CPUs that
// are simply saturated.
//
// Each sample counts for one domain only: the outermost library inside the handler,
// so hashing inside a TLS handshake is TLS and JSON inside a logger is logging.
// Shares are of the whole process's CPU, collector and scheduler included. If a
// sample counted twice, two causes would promise the same gain.
//
// A share of CPU alone is not a defect: a service exists to do work. The gain from
// removing the work decides, by Amdahl's law (Amdahl 1967: removing a share s of
// the time gains at most 1/(1-s)), and each analyzer sets the gain above which the
// work is more than a service's purpose explains.
//
// Go's profiler interrupts each thread 100 times per second of CPU time. A share s
// of n samples has a standard error of √(s(1-s)/n): with 1,000 samples a share of
// 15 % is known to about 1 point. Analyzers ask Pass.Sampled first, which says when
// there are too few.
package cpu

import "github.com/redline-go/redline/diagnose"

// Analyzers returns the package's analyzers in the order in which they run.
func Analyzers() []diagnose.Analyzer {
	return []diagnose.Analyzer{
		JSON, Logging, Instrument, RegexpCompile, RegexpMatch, TemplateParse, Format, Crypto, Handshakes, Compress,
		Sort, Reflect, Clock, Router,
		Map, Copy, Syscalls, Atomics, Background, Growth, Hot, Saturated,
	}
}
