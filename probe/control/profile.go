package control

import (
	"errors"
	"fmt"
	"runtime/pprof"
	"runtime/trace"
	"time"
)

// snapshot answers with a profile of the current state. Goroutine stacks are taken in
// protobuf form only, never as debug=2 text, which stops the world for long.
func (s *Server) snapshot(kind string, out *answer) (Outcome, error) {
	profile := pprof.Lookup(kind)
	if profile == nil {
		return Outcome{}, fmt.Errorf("no profile %q", kind)
	}
	// Into memory first: the time is that of the taking, not of the sending,
	// and a slow client holds no lock of the runtime.
	buf := &bounded{limit: maxProfile}
	from := s.now()
	err := profile.WriteTo(buf, 0)
	to := s.now()
	if err != nil {
		return Outcome{}, err
	}
	_, err = out.Write(buf.b.Bytes())
	return Outcome{From: from, To: to, Error: (to - from) / 2, Previous: -1}, err
}

// cpu answers with a CPU profile. The runtime takes one at a time: if the
// target, or another client, is already profiling, the answer is the runtime's error.
func (s *Server) cpu(length time.Duration, out *answer, ended <-chan struct{}) (Outcome, error) {
	s.sampling.take()
	defer s.sampling.release()
	var buf *bounded
	var from, half, lost int64
	asked := s.now()
	for try := 0; try < startTries; try++ {
		if try > 0 {
			pprof.StopCPUProfile()
			lost = s.now() - asked
		}
		var err error
		buf = &bounded{limit: maxProfile}
		from, half, err = s.began(func() error { return pprof.StartCPUProfile(buf) })
		if err != nil {
			return Outcome{}, err
		}
		if half <= unclearStart {
			break
		}
	}
	cut := s.wait(length-time.Duration(lost), ended, nil)
	to := s.now()
	pprof.StopCPUProfile()
	if buf.over {
		return Outcome{}, errTooLargeProfile
	}
	_, err := out.Write(buf.b.Bytes())
	return Outcome{From: from, To: to, Error: half, Previous: -1, Cut: cut}, err
}

// A CPU profile whose start was interrupted for longer than unclearStart is
// begun again, at most startTries times in all: on a saturated machine its instant
// would be uncertain by milliseconds. Ending one takes up to 0.2 s, by which the
// profile is shorter.
const (
	unclearStart = int64(500 * time.Microsecond)
	startTries   = 3
)

// trace answers with an execution trace, sent while it is taken: the target
// then never holds more of it than the runtime's own buffers.
func (s *Server) trace(r Request, out *answer, ended <-chan struct{}) (Outcome, error) {
	out.limit = r.MaxBytes
	out.full = make(chan struct{})
	s.sampling.lend()
	defer s.sampling.giveBack() // after the trace: it takes up to 0.2 s
	from, half, err := s.began(func() error { return trace.Start(out) })
	if err != nil {
		return Outcome{}, err
	}
	cut := s.wait(r.Length, ended, out.full)
	to := s.now()
	trace.Stop() // returns once everything was passed to out
	if err := out.failed(); err != nil {
		return Outcome{}, fmt.Errorf("send trace: %w", err)
	}
	return Outcome{From: from, To: to, Error: half, Previous: -1, Cut: cut}, nil
}

// flightDump answers with the trace that the flight recorder keeps. It is read
// into memory first, so that a slow client does not hold up the recorder.
func (s *Server) flightDump(out *answer) (Outcome, error) {
	buf := &bounded{limit: maxProfile}
	before := s.now()
	from, err := s.flight.dump(buf, before)
	after := s.now()
	if buf.over {
		return Outcome{}, errTooLargeProfile
	}
	if err != nil {
		return Outcome{}, err
	}
	_, err = out.Write(buf.b.Bytes())
	// The runtime ends the stretch somewhere within the call.
	half := (after - before) / 2
	return Outcome{From: from, To: before + half, Error: half, Previous: -1}, err
}

// began calls start and returns when the thing that it starts began, and the bound on
// the error of that instant: half of the time that the call took.
func (s *Server) began(start func() error) (from, half int64, err error) {
	before := s.now()
	if err := start(); err != nil {
		return 0, 0, err
	}
	half = (s.now() - before) / 2
	return before + half, half, nil
}

var errTooLargeProfile = errors.New("profile is too large")
