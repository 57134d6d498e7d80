package process

import "bytes"

// tick is the unit of utime, stime and /proc/stat, USER_HZ, which is 100 on
// every architecture that Go runs on.
const tick = 10_000_000 // ns

// hostStat is what is used of /proc/stat (proc_stat(5)), in ticks.
type hostStat struct {
	busy, steal uint64
	cpus        int
}

// parseHostStat sums what the CPUs did besides idling: user, nice, system, irq
// and softirq. Guest time is part of user already; time stolen by the
// hypervisor is apart, since nothing of this host ran then.
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
			n, after, fine := number(rest)
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

// parsePressure returns the ns in which some task stalled, from a file as in
// Documentation/accounting/psi.rst of the kernel:
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=9040789" (us).
func parsePressure(text []byte) (ns uint64, ok bool) {
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("some ")) {
			continue
		}
		_, total, found := bytes.Cut(line, []byte("total="))
		if !found {
			return 0, false
		}
		us, _, fine := number(total)
		return us * 1000, fine
	}
	return 0, false
}
