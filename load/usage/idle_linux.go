package usage

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix" // sched_getaffinity
)

// mostStat bounds what is read of /proc/stat, which begins with a line per CPU.
const mostStat = 256 << 10

// tick is the unit of /proc/stat, which is 1/USER_HZ s: 100 on every architecture that Go
// runs on (proc_stat(5)).
const tick = 10 * time.Millisecond

// Idle reads how many of the CPUs that this process may use are idle. The zero value is ready.
type Idle struct {
	before time.Duration
	at     time.Time
}

// CPUs returns the mean number of idle CPUs since the last call. ok is false on the first
// call, and if the kernel does not report it.
func (i *Idle) CPUs() (cpus float64, ok bool) {
	var allowed unix.CPUSet
	f, err := os.Open("/proc/stat")
	if err != nil || unix.SchedGetaffinity(0, &allowed) != nil {
		return 0, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostStat))
	if err != nil {
		return 0, false
	}
	idle, now := idleTime(text, allowed.IsSet), time.Now()
	span, since := now.Sub(i.at), idle-i.before
	first := i.at.IsZero()
	i.before, i.at = idle, now
	if first || span <= 0 || since < 0 { // a CPU went off-line
		return 0, false
	}
	return since.Seconds() / span.Seconds(), true
}

// idleTime sums the fourth and the fifth figure, idle and waiting for a disk, over the lines of
// the allowed CPUs.
func idleTime(stat []byte, allowed func(cpu int) bool) (sum time.Duration) {
	for line := range bytes.Lines(stat) {
		fields := bytes.Fields(line)
		if len(fields) < 6 || !bytes.HasPrefix(fields[0], []byte("cpu")) {
			continue
		}
		// The first line, of all CPUs together, has no number.
		cpu, err := strconv.Atoi(string(fields[0][len("cpu"):]))
		if err != nil || cpu < 0 || !allowed(cpu) {
			continue
		}
		for _, f := range fields[4:6] {
			ticks, err := strconv.ParseInt(string(f), 10, 64)
			if err == nil {
				sum += time.Duration(ticks) * tick
			}
		}
	}
	return sum
}
