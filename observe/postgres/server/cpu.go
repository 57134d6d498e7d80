package server

import "time"

// CPU sums the CPU time of the server's processes on this host: the
// postmaster, the backends that live, and, through the postmaster's account of
// reaped children, those that have ended. Our own backend is left out.
//
// Living processes are counted by their CPU clocks, in ns, reaped ones in ticks
// of 10 ms: when a backend ends, its figure moves from the one to the other and
// is rounded down. The sum is held where it would fall by that.
//
// The live backends come from pg_stat_activity, because a look through /proc
// costs more; the log collector is not listed there and counts when it ends.
type CPU struct {
	Postmaster int
	high       time.Duration // the largest sum so far
	// ProcessTime returns the CPU time of a living process; reaped that of the
	// postmaster's children that it has waited for.
	ProcessTime func(pid int) (time.Duration, error)
	Reaped      func() (time.Duration, error)
}

// Read returns the CPU time so far. Only differences have a meaning.
func (c *CPU) Read(pids []int) (time.Duration, error) {
	before, err := c.Reaped()
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	// Hazard: a backend that is reaped between being counted as living and the
	// postmaster being asked would count twice, and one reaped before would
	// not at all. So it is asked on both sides, and agreement is waited for.
	for try := 0; ; try++ {
		if sum, err = c.ProcessTime(c.Postmaster); err != nil {
			return 0, err
		}
		for _, pid := range pids {
			if used, err := c.ProcessTime(pid); err == nil { // else it has ended
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

// findServer returns nil, and says why in the session, when the server's
// processes are not this host's. It knows them by one of their backends.
func findServer(s *Session, backend int, started time.Time) *CPU {
	cpu, why := sameHost(backend, started)
	if cpu == nil {
		s.Blind = append(s.Blind, "the CPU of the server's processes is unknown: "+why)
	}
	return cpu
}
