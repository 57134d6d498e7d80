package process

import (
	"bytes"

	"github.com/redline-go/redline/observe/pseudofile"
)

// tick is the unit of utime, stime and /proc/stat, USER_HZ, which is 100 on
// every architecture that Go runs on.
const tick = 10_000_000 // ns

// hostStat is the used part of /proc/stat (proc_stat(5)), in ticks.
type hostStat struct {
	busy, steal uint64
	cpus        int
}

// parseHostStat sums the CPUs' time other than idle: user, nice, system, irq
// and softirq. Guest time is already part of user; time stolen by the
// hypervisor is separate, because nothing of this host ran then.
func parseHostStat(text []byte) (h hostStat, ok bool) {
	for line := range bytes.Lines(text) {
		rest, found := bytes.CutPrefix(line, []byte("cpu"))
		if !found {
			continue
		}
		if len(rest) > 0 && rest[0] != ' ' {
			h.cpus++
			continue
		}
		for field := range 8 {
			n, after, fine := pseudofile.Number(rest)
			if !fine {
				break // old kernels have fewer fields
			}
			rest, ok = after, true
			switch field {
			case 3, 4: // idle, iowait
			case 7:
				h.steal = n
			default:
				h.busy += n
			}
		}
	}
	return h, ok
}
