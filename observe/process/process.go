// Package process watches the target's processes, and the CPU of its host,
// through /proc of Linux.
//
// Where each figure comes from:
//
//	process.cpu.*      the process's CPU clock (clock_gettime of its clock id,
//	                   ns, ended threads included), split into user and system by
//	                   the ratio of utime to stime over the last second, because
//	                   those two count ticks of 10 ms. Without the clock: the
//	                   threads' schedstat, then utime + stime.
//	process.run_delay  task/*/schedstat, second field, ns
//	process.switch.*   task/*/status; /proc/<pid>/status counts the first thread only
//	process.faults.*, rss, threads    /proc/<pid>/stat
//	process.io.*       /proc/<pid>/io: bytes that reached storage, not the page cache
//	process.fds        entries of /proc/<pid>/fd, against its limits file
//	host.cpu.*         /proc/stat, ticks of 10 ms
//
// The target is the process and its descendants, so that a service started
// through a shell that did not exec is seen. The tree is looked up once a
// second; the CPU time of a child before it was found is left out, and so is that which a
// thread or child used between its last reading and its end.
//
// Cost is bounded: with more than 64 threads the per-thread files are read every
// fifth window, and descriptors, which are counted one by one, once a second.
//
// A process that took the pid of one that ended is a stranger (its start time shows it)
// and not watched: its figures are absent, and the health says when it came.
//
// It refuses to watch other processes of the host (package kernel and the
// generator's own figures cover those), and the target's limits (package
// container). procfs (github.com/prometheus/procfs) reads the files that are needed
// once per second or once; those of each window are parsed here without allocating,
// because procfs takes 20 us for a stat file.
package process

import (
	"fmt"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
)

// Options of a Source.
type Options struct {
	// Root is prefixed to /proc, for tests on recorded trees. Empty means this
	// host; only then CPU clocks are used.
	Root string
}

// Source is the observe.Source of the target's process.
type Source struct {
	options Options
	subject observe.Subject
	state   *state // set by Open, released by Run

	bracket observe.Bracket
	samples int64
	missed  int64
	ended   time.Duration // run time at which the process was found gone; 0 if it lived
	gaps    []record.Gap
	blind   []string // figures that could not be read, with the reason
}

var (
	_ observe.Source   = (*Source)(nil)
	_ observe.Reporter = (*Source)(nil)
)

// New returns a source that has not been opened.
func New(o Options) *Source {
	return &Source{options: o, bracket: observe.Bracket{Limit: 250 * time.Microsecond}}
}

// Describe implements observe.Source.
func (*Source) Describe() observe.Description {
	return observe.Description{
		Name:  "process",
		Doc:   "CPU, run delay, memory, descriptors and context switches of the target, and the host's CPU.",
		Needs: "a target process on this Linux host; its descriptors and I/O need the same user or root.",
		Cost:  "nothing in the target; the kernel formats a few files of /proc each window.",
	}
}

// Health implements observe.Reporter.
func (s *Source) Health() record.SourceHealth {
	h := record.SourceHealth{
		Name:    s.Describe().Name,
		OK:      s.samples > 0 && s.ended == 0,
		Samples: s.samples,
		Align:   s.bracket.Align(),
		Gaps:    s.gaps,
	}
	say := func(format string, args ...any) {
		if h.Why != "" {
			h.Why += "; "
		}
		h.Why += fmt.Sprintf(format, args...)
	}
	if s.ended != 0 {
		say("the process ended %s into the run", notation.Time(s.ended))
	} else if s.samples == 0 {
		say("the run ended before the first window did")
	}
	if s.missed > 0 {
		say("%s", observe.Skipped(s.missed))
	}
	for _, reason := range s.blind {
		say("%s", reason)
	}
	return h
}
