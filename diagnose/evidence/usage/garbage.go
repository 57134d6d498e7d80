package usage

import (
	"math"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/stacks"
)

// Collection is the cost of the garbage collector and what triggers it, over the steady
// span. Unknown figures are NaN. Names follow runtime/metrics.
type Collection struct {
	// CPU is the part of the target's CPU that goes into marking, assisting and
	// sweeping, 0 to 1, from the CPU profile. Marking on CPUs that had nothing else
	// to do is left out.
	CPU float64
	// Cycles and Forced are per second; Forced are the cycles that the program itself
	// started (runtime.GC).
	Cycles, Forced float64
	// Live is the live heap, Scan the part of it with pointers, which determines the cost
	// of marking, and Goal the heap size at which the next cycle should end; all in bytes.
	Live, Scan, Goal float64
	// Percent is GOGC; +Inf when it is off.
	Percent float64
	// Limit is GOMEMLIMIT in bytes; NaN when there is none.
	Limit float64
}

const (
	// offPercent and offLimit: the runtime reports GOGC=off and no memory limit as
	// the largest integers.
	offPercent, offLimit = 1e9, 1 << 60
	// DefaultPercent is GOGC unless set.
	DefaultPercent = 100
	// limited: a goal below this part of the one that GOGC asks for was set by the
	// memory limit; the runtime keeps 3 % and the pacer's own overhead free.
	limited = 0.9
)

// Collection returns the collector's figures: the runtime's, or without the probe
// those that it prints (GODEBUG=gctrace=1).
func (p *Service) Collection() Collection {
	first := func(read func(name, labels string) (float64, bool), names ...string) float64 {
		for _, name := range names {
			if v, ok := read(name, ""); ok {
				return v
			}
		}
		return math.NaN()
	}
	c := Collection{
		CPU:    math.NaN(),
		Cycles: first(p.Rate, "/gc/cycles/total:gc-cycles"), Forced: first(p.Rate, "/gc/cycles/forced:gc-cycles"),
		Live: first(p.Mean, "/gc/heap/live:bytes", series.GCLive), Scan: first(p.Mean, "/gc/scan/heap:bytes"),
		Goal: first(p.Mean, "/gc/heap/goal:bytes", series.GCGoal), Percent: first(p.Mean, "/gc/gogc:percent"),
		Limit: first(p.Mean, "/gc/gomemlimit:bytes"),
	}
	// The runtime's printed figures exist only in windows in which a cycle ended.
	if seconds := p.Steady().Len().Seconds(); math.IsNaN(c.Cycles) && seconds > 0 {
		if n, ok := p.Sum(series.GCCycles, ""); ok {
			forced, _ := p.Sum(series.GCForced, "")
			c.Cycles, c.Forced = n/seconds, forced/seconds
		}
	}
	if c.Percent > offPercent || c.Percent < 0 {
		c.Percent = math.Inf(1)
	}
	if c.Limit >= offLimit {
		c.Limit = math.NaN()
	}
	if use, err := p.Use(); err == nil && use.Samples > 0 {
		c.CPU = use.Share(callstack.GCWork | callstack.GCAssist)
	}
	return c
}

// ForcedPart returns the part of the cycles that the program started, 0 to 1; 0 if unknown.
func (c Collection) ForcedPart() float64 {
	if !(c.Cycles > 0 && c.Forced > 0) {
		return 0
	}
	return min(1, c.Forced/c.Cycles)
}

// Limited reports whether the memory limit, not GOGC, triggers cycles.
func (c Collection) Limited() bool {
	return c.Limit > 0 && c.Live > 0 && c.Goal > 0 && c.Goal < limited*c.Live*(1+c.Percent/100)
}

// Room returns by how much, relative to its size, the live heap may grow until the
// next cycle ends: GOGC/100, or what the memory limit leaves of that (Go GC guide).
// NaN if unknown.
func (c Collection) Room() float64 {
	if c.Limited() || math.IsNaN(c.Percent) {
		return max(0, (c.Goal-c.Live)/c.Live)
	}
	return c.Percent / 100
}

// Ordinary returns the part of its work that the collector would do at the
// default settings, 0 to 1: the part that is due to allocation alone. The rest
// comes from a small GOGC, a tight memory limit, or forced cycles.
func (c Collection) Ordinary() float64 {
	part := 1 - c.ForcedPart()
	// The frequency of cycles is inversely proportional to the room.
	if room := c.Room(); room < DefaultPercent/100.0 {
		part *= max(0, room) / (DefaultPercent / 100.0)
	}
	return part
}

