package process

import (
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/pseudofile"
	"github.com/redline-go/redline/record/series"
)

// maxMembers bounds the tree of processes that is followed.
const maxMembers = 256

// cpuFrom says where the total of CPU time comes from, best first.
type cpuFrom int

const (
	cpuClock     cpuFrom = iota // ns
	cpuSchedstat                // ns, of living threads
	cpuTicks                    // 10 ms
)

// member is one process of the target.
type member struct {
	pid     int
	start   uint64 // distinguishes a later process with the same pid
	ended   bool
	threads int
	// parent, first and last are from its looks; first and last are the ticks that its
	// parent counts as reaped once it has waited for it.
	parent      int
	looked      bool
	first, last uint64
	// scheduled and switched mean that its threads' schedstat and status were
	// read before, so that a thread new there is newborn.
	scheduled, switched bool
	tasks               map[int]int // descriptors of its threads' schedstat, by thread
}

// tree is the target: a process and its descendants, with sums that do not fall
// when one of them ends.
type tree struct {
	members   []*member    // parents before children
	strangers map[int]bool // processes that are no members, at the last look

	cpu, delay             tally // ns
	user, system           tally // ticks
	reaped                 reaped
	minor, major           tally
	voluntary, involuntary tally
	read, write            tally // bytes

	ratio   ratio
	rss     uint64 // pages
	threads int
}

// chooseCPU decides where CPU time is read: the CPU clock in ns, else schedstat in ns (a
// kernel without CONFIG_SCHEDSTATS has none), else ticks of 10 ms.
func (s *state) chooseCPU(pid int) {
	if s.options.Root == "" {
		if _, err := observe.CPUTime(pid); err == nil {
			return
		}
	}
	s.cpu = cpuTicks
	if text, err := s.files.Read(s.path(pid, "/schedstat")); err == nil {
		if _, _, ok := parseSchedstat(text); ok {
			s.cpu = cpuSchedstat
		}
	}
}

// path is a process's file below the injected root.
func (s *state) path(pid int, file string) string {
	return s.proc + "/" + strconv.Itoa(pid) + file
}

// processes reads each process's own files, then those of its threads.
func (s *state) processes(edge time.Duration) {
	t := &s.tree
	at, _ := s.bracket.Read(s.clock, func() error { s.readStats(); return nil })
	t.members = slices.DeleteFunc(t.members, func(m *member) bool { return m.ended })
	if len(t.members) == 0 {
		return
	}
	for _, tally := range []*tally{&t.user, &t.system, &t.reaped.waited, &t.minor, &t.major} {
		tally.next()
	}
	switch s.cpu {
	case cpuClock:
		t.cpu.next()
		s.countCPU(at)
	case cpuTicks:
		t.cpu.total = (t.user.total + t.system.total) * tick
		s.countCPU(at)
	}
	s.meter.Count(series.ProcessReaped, "", at, float64(t.reaped.ticks()*tick))
	s.meter.Count(series.ProcessMinorFaults, "", at, float64(t.minor.total))
	s.meter.Count(series.ProcessMajorFaults, "", at, float64(t.major.total))
	s.meter.Gauge(series.ProcessRSS, "", edge, float64(t.rss)*float64(os.Getpagesize()))
	s.meter.Gauge(series.ProcessThreads, "", edge, float64(t.threads))
	s.threads(edge)
}

// readStats reads clock and stat of every process. A bracket may run it twice
// for one edge, which the tallies do not mind.
func (s *state) readStats() {
	t := &s.tree
	t.rss, t.threads = 0, 0
	for _, m := range t.members {
		if m.ended {
			continue
		}
		st, onCPU, err := s.readStat(m)
		if err == nil && st.start != m.start {
			s.replaced = true
			s.say("pid %d is another process from %s into the run on: its figures are absent", m.pid, notation.Time(s.clock.Now()))
		}
		if pseudofile.Gone(err) || (err == nil && (st.start != m.start || st.ended())) {
			m.ended = true
			m.release()
			t.reaped.end(m, t.members)
			continue
		}
		if err != nil {
			s.say("process %d: %v", m.pid, err)
			continue
		}
		if s.cpu == cpuClock {
			t.cpu.add(m.pid, onCPU, false)
		}
		t.user.add(m.pid, st.user, false)
		t.system.add(m.pid, st.system, false)
		t.reaped.add(m, st)
		t.minor.add(m.pid, st.minor, false)
		t.major.add(m.pid, st.major, false)
		t.rss += st.rss
		t.threads += int(st.threads)
		m.threads = int(st.threads)
	}
}

// readStat reads a member's stat file and its time on a CPU, as close together as two
// calls can be.
func (s *state) readStat(m *member) (st stat, onCPU uint64, err error) {
	if s.cpu == cpuClock {
		used, err := observe.CPUTime(m.pid)
		if err != nil {
			return st, 0, err
		}
		onCPU = uint64(used)
	}
	text, err := s.files.Read(s.path(m.pid, "/stat"))
	if err != nil {
		return st, 0, err
	}
	st, err = parseStat(text)
	return st, onCPU, err
}

// countCPU divides the CPU time so far into user and system.
func (s *state) countCPU(at time.Duration) {
	t := &s.tree
	t.ratio.add(at, t.cpu.total, t.user.total, t.system.total)
	s.meter.Count(series.ProcessUser, "", at, t.ratio.user)
	s.meter.Count(series.ProcessSystem, "", at, t.ratio.system)
}

// findChildren looks for descendants that are not followed yet. The kernel
// lists a task's children only if built with CONFIG_PROC_CHILDREN, so the parent
// of every process is read, once: a process that is not a descendant when first
// seen does not become one.
func (s *state) findChildren() {
	pids, err := pseudofile.Numbered(s.proc)
	if err != nil {
		s.say("children of the target are not observed: %v", err)
		return
	}
	t := &s.tree
	followed := map[int]bool{}
	for _, m := range t.members {
		followed[m.pid] = true
	}
	strangers, fresh := make(map[int]bool, len(pids)), map[int]stat{}
	for _, pid := range pids {
		if strangers[pid] = t.strangers[pid]; strangers[pid] || followed[pid] {
			continue
		}
		text, err := s.files.Read(s.path(pid, "/stat"))
		if err != nil {
			continue // ended since it was listed
		}
		if st, err := parseStat(text); err == nil && !st.ended() {
			fresh[pid] = st
		}
	}
	// /proc lists by number, and numbers wrap: a child may come before its parent.
	for found := true; found; { // once per generation
		found = false
		for pid, st := range fresh {
			if followed[st.parent] && len(t.members) < maxMembers {
				t.members = append(t.members, &member{pid: pid, start: st.start, threads: int(st.threads)})
				delete(fresh, pid)
				followed[pid], found = true, true
			}
		}
	}
	for pid := range fresh {
		strangers[pid] = true
	}
	t.strangers = strangers
	if len(t.members) == maxMembers {
		s.say("only the first %d processes of the target are observed", maxMembers)
	}
}
