package control

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"time"

	"github.com/redline-go/redline/probe/operations"
)

// Bounds of a server, so that it cannot be used against the target.
const (
	maxConnections = 8
	lineTimeout    = 5 * time.Second
	writeTimeout   = 5 * time.Second
	maxProfile     = 32 << 20 // compressed; it is held in the target's memory
)

// Server answers requests on a Unix socket.
type Server struct {
	listener net.Listener
	now      func() int64 // CLOCK_MONOTONIC, ns
	stop     chan struct{}
	slots    chan struct{}
	welcome  func(net.Conn) bool // whether the other end may send requests
	once     sync.Once
	rates    rates
	sampling sampling
	flight   flight
	// Pause receives true to pause the samples of the ring and false to resume
	// them; nil if there is no ring. Set it before Serve.
	Pause chan<- bool
	// NoRing says why nobody samples into the ring that redline wants; "" if somebody does. Set it before Serve.
	NoRing string
	start  int64 // when it began to listen: distinguishes a process from one that replaced it
}

// Listen makes the socket at path, for its owner alone, in place of one that an
// earlier process left there. now reads CLOCK_MONOTONIC in ns.
//
// Between its creation and the chmod the socket has the permissions that the
// process's umask leaves; the directory, which redline makes for its user
// alone, keeps others out, and the user at the other end is checked. The umask
// itself is the target's and stays as it is.
func Listen(path string, now func() int64) (*Server, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("listen for redline: %s exists and is no socket", path)
		}
		_ = os.Remove(path) // Listen reports if it is still there
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen for redline: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, fmt.Errorf("listen for redline: %w", err)
	}
	return &Server{
		listener: listener,
		now:      now,
		stop:     make(chan struct{}),
		slots:    make(chan struct{}, maxConnections),
		welcome:  welcome(path),
		start:    now(),
	}, nil
}

// Serve answers until Close. It never panics.
func (s *Server) Serve() {
	defer func() { _ = recover() }()
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			select {
			case <-s.stop:
				return
			case <-time.After(100 * time.Millisecond):
				continue // the target is out of descriptors: no reason to end
			}
		}
		if !s.welcome(conn) {
			conn.Close()
			continue
		}
		select {
		case s.slots <- struct{}{}:
			go s.serve(conn)
		default:
			conn.Close()
		}
	}
}

// Close ends the server, its profiles in progress and the flight recorder, restores
// the sampling rates, and removes the socket.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.stop)
		s.listener.Close() // removes the socket
		s.rates.restore()
		s.flight.stop()
	})
}

func (s *Server) serve(conn net.Conn) {
	defer func() {
		_ = recover() // whatever happens here is no reason to end the target
		conn.Close()
		<-s.slots
	}()
	_ = conn.SetReadDeadline(time.Now().Add(lineTimeout))
	in := bufio.NewReaderSize(io.LimitReader(conn, 2*maxLine), 2*maxLine)
	line, err := in.ReadString('\n')
	if err != nil {
		return
	}
	request, err := Parse(line)
	if err != nil {
		_, _ = writeFrame(deadlined{conn}, nil, frameError, []byte(err.Error()))
		return
	}
	_ = conn.SetReadDeadline(time.Time{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// The client sends nothing more: any end of this read, also that of
		// the connection's close above, means that it wants no more.
		_, _ = in.ReadByte()
	}()
	out := &answer{w: deadlined{conn}}
	outcome, err := s.do(request, out, ended)
	switch {
	case out.failed() != nil: // cut within a frame: nothing more can be said
	case err != nil:
		_, _ = writeFrame(out.w, nil, frameError, []byte(clean([]byte(err.Error()))))
	default:
		_, _ = writeFrame(out.w, nil, frameEnd, []byte(outcome.String()))
	}
}

func (s *Server) do(r Request, out *answer, ended <-chan struct{}) (Outcome, error) {
	switch r.Op {
	case Info:
		return s.info(out)
	case Profile:
		return s.snapshot(r.Kind, out)
	case CPU:
		return s.cpu(r.Length, out, ended)
	case Trace:
		return s.trace(r, out, ended)
	case Rate:
		if r.Kind == counted {
			return s.count(r.Rate == 1)
		}
		if r.Kind == ring {
			return s.pause(r.Rate == 0)
		}
		now := s.now()
		return Outcome{From: now, To: now, Previous: s.rates.set(r.Kind, r.Rate)}, nil
	case FlightStart:
		from, half, err := s.began(func() error { return s.flight.start(r.Length, r.MaxBytes, s.now()) })
		return Outcome{From: from, To: from, Error: half, Previous: -1}, err
	case FlightDump:
		return s.flightDump(out)
	case Operations:
		from := s.now()
		if !operations.Started() {
			return Outcome{}, errors.New("no operations are counted: the build is not instrumented")
		}
		err := operations.Write(out)
		return Outcome{From: from, To: s.now(), Previous: -1}, err
	case FlightStop:
		s.flight.stop()
		now := s.now()
		return Outcome{From: now, To: now, Previous: -1}, nil
	}
	return Outcome{}, errors.New("unknown request")
}

// pause stops the samples of the ring, or resumes them. Once it has returned from
// stopping them none is taken: this is how the cost of sampling is measured.
func (s *Server) pause(pause bool) (Outcome, error) {
	timer := time.NewTimer(lineTimeout)
	defer timer.Stop()
	select {
	case s.Pause <- pause:
		now := s.now()
		return Outcome{From: now, To: now, Previous: -1}, nil
	case <-timer.C:
	case <-s.stop:
	}
	return Outcome{}, errors.New("nobody samples into a ring")
}

func (s *Server) info(out *answer) (Outcome, error) {
	from := s.now()
	_, err := fmt.Fprintf(out, "pid=%d\nstart=%d\ngo=%s\nos=%s\narch=%s\ngomaxprocs=%d\ncpus=%d\ngoroutines=%d\ntracing=%t\n",
		os.Getpid(), s.start, runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.NumGoroutine(), trace.IsEnabled())
	if err == nil && s.NoRing != "" {
		_, err = fmt.Fprintf(out, "%s%s\n", NoRing, clean([]byte(s.NoRing)))
	}
	return Outcome{From: from, To: s.now(), Previous: -1}, err
}

// wait returns when length is over, or earlier if the client or the server
// ends or limit fires, and reports whether it was earlier.
func (s *Server) wait(length time.Duration, ended, limit <-chan struct{}) (cut bool) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false
	case <-ended:
	case <-limit:
	case <-s.stop:
	}
	return true
}

// deadlined gives each write its own deadline: a client that stops reading
// holds nothing of the target any longer than that.
type deadlined struct{ net.Conn }

func (d deadlined) Write(p []byte) (int, error) {
	_ = d.SetWriteDeadline(time.Now().Add(writeTimeout))
	return d.Conn.Write(p)
}

// count resumes the counting of statements and calls, or pauses it.
func (s *Server) count(on bool) (Outcome, error) {
	if !operations.Started() {
		return Outcome{}, errors.New("no operations are counted: the build is not instrumented")
	}
	if on {
		operations.Start()
	} else {
		operations.Stop()
	}
	now := s.now()
	return Outcome{From: now, To: now, Previous: -1}, nil
}
