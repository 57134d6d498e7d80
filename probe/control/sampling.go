package control

import (
	"io"
	"runtime/pprof"
	"sync"
)

// sampling lends execution traces a CPU profile: the runtime puts CPU samples
// into a trace only while one runs, and runs one at a time.
type sampling struct {
	mu     sync.Mutex
	lent   bool // our profile that no one reads runs
	traces int  // that want one
	taken  int  // profiles that were asked for are under way
}

// lend starts a profile for a trace unless one runs; the target's own does as
// well.
func (s *sampling) lend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traces++
	if s.taken == 0 && !s.lent {
		s.lent = pprof.StartCPUProfile(io.Discard) == nil
	}
}

// giveBack ends what lend started, with the last trace.
func (s *sampling) giveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traces--
	if s.traces == 0 {
		s.end()
	}
}

// take makes room for a profile that was asked for.
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
