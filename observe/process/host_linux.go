package process

import (
	"time"

	"github.com/redline-go/redline/record/series"
)

// host reads the CPU time of everything that runs on this machine.
func (s *state) host(edge time.Duration) {
	var h hostStat
	var ok bool
	at, err := s.bracket.Read(s.clock, func() error {
		text, err := s.files.Read(s.proc + "/stat")
		h, ok = parseHostStat(text)
		return err
	})
	if err != nil {
		s.say("the host's CPU cannot be read: %v", err)
		return
	}
	if !ok {
		s.say("the host's CPU cannot be read: malformed /proc/stat")
		return
	}
	s.meter.Count(series.HostBusy, "", at, float64(h.busy)*tick)
	s.meter.Count(series.HostSteal, "", at, float64(h.steal)*tick)
	s.meter.Gauge(series.HostCPUs, "", edge, float64(h.cpus))
}
