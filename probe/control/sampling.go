package control

import (
	"io"
	"runtime/pprof"
	"sync"
)

// sampling provides execution traces with a CPU profile: the runtime puts CPU samples
// into a trace only while one runs, and runs one at a time.
type sampling struct {
	mu     sync.Mutex
	lent   bool // our profile that no one reads runs
	traces int  // that need one
	taken  int  // requested profiles in progress
}

// lend starts a profile for a trace unless one runs; the target's own serves as
// well.
func (s *sampling) lend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traces++
	if s.taken == 0 && !s.lent {
		s.lent = pprof.StartCPUProfile(io.Discard) == nil
	}
}

// giveBack ends, with the last trace, the profile that lend started.
func (s *sampling) giveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traces--
	if s.traces == 0 {
		s.end()
	}
}

// take makes room for a requested profile.
func (s *sampling) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken++
	s.end()
}

func (s *sampling) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
}

func (s *sampling) end() {
	if s.lent {
		pprof.StopCPUProfile()
		s.lent = false
	}
}
