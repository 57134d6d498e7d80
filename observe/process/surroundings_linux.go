package process

import (
	"time"

	"github.com/redline-go/redline/record"
)

// What surrounds the process: its control group and its host.

// limits reads what changes seldom: quota, and memory against its limit.
func (s *state) limits(edge time.Duration) {
	if c := s.container.cpu; c != nil {
		cpus, level, ok := c.quota(s.files.read)
		if ok {
			s.meter.Gauge(record.CgroupQuota, "", edge, cpus)
		} else {
			level = c.own()
		}
		if level != s.container.throttling {
			s.container.throttling = level
			s.meter.Forget(record.CgroupThrottled, "")
			s.meter.Forget(record.CgroupThrottles, "")
		}
	}
	if c := s.container.memory; c != nil {
		used, limit, limited, ok := c.memory(s.files.read)
		if ok {
			s.meter.Gauge(record.CgroupMemory, "", edge, float64(used))
		}
		if limited {
			s.meter.Gauge(record.CgroupMemoryLimit, "", edge, float64(limit))
		}
	}
}

// throttle reads the throttling of the group.
func (s *state) throttle() {
	c := s.container.cpu
	if c == nil || s.container.throttling == "" {
		return
	}
	var periods, ns uint64
	var ok bool
	at, err := s.bracket.Read(s.clock, func() error {
		text, err := s.files.read(s.container.throttling + "/cpu.stat")
		if err == nil {
			periods, ns, ok = c.throttled(text)
		}
		return err
	})
	if err != nil || !ok {
		return // the controller is not enabled here, or this is the root of version 2
	}
	s.meter.Count(record.CgroupThrottles, "", at, float64(periods))
	s.meter.Count(record.CgroupThrottled, "", at, float64(ns))
}

// stalls are the series of pressure and the files they come from, in the
// target's own group or in /proc/pressure.
var stalls = [...]struct{ series, file string }{
	{record.PressureCPU, "cpu"}, {record.PressureMemory, "memory"}, {record.PressureIO, "io"},
}

// findPressure decides whether the stalls are the group's own or the host's.
func (s *state) findPressure() {
	if c := s.container.pressure; c != nil && !c.root() {
		if _, err := s.files.read(c.own() + "/cpu.pressure"); err == nil {
			s.pressure, s.pressureSuffix = c.own()+"/", ".pressure"
			return
		}
	}
	if _, err := s.files.read(s.proc + "/pressure/cpu"); err == nil {
		s.pressure = s.proc + "/pressure/"
		return
	}
	s.say("no pressure figures: they need a kernel built with CONFIG_PSI and started without psi=0")
}

func (s *state) pressures() {
	if s.pressure == "" {
		return
	}
	for _, stall := range stalls {
		var ns uint64
		var ok bool
		at, err := s.bracket.Read(s.clock, func() error {
			text, err := s.files.read(s.pressure + stall.file + s.pressureSuffix)
			ns, ok = parsePressure(text)
			return err
		})
		if err == nil && ok {
			s.meter.Count(stall.series, "", at, float64(ns))
		}
	}
}

// host reads the CPU of all that runs on this machine.
func (s *state) host(edge time.Duration) {
	var h hostStat
	var ok bool
	at, err := s.bracket.Read(s.clock, func() error {
		text, err := s.files.read(s.proc + "/stat")
		h, ok = parseHostStat(text)
		return err
	})
	if err != nil || !ok {
		s.say("the host's CPU cannot be read: %s", why(err, "malformed /proc/stat"))
		return
	}
	s.meter.Count(record.HostBusy, "", at, float64(h.busy)*tick)
	s.meter.Count(record.HostSteal, "", at, float64(h.steal)*tick)
	s.meter.Gauge(record.HostCPUs, "", edge, float64(h.cpus))
}

func why(err error, otherwise string) string {
	if err != nil {
		return err.Error()
	}
	return otherwise
}
