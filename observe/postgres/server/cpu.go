package server

import "time"

// CPU sums the CPU time of the server's processes on this host: the postmaster, the live
// backends, and those that ended, as the postmaster's reaped children. It excludes
// redline's own backend.
//
// Living processes are counted by their CPU clocks, in ns, reaped ones in ticks of 10 ms:
// when a backend ends, its time moves from the first to the second and is rounded down. The
// sum stays constant where that would make it fall.
//
// The live backends come from pg_stat_activity, which costs less than scanning /proc; the
// logging collector is not listed there and counts when it ends.
type CPU struct {
	Postmaster int
	high       time.Duration // the largest sum so far
	// ProcessTime returns the CPU time of a live process, reaped that of the postmaster's
	// children that it has waited for.
	ProcessTime func(pid int) (time.Duration, error)
	Reaped      func() (time.Duration, error)
}

// Read returns the CPU time so far. Only differences between readings are meaningful.
func (c *CPU) Read(pids []int) (time.Duration, error) {
	before, err := c.Reaped()
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	// Hazard: a backend that is reaped between being counted as living and the
	// postmaster being asked would count twice, and one reaped before would
	// not at all. So the postmaster is read before and after, until both readings
	// agree.
	for try := 0; ; try++ {
		if sum, err = c.ProcessTime(c.Postmaster); err != nil {
			return 0, err
		}
		for _, pid := range pids {
			if used, err := c.ProcessTime(pid); err == nil { // otherwise it has ended
				sum += used
			}
		}
		after, err := c.Reaped()
		if err != nil {
			return 0, err
		}
		if after == before || try == 2 {
			c.high = max(c.high, sum+after)
			return c.high, nil
		}
		before = after
	}
}

// findServer returns nil, and notes the reason in the session, if the server's
// processes are not on this host. It identifies them by one of their backends.
func findServer(s *Session, backend int, started time.Time) *CPU {
	cpu, why := sameHost(backend, started)
	if cpu == nil {
		s.Blind = append(s.Blind, "the CPU of the server's processes is unknown: "+why)
	}
	return cpu
}
