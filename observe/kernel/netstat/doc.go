// Package netstat reads the counters of the target's network namespace:
// /proc/<pid>/net/snmp and netstat each window, sockstat, sockstat6 and
// softnet_stat every fifth.
//
// The counters are of all sockets in the namespace. If the generator and
// other services share it, theirs are counted too; package sockets reports the
// target's own. softnet_stat, the memory of TCP, orphans and allocated sockets
// are the host's.
//
// Fields are found by their names, so a kernel that lacks some or orders them
// differently is still read, without the series that it lacks. When counters fall,
// or the process is found in another namespace, all of them begin anew and the
// window stays absent.
//
// procfs (github.com/prometheus/procfs) reads these files too, but it makes some two
// hundred numbers per window, of which thirty are needed, hence the parsers here.
package netstat

import (
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/vitals"
	"github.com/redline-go/redline/record"
)

// Options of a Source.
type Options struct {
	// Root is prefixed to /proc, for tests on recorded trees.
	Root string
}

// Source is the observe.Source of the namespace's counters.
type Source struct {
	options Options
	vitals  vitals.Vitals
	state   *state // set by Open, released by Run
}

var (
	_ observe.Source   = (*Source)(nil)
	_ observe.Reporter = (*Source)(nil)
)

// New returns a source that has not been opened.
func New(o Options) *Source { return &Source{options: o} }

// Describe implements observe.Source.
func (*Source) Describe() observe.Description {
	return observe.Description{
		Name:  "netstat",
		Doc:   "TCP counters of the target's network namespace, its sockets in use, and packets the host's CPUs dropped or put off.",
		Needs: "a target process on this Linux host; no privilege.",
		Cost:  "nothing in the target; the kernel formats two files of /proc each window, and three more every fifth.",
	}
}

// Health implements observe.Reporter.
func (s *Source) Health() record.SourceHealth { return s.vitals.Health(s.Describe().Name) }