// Garbage returns the part of the target's CPU that the collector spends because of what a
// domain allocates, 0 to 1. A cycle starts each time the heap has grown to its goal, so the
// collector's work is attributed in proportion to bytes allocated; work caused by a small
// GOGC, a tight limit or forced cycles is attributed to none. 0 without an allocation
// profile.
func (p *Service) Garbage(domains callstack.Role) float64 {
	use, err := p.Use()
	if err != nil {
		return 0
	}
	allocs, err := p.Profile("allocs", "alloc_space")
	if err != nil || allocs.Total == 0 {
		return 0
	}
	var bytes float64
	lines := use.allocatedBy(domains)
	for _, s := range allocs.Samples {
		d := p.Stacks.Domain(s.Stack)
		if d == 0 && len(s.Stack) > 0 {
			bytes += float64(s.Value) * lines[s.Stack[0]]
		}
		if d.Has(domains) {
			// Allocating a compressor's internals is the cost of making it, not of
			// compressing.
			if _, made := callstack.Makes(s.Stack, p.Stacks.Innermost(s.Stack)); made && d.Has(callstack.Compress) {
				continue
			}
			bytes += float64(s.Value)
		}
	}
	return use.With(callstack.GCWork|callstack.GCAssist) * p.Collection().Ordinary() * bytes / float64(allocs.Total)
}

// allocatedBy returns, for each of the user's lines that allocates through the runtime alone, the part of that in a
// domain whose functions are the runtime's: joining strings. A heap profile leaves the runtime's frames out, so the
// CPU that allocating takes there divides the line's bytes.
func (u *Table) allocatedBy(domains callstack.Role) map[code.Frame]float64 {
	all, parts := map[code.Frame]float64{}, map[code.Frame]float64{}
	for _, s := range u.list {
		i := u.index.Innermost(s.Stack)
		if i <= 0 || !s.Roles.Has(callstack.Allocate) || slices.ContainsFunc(s.Stack[:i], func(f code.Frame) bool {
			return !callstack.Runtime(f.Function)
		}) {
			continue
		}
		all[s.Stack[i]] += float64(s.Value)
		// Helping the collector is a domain of its own, but it is the join that allocates.
		if s.Domain.Has(domains) || u.index.Roles(s.Stack[:i]).Has(domains) {
			parts[s.Stack[i]] += float64(s.Value)
		}
	}
	for at := range parts {
		parts[at] /= all[at]
	}
	return parts
}

// apart is the part of the steady span by which a heap profile may lie outside of it: nine
// tenths of a growth are then the span's.
const apart = 10

// Growth returns the growth of the heap in use between the first and the last heap profile
// of the steady span, by allocation site, in bytes; sites that shrank are excluded. ok is
// false without two profiles; the error names one that does not parse.
//
// A profile of its beginning may be from shortly before it: profiles are taken when the span is
// due, and a generator that waits for a CPU begins it later.
func (p *Service) Growth() (grown *measured.Profile, ok bool, err error) {
	steady := p.Steady()
	outside := steady.Len() / apart
	var listed []record.Profile
	for _, l := range p.Record.Profiles("heap") {
		if l.Span.To >= steady.From-outside && l.Span.From <= steady.To+outside {
			listed = append(listed, l)
		}
	}
	if len(listed) < 2 {
		return nil, false, nil
	}
	var ends [2]*profile.Profile
	for i, l := range []record.Profile{listed[0], listed[len(listed)-1]} {
		data, err := p.Record.ReadProfile(l)
		if err != nil {
			return nil, false, err
		}
		if ends[i], err = measured.ParseProfile(data); err != nil {
			return nil, false, err
		}
	}
	// Labels hold the size of the blocks; without them, one site is one sample.
	for _, end := range ends {
		for _, s := range end.Sample {
			s.Label, s.NumLabel, s.NumUnit = nil, nil, nil
		}
	}
	ends[0].Scale(-1)
	difference, err := profile.Merge(ends[:])
	if err != nil {
		return nil, false, err
	}
	grown, err = stacks.Flatten(difference, "inuse_space")
	return grown, err == nil, err
}
