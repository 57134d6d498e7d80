package usage

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix" // getrusage
)

// mostThreads bounds how many threads are watched. A process with more is not
// a generator at work, and its delay is then a lower bound.
const mostThreads = 256

// relist is how often the threads are listed; in between only known ones are
// read, which costs one system call each.
const relist = time.Second

// Meter reads the process's own CPU time and run-queue delay.
//
// /proc/self/schedstat covers the main thread only, so every thread's file is
// kept open and read again: "<ns on CPU> <ns in a run queue> <time slices>",
// https://docs.kernel.org/scheduler/sched-stats.html
type Meter struct {
	tasks   string // "/proc/self/task"
	threads map[int]*thread
	listed  time.Time
	waited  waited // of all threads, ended ones included
	known   bool
}

type thread struct {
	file   *os.File
	waited waited // at the last reading
}

// waited is time in run queues, and how often a thread was put on a CPU after it.
type waited struct {
	delay time.Duration
	runs  int64
}

// NewMeter returns a meter; Close closes its files.
func NewMeter() *Meter {
	return &Meter{tasks: "/proc/self/task", threads: map[int]*thread{}}
}

// Read returns the totals so far: of CPU time since the process began, of the delay since the meter's
// first reading.
func (m *Meter) Read() Usage {
	var self unix.Rusage
	u := Usage{}
	if unix.Getrusage(unix.RUSAGE_SELF, &self) == nil {
		u.CPU = time.Duration(self.Utime.Nano() + self.Stime.Nano())
	}
	if now := time.Now(); now.Sub(m.listed) >= relist {
		m.listed = now
		m.list()
	}
	var line [96]byte
	for id, t := range m.threads {
		// Read at offset 0, which makes the kernel generate it anew; seeking first would be a
		// second system call.
		n, err := t.file.ReadAt(line[:], 0)
		now, ok := parseWaited(line[:n])
		if n == 0 && err != nil || !ok { // the thread ended
			t.file.Close()
			delete(m.threads, id)
			continue
		}
		m.known = true
		m.waited.delay += now.delay - t.waited.delay
		m.waited.runs += now.runs - t.waited.runs
		t.waited = now
	}
	u.Delay, u.Runs, u.DelayKnown = m.waited.delay, m.waited.runs, m.known
	return u
}

// list opens the files of threads that are new since the last listing. What a
// thread waited before it was first seen counts: it began after the last
// listing, or before the first, whose total is only ever subtracted.
func (m *Meter) list() {
	dir, err := os.Open(m.tasks)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(mostThreads)
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err != nil || m.threads[id] != nil || len(m.threads) >= mostThreads {
			continue
		}
		if f, err := os.Open(m.tasks + "/" + name + "/schedstat"); err == nil {
			m.threads[id] = &thread{file: f}
		}
	}
}

// Close closes the files; the meter must not be read any more.
func (m *Meter) Close() {
	for _, t := range m.threads {
		t.file.Close()
	}
}

// parseWaited parses the second and third field of a schedstat line.
func parseWaited(line []byte) (w waited, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) < 3 {
		return w, false
	}
	ns, err := strconv.ParseInt(string(fields[1]), 10, 64)
	runs, err2 := strconv.ParseInt(string(fields[2]), 10, 64)
	return waited{time.Duration(ns), runs}, err == nil && err2 == nil
}
