package process

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix" // pread

	"github.com/redline-go/redline/observe/pseudofile"
	"github.com/redline-go/redline/record/series"
)

const (
	// manyThreads is the number above which the files of each thread are read
	// every threadWindows windows only: 64 threads take about 0.5 ms.
	manyThreads   = 64
	threadWindows = 5
	// switchesEvery is the time between readings of context switches, whose
	// file is the costliest of a thread (14 us); their amounts are spread
	// evenly over the windows between.
	switchesEvery = 500 * time.Millisecond
)

// threads reads, when due, the figures that the kernel keeps only per thread.
func (s *state) threads(edge time.Duration) {
	t := &s.tree
	many := t.threads > manyThreads
	if edge >= s.threadsAt {
		if many {
			s.threadsAt = edge + threadWindows*s.subject.Window
		}
		var ok bool
		at, _ := s.bracket.Read(s.clock, func() error { ok = s.readSchedstats(); return nil })
		t.delay.next()
		if s.cpu == cpuSchedstat {
			t.cpu.next()
			s.countCPU(at)
		}
		if ok {
			s.meter.Count(series.ProcessRunDelay, "", at, float64(t.delay.total))
		}
	}
	if edge >= s.switchesAt {
		s.switchesAt = edge + switchesEvery
		if many {
			s.switchesAt += (threadWindows - 1) * switchesEvery
		}
		var ok bool
		at, _ := s.bracket.Read(s.clock, func() error { ok = s.readSwitches(); return nil })
		t.voluntary.next()
		t.involuntary.next()
		if ok {
			s.meter.Count(series.ProcessVoluntary, "", at, float64(t.voluntary.total))
			s.meter.Count(series.ProcessInvoluntary, "", at, float64(t.involuntary.total))
		}
		s.io()
	}
}

// readSchedstats adds up the threads' schedstat; ok is false when the kernel
// keeps none.
func (s *state) readSchedstats() (ok bool) {
	for _, m := range s.tree.members {
		s.eachSchedstat(m, func(tid int, text []byte) {
			onCPU, delay, fine := parseSchedstat(text)
			if !fine {
				return
			}
			ok = true
			s.tree.delay.add(tid, delay, m.scheduled)
			if s.cpu == cpuSchedstat {
				s.tree.cpu.add(tid, onCPU, m.scheduled)
			}
		})
		m.scheduled = true
	}
	if !ok {
		s.say("no run delay: it needs a kernel built with CONFIG_SCHED_INFO")
	}
	return ok
}

// readSwitches adds up the threads' context switches; ok is false when none of
// their files could be read.
func (s *state) readSwitches() (ok bool) {
	for _, m := range s.tree.members {
		s.eachThread(m, "/status", func(tid int, text []byte) {
			if n, fine := pseudofile.Keyed(text, "voluntary_ctxt_switches"); fine {
				ok = true
				s.tree.voluntary.add(tid, n, m.switched)
			}
			if n, ok := pseudofile.Keyed(text, "nonvoluntary_ctxt_switches"); ok {
				s.tree.involuntary.add(tid, n, m.switched)
			}
		})
		m.switched = true
	}
	return ok
}

// eachSchedstat calls f with the schedstat of each thread that still lives. The
// files are held open, which costs a third of opening them in each window; not
// those of a process with many threads, which would take descriptors that the
// load needs.
func (s *state) eachSchedstat(m *member, f func(tid int, text []byte)) {
	if m.threads > manyThreads {
		m.release()
		s.eachThread(m, "/schedstat", f)
		return
	}
	if len(m.tasks) != m.threads {
		s.hold(m)
	}
	var text [64]byte
	for tid, fd := range m.tasks {
		// A read at offset 0 makes the kernel generate the text, so the file need not be reopened.
		n, err := unix.Pread(fd, text[:], 0)
		if err != nil { // the thread has ended
			_ = unix.Close(fd)
			delete(m.tasks, tid)
			continue
		}
		f(tid, text[:n])
	}
}

// hold opens the schedstat of the threads that are new.
func (s *state) hold(m *member) {
	dir := s.path(m.pid, "/task")
	tids, err := pseudofile.Numbered(dir)
	if err != nil && !pseudofile.Gone(err) {
		s.say("threads of process %d: %v", m.pid, err)
	}
	if m.tasks == nil {
		m.tasks = map[int]int{}
	}
	for _, tid := range tids {
		if _, held := m.tasks[tid]; held || len(m.tasks) >= 2*manyThreads {
			continue
		}
		// unix.Open rather than os.Open: no *os.File with its finalizer for each of some
		// hundred threads. The descriptor of an ended thread reads ESRCH even if another
		// thread has its id by then.
		if fd, err := unix.Open(dir+"/"+strconv.Itoa(tid)+"/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			m.tasks[tid] = fd
		}
	}
}

// release closes the open files.
func (m *member) release() {
	for _, fd := range m.tasks {
		_ = unix.Close(fd) // opened for reading only
	}
	m.tasks = nil
}

// eachThread calls f with the file of each thread that still lives.
func (s *state) eachThread(m *member, file string, f func(tid int, text []byte)) {
	dir := s.path(m.pid, "/task")
	tids, err := pseudofile.Numbered(dir)
	if err != nil && !pseudofile.Gone(err) {
		s.say("threads of process %d: %v", m.pid, err)
	}
	for _, tid := range tids {
		if text, err := s.files.Read(dir + "/" + strconv.Itoa(tid) + file); err == nil {
			f(tid, text)
		}
	}
}
