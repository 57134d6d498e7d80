// Package pressure reads how short of CPU this process is: from the kernel's pressure
// stall information, from the throttling of its control group, and from its own use.
// It reads small files when asked and starts nothing. What a system does not have
// counts as no pressure.
package pressure

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Reading says how short of CPU the process was between two reads. All are shares
// between 0 and 1.
type Reading struct {
	// Waiting is the share of the time in which some thread of the control group waited
	// for a CPU: "some" of https://docs.kernel.org/accounting/psi.html. Goroutines
	// that wait inside the Go scheduler do not show here: Busy does.
	Waiting float64
	// Machine is the same for the whole machine, if the group has no figure of its own:
	// the waiting thread may belong to another program.
	Machine float64
	// Throttled is the share of the periods of the CPU quota in which the control group
	// used it up: nr_throttled over nr_periods in cpu.stat.
	Throttled float64
	// Busy is the CPU time that the process used, as a share of what GOMAXPROCS
	// allows.
	Busy float64
}

// Short is the share of CPU that the process uses or is refused: the largest of
// Waiting, Throttled and Busy.
func (r Reading) Short() float64 { return max(r.Waiting, r.Throttled, r.Busy) }

// Denied is how much CPU was refused to anybody here: the largest of Waiting,
// Machine and Throttled.
func (r Reading) Denied() float64 { return max(r.Waiting, r.Machine, r.Throttled) }

// Reader reads the difference since its last read. Its methods may be called from
// any goroutine. Use New.
type Reader struct {
	root     fs.FS
	used     func() time.Duration
	pressure string   // path of the PSI file; empty if there is none
	own      bool     // it is of the control group
	stats    []string // paths at which cpu.stat may lie

	mu     sync.Mutex
	before sample
}

// sample holds counters at one moment. Those of a file that could not be read then are of the moment before.
type sample struct {
	at                 time.Time
	waitedAt           time.Time // of waited
	waited             time.Duration
	periods, throttled float64
	used               time.Duration
}

// New returns a Reader whose first Read covers the time after New.
func New() *Reader { return newReader(os.DirFS("/"), processTime) }

func newReader(root fs.FS, used func() time.Duration) *Reader {
	r := &Reader{root: root, used: used}
	second, first := groups(root)
	group := path.Join("sys/fs/cgroup", second)
	// The root group is the machine, and has no quota. A container sees its own group as "/".
	_, err := fs.Stat(root, path.Join(group, "cpu.max"))
	if _, ok := waited(root, path.Join(group, "cpu.pressure")); ok && err == nil {
		r.pressure, r.own = path.Join(group, "cpu.pressure"), true
	} else if _, ok := waited(root, "proc/pressure/cpu"); ok {
		r.pressure = "proc/pressure/cpu"
	}
	r.stats = []string{path.Join(group, "cpu.stat"), path.Join("sys/fs/cgroup/cpu", first, "cpu.stat")}
	r.before = r.sample()
	return r
}

// Read returns the shares since the Read before. Two reads at one moment are no
// pressure.
func (r *Reader) Read() Reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, before := r.sample(), r.before
	elapsed := now.at.Sub(before.at)
	if elapsed <= 0 {
		return Reading{}
	}
	r.before = now
	reading := Reading{
		Throttled: share(now.throttled-before.throttled, now.periods-before.periods),
		Busy:      share(float64(now.used-before.used), float64(elapsed)*float64(runtime.GOMAXPROCS(0))),
	}
	waiting := share(float64(now.waited-before.waited), float64(now.waitedAt.Sub(before.waitedAt)))
	if r.own {
		reading.Waiting = waiting
	} else {
		reading.Machine = waiting
	}
	return reading
}

func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(1, max(0, part/whole))
}

func (r *Reader) sample() sample {
	s := r.before
	s.at, s.used = time.Now(), r.used()
	if total, ok := waited(r.root, r.pressure); ok {
		s.waited, s.waitedAt = total, s.at
	}
	for _, file := range r.stats {
		// The cpu.stat of version 2's root group has no periods, so it is not the
		// right one.
		if counts := fields(r.root, file); counts["nr_periods"] > 0 {
			s.periods, s.throttled = counts["nr_periods"], counts["nr_throttled"]
			break
		}
	}
	return s
}

// groups returns the paths of the process's control groups: in version 2's tree, and
// in version 1's tree of the cpu controller.
func groups(root fs.FS) (second, first string) {
	for _, line := range lines(root, "proc/self/cgroup") {
		// hierarchy:controllers:path, see man 7 cgroups.
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		if parts[0] == "0" {
			second = parts[2]
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			if controller == "cpu" {
				first = parts[2]
			}
		}
	}
	return second, first
}

// waited returns the total of the line "some", in microseconds in the file.
func waited(root fs.FS, file string) (time.Duration, bool) {
	for _, line := range lines(root, file) {
		rest, some := strings.CutPrefix(line, "some ")
		_, total, found := strings.Cut(rest, "total=")
		if !some || !found {
			continue
		}
		us, err := strconv.ParseInt(strings.TrimSpace(total), 10, 64)
		return time.Duration(us) * time.Microsecond, err == nil
	}
	return 0, false
}

// fields reads lines of a name and a number.
func fields(root fs.FS, file string) map[string]float64 {
	values := map[string]float64{}
	for _, line := range lines(root, file) {
		name, value, _ := strings.Cut(line, " ")
		if v, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			values[name] = v
		}
	}
	return values
}

// longest bounds what is read of one file.
const longest = 64 << 10

func lines(root fs.FS, file string) []string {
	f, err := root.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var all []string
	for s := bufio.NewScanner(io.LimitReader(f, longest)); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}
