package process

import (
	"bytes"
	"errors"

	"github.com/redline-go/redline/observe/pseudofile"
)

// stat is the used part of /proc/<pid>/stat (proc_pid_stat(5)).
type stat struct {
	state        byte
	parent       int
	minor, major uint64 // faults, ended threads included
	// A tick is 1/USER_HZ s, which is 10 ms on every architecture that Go builds for, whatever
	// CONFIG_HZ is (include/asm-generic/param.h).
	user, system uint64 // ticks, ended threads included
	reaped       uint64 // ticks of the children that it has waited for, theirs included
	threads      uint64
	start        uint64 // ticks since boot: distinguishes a pid's next owner
	rss          uint64 // pages
}

var errStat = errors.New("malformed stat file")

// parseStat parses the line. The command name stands in parentheses and may
// hold any byte, parentheses and blanks included, so fields count from the last
// closing one.
func parseStat(line []byte) (stat, error) {
	end := bytes.LastIndexByte(line, ')')
	if end < 0 || end+3 >= len(line) {
		return stat{}, errStat
	}
	rest := line[end+2:]
	s := stat{state: rest[0]}
	rest = rest[1:]
	// Field numbers as in the manual page; 3 is the state.
	for field := 4; field <= 24; field++ {
		rest = bytes.TrimLeft(rest, " ")
		if len(rest) > 0 && rest[0] == '-' { // tty, tpgid, nice and priority may be negative
			rest = rest[1:]
		}
		n, after, ok := pseudofile.Number(rest)
		if !ok {
			return stat{}, errStat
		}
		rest = after
		switch field {
		case 4:
			s.parent = int(n)
		case 10:
			s.minor = n
		case 12:
			s.major = n
		case 14:
			s.user = n
		case 15:
			s.system = n
		case 16, 17:
			s.reaped += n
		case 20:
			s.threads = n
		case 22:
			s.start = n
		case 24:
			s.rss = n
		}
	}
	return s, nil
}

// ended reports whether the process only waits to be reaped.
func (s stat) ended() bool { return s.state == 'Z' || s.state == 'X' }

// parseSchedstat parses a schedstat file (Documentation/scheduler/sched-stats.rst
// of the kernel): ns on a CPU, ns in a run queue, time slices.
func parseSchedstat(line []byte) (onCPU, delay uint64, ok bool) {
	onCPU, line, ok = pseudofile.Number(line)
	if !ok {
		return 0, 0, false
	}
	delay, _, ok = pseudofile.Number(line)
	return onCPU, delay, ok
}
