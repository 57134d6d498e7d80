// Package container observes the target's limits and shared resources:
// its control group, and the stalls of its host.
//
// Where each figure comes from, in versions 2 and 1 of control groups:
//
//	cgroup.cpu.quota        cpu.max; cpu.cfs_quota_us over cpu.cfs_period_us: the
//	                        tightest from the target's group up to the root
//	cgroup.cpu.throttled,   cpu.stat of the group with that quota, because only its
//	nr_throttled, nr_periods  own file counts the effects of its quota
//	cgroup.memory           memory.current; memory.usage_in_bytes
//	cgroup.memory.limit     memory.max; memory.limit_in_bytes: the tightest
//	cgroup.memory.high      memory.high: the tightest; version 1 has none
//	cgroup.memory.inactive_file  memory.stat (total_inactive_file in version 1):
//	                        page cache that the kernel gives back before it kills
//	cgroup.memory.events.*  memory.events of the group with the limit; of version
//	                        1, memory.failcnt (max) alone
//	cgroup.memory.events.oom_kill  memory.events; memory.oom_control: the target's own
//	pressure.*              the group's own *.pressure files, else /proc/pressure
//	host.pressure.*         /proc/pressure
//
// The formats are those of Documentation/admin-guide/cgroup-v2.rst,
// admin-guide/cgroup-v1/memory.rst, scheduler/sched-bwc.rst and
// accounting/psi.rst of the kernel.
//
// A group is looked up through the mounts that redline itself sees. One that it
// cannot see, such as another container's, is absent and reported as such. When the
// target moves to another group, its counters begin anew there.
package container

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
)

// Options of a Source.
type Options struct {
	// Root is prefixed to /proc and to the mount points of control groups, for
	// tests on recorded trees. Empty means this host.
	Root string
}

// Source is the observe.Source of the target's control group.
type Source struct {
	options Options
	state   *state // set by Open, released by Run

	bracket observe.Bracket
	missed  int64
	gaps    []record.Gap
	notes   []string // figures that could not be read, with the reason
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
		Name:  "container",
		Doc:   "CPU throttling, memory against its limits, OOM kills and stalls (PSI) of the target's cgroup, and the host's stalls.",
		Needs: "a target process on this Linux host, its cgroups mounted where redline runs; PSI needs a kernel started with it.",
		Cost:  "nothing in the target; the kernel formats up to eight small files each window, and as many once a second.",
	}
}

// Health implements observe.Reporter.
func (s *Source) Health() record.SourceHealth {
	samples := s.bracket.Samples()
	var why []string
	if samples == 0 {
		why = append(why, "the run ended before the first window did")
	}
	if s.missed > 0 {
		why = append(why, observe.Skipped(s.missed))
	}
	return record.SourceHealth{
		Name:    s.Describe().Name,
		OK:      samples > 0,
		Why:     strings.Join(append(why, s.notes...), "; "),
		Samples: samples,
		Align:   s.bracket.Align(),
		Gaps:    s.gaps,
	}
}

// say notes, once, what the source cannot see.
func (s *Source) say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.notes, text) && len(s.notes) < 16 {
		s.notes = append(s.notes, text)
	}
}
