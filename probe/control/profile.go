package control

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

// snapshot answers with a profile as it stands. Goroutine stacks are taken in
// protobuf form only, never as debug=2 text, which stops the world for long.
func (s *Server) snapshot(kind string, out *answer) (Outcome, error) {
	profile := pprof.Lookup(kind)
	if profile == nil {
		return Outcome{}, fmt.Errorf("no profile %q", kind)
	}
	// Into memory first: the time is that of the taking, not of the sending,
	// and a slow client holds no lock of the runtime's.
	buf := &bounded{limit: maxProfile}
	from := s.now()
	err := profile.WriteTo(buf, 0)
	to := s.now()
	if err != nil {
		return Outcome{}, err
	}
	_, err = out.Write(buf.b.Bytes())
	return Outcome{From: from, To: to, Previous: -1}, err
}

// cpu answers with a CPU profile. The runtime takes one at a time: when the
// target, or another client, profiles already, its error is the answer.
func (s *Server) cpu(length time.Duration, out *answer, ended <-chan struct{}) (Outcome, error) {
	buf := &bounded{limit: maxProfile}
	if err := pprof.StartCPUProfile(buf); err != nil {
		return Outcome{}, err
	}
	from := s.now()
	cut := s.wait(length, ended, nil)
	to := s.now()
	pprof.StopCPUProfile()
	if buf.over {
		return Outcome{}, errTooLargeProfile
	}
	_, err := out.Write(buf.b.Bytes())
	return Outcome{From: from, To: to, Previous: -1, Cut: cut}, err
}

// trace answers with an execution trace, sent while it is taken: the target
// then never holds more of it than the runtime's own buffers.
func (s *Server) trace(r Request, out *answer, ended <-chan struct{}) (Outcome, error) {
	out.limit = r.MaxBytes
	out.full = make(chan struct{})
	// A stalled client must not make the runtime pile up buffers for long.
	if err := trace.Start(out); err != nil {
		return Outcome{}, err
	}
	from := s.now()
	cut := s.wait(r.Length, ended, out.full)
	to := s.now()
	trace.Stop() // returns once all was passed to out
	if err := out.failed(); err != nil {
		return Outcome{}, fmt.Errorf("send trace: %w", err)
	}
	return Outcome{From: from, To: to, Previous: -1, Cut: cut}, nil
}

var errTooLargeProfile = errors.New("profile is too large")

// answer frames what is written to it. After a failed write it discards, so
// that a trace being written ends quickly. What comes after limit was passed is
// still sent: it is the end of a trace, without which the rest is worth less.
type answer struct {
	w     io.Writer
	limit int64         // 0: none
	full  chan struct{} // closed when limit is passed; nil without one

	sent  int64
	frame []byte       // reused
	err   atomic.Value // of failure
}

// failure wraps an error, since an atomic.Value wants one concrete type.
type failure struct{ error }

func (a *answer) Write(p []byte) (int, error) {
	if a.failed() != nil {
		return len(p), nil
	}
	before := a.sent
	a.sent += int64(len(p))
	var err error
	if a.frame, err = writeFrame(a.w, a.frame, frameData, p); err != nil {
		a.err.Store(failure{err})
	}
	if a.limit > 0 && before <= a.limit && (a.sent > a.limit || a.failed() != nil) {
		a.fill()
	}
	return len(p), nil
}

// fill tells the waiting side to stop; it is called by one goroutine only.
func (a *answer) fill() {
	select {
	case <-a.full:
	default:
		close(a.full)
	}
}

func (a *answer) failed() error {
	if f, ok := a.err.Load().(failure); ok {
		return f.error
	}
	return nil
}

// bounded is a buffer that refuses to grow above limit.
type bounded struct {
	b     bytes.Buffer
	limit int
	over  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.b.Len()+len(p) > b.limit {
		b.over = true
		return 0, errTooLargeProfile
	}
	return b.b.Write(p)
}

// rates remembers what the sampling rates were before redline set them.
type rates struct {
	mu      sync.Mutex
	mutex   int
	changed map[string]bool
}

// set sets a rate and returns the one before, -1 where the runtime cannot tell.
func (r *rates) set(kind string, rate int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(map[string]bool)
	}
	first := !r.changed[kind]
	r.changed[kind] = true
	if kind == "block" {
		runtime.SetBlockProfileRate(rate)
		return -1
	}
	before := runtime.SetMutexProfileFraction(rate)
	if first {
		r.mutex = before
	}
	return before
}

// restore gives back the mutex fraction and turns the block profile off if
// redline turned it on: the runtime does not tell what its rate was.
func (r *rates) restore() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed["mutex"] {
		runtime.SetMutexProfileFraction(r.mutex)
	}
	if r.changed["block"] {
		runtime.SetBlockProfileRate(0)
	}
	r.changed = nil
}
