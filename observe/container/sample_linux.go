package container

import (
	"slices"
	"time"

	"github.com/redline-go/redline/record/series"
)

// sample reads the figures due at an edge. The fastest-moving come first, nearest
// the edge.
func (s *state) sample(edge time.Duration) {
	due := edge >= s.seldomAt
	if due {
		s.seldomAt = edge + seldom
		s.look()
		s.limits(edge)
	}
	s.throttle()
	s.pressure()
	if due {
		s.memory(edge)
	}
}

// limits reads quota and limits, which change seldom.
func (s *state) limits(edge time.Duration) {
	if c := s.member.cpu; c != nil {
		cpus, level, ok := c.quota(s.files.Read)
		if ok {
			s.meter.Gauge(series.CgroupQuota, "", edge, cpus)
		} else {
			// Without a quota the group's own counters are followed, so that one which is set
			// during the run begins with them.
			level = c.own()
		}
		s.follow(&s.throttling, level, series.CgroupThrottled, series.CgroupThrottles, series.CgroupPeriods)
	}
	if m := s.member.memory; m != nil {
		limit, level, ok := m.bound(m.memoryFiles().limit, s.files.Read)
		if ok {
			s.meter.Gauge(series.CgroupMemoryLimit, "", edge, limit)
		} else {
			level = m.own()
		}
		s.follow(&s.events, level, series.CgroupMemoryHighs, series.CgroupMemoryMaxes, series.CgroupOOMs)
		if high, _, ok := m.bound(m.memoryFiles().high, s.files.Read); ok {
			s.meter.Gauge(series.CgroupMemoryHigh, "", edge, high)
		}
	}
}

// follow makes counters begin anew when they are read at another level: the totals of
// another group do not continue these, and their difference would be a jump.
func (s *state) follow(at *string, level string, name ...string) {
	if *at == level {
		return
	}
	*at = level
	for _, name := range name {
		s.meter.Forget(name, "")
	}
}

// read dates the reading of one file; f parses it and reports whether it is valid.
func (s *state) read(path string, f func(text []byte) bool) (at time.Duration, ok bool) {
	at, err := s.bracket.Read(s.subject.Clock, func() error {
		text, err := s.files.Read(path)
		if err == nil {
			ok = f(text)
		}
		return err
	})
	return at, err == nil && ok
}

// throttle reads the quota's effects.
func (s *state) throttle() {
	c := s.member.cpu
	if c == nil || s.throttling == "" {
		return
	}
	var t throttling
	at, ok := s.read(s.throttling+"/cpu.stat", func(text []byte) (ok bool) { t, ok = c.parseThrottling(text); return ok })
	if !ok {
		return // the controller is not enabled here, or this is the root of version 2
	}
	s.meter.Count(series.CgroupPeriods, "", at, float64(t.periods))
	s.meter.Count(series.CgroupThrottles, "", at, float64(t.throttled))
	s.meter.Count(series.CgroupThrottled, "", at, float64(t.ns))
}

// memory reads the group's usage and the events at its limits.
func (s *state) memory(edge time.Duration) {
	m := s.member.memory
	if m == nil {
		return
	}
	if used, ok := m.used(s.files.Read); ok {
		s.meter.Gauge(series.CgroupMemory, "", edge, float64(used))
	}
	if n, ok := m.inactive(s.files.Read); ok {
		s.meter.Gauge(series.CgroupMemoryInactive, "", edge, float64(n))
	}
	// One bracket around all: version 1 spreads over several files what version 2 has in one.
	clock := s.subject.Clock
	before := clock.Now()
	totals := map[string]uint64{}
	m.events(s.events, s.files.Read, func(name string, total uint64) { totals[name] = total })
	if n, ok := m.kills(s.files.Read); ok {
		totals[series.CgroupOOMKills] = n
	}
	if len(totals) == 0 {
		return
	}
	at := s.bracket.Add(before, clock.Now())
	for name, total := range totals {
		s.meter.Count(name, "", at, float64(total))
	}
}

// findPressure decides which files of PSI are read: the group's own, else the
// host's under the same names, and the host's.
func (s *state) findPressure() {
	s.pressures = nil
	host := s.proc + "/pressure/"
	there := s.findPressures(host, "", hostStalls)
	// The root group's files show the host's stalls once more.
	if c := s.member.pressure; c != nil && !c.root() && s.findPressures(c.own()+"/", ".pressure", groupStalls) {
		return
	}
	if !there {
		s.say("no stalls: the kernel does not keep PSI (to enable: a kernel with CONFIG_PSI, started with psi=1)")
		return
	}
	s.say("pressure.* is the host's, because the target's cgroup has none (to enable: cgroup v2)")
	s.findPressures(host, "", []stall{
		{"cpu", series.PressureCPU, ""}, {"memory", series.PressureMemory, series.PressureMemoryFull},
		{"io", series.PressureIO, series.PressureIOFull},
	})
}

// findPressures notes the pressure files that can be read. A file that several series
// come from is listed once, so that one reading dates all of them. A kernel without
// CONFIG_PSI has none.
func (s *state) findPressures(prefix, suffix string, stalls []stall) (found bool) {
	for _, one := range stalls {
		path := prefix + one.file + suffix
		if text, err := s.files.Read(path); err == nil && parsePressure(text).hasSome {
			found = true
			at := slices.IndexFunc(s.pressures, func(p pressureFile) bool { return p.path == path })
			if at < 0 {
				at, s.pressures = len(s.pressures), append(s.pressures, pressureFile{path: path})
			}
			s.pressures[at].stalls = append(s.pressures[at].stalls, one)
		}
	}
	return found
}

// pressure reads the stalls.
func (s *state) pressure() {
	for _, file := range s.pressures {
		var p pressure
		at, ok := s.read(file.path, func(text []byte) bool { p = parsePressure(text); return p.hasSome })
		if !ok {
			continue
		}
		for _, of := range file.stalls {
			s.meter.Count(of.some, "", at, float64(p.some))
			if p.hasFull && of.full != "" {
				s.meter.Count(of.full, "", at, float64(p.full))
			}
		}
	}
}
