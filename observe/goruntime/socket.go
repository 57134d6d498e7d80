package goruntime

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/redline-go/redline/probe/control"
	"github.com/redline-go/redline/record/timebase"
)

// socket is the way in through the probe's control socket.
type socket struct {
	path  string
	clock timebase.Clock
}

var (
	_ client = (*socket)(nil)
	_ tuner  = (*socket)(nil)
	_ flier  = (*socket)(nil)
)

// appear is how long the socket may take to appear: the probe makes it next to
// the program's own start.
const appear = 2 * time.Second

// check waits until the probe answers.
func (s *socket) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, appear)
	defer cancel()
	for {
		_, err := s.ask(ctx, control.Request{Op: control.Info}, 1<<16)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// snapshot takes a profile of state, which the probe dates by its own readings of the
// clock.
func (s *socket) snapshot(ctx context.Context, kind string) (capture, error) {
	return s.ask(ctx, control.Request{Op: control.Profile, Kind: kind}, maxProfile)
}

// cpu profiles for a length. The probe ends early when ctx does, and sends what it has.
func (s *socket) cpu(ctx context.Context, length time.Duration) (capture, error) {
	return s.ask(ctx, control.Request{Op: control.CPU, Length: length}, maxProfile)
}

// trace takes an execution trace. limit bounds its size in bytes; the capture's span says
// how far it got.
func (s *socket) trace(ctx context.Context, length time.Duration, limit int64) (capture, error) {
	// The probe stops at the limit and sends the trace's end after it.
	return s.ask(ctx, control.Request{Op: control.Trace, Length: length, MaxBytes: limit}, 2*limit)
}

// rate sets a sampling rate of the runtime (runtime.SetMutexProfileFraction,
// SetBlockProfileRate) and returns the previous one, so that it can be put back.
func (s *socket) rate(ctx context.Context, kind string, rate int) (int, error) {
	_, outcome, err := s.exchange(ctx, control.Request{Op: control.Rate, Kind: kind, Rate: rate}, 1<<10)
	return outcome.Previous, err
}

// fly starts the flight recorder (runtime/trace.FlightRecorder, Go 1.25), which keeps
// the last length of events within so many bytes.
func (s *socket) fly(ctx context.Context, length time.Duration, bytes int64) error {
	_, _, err := s.exchange(ctx, control.Request{Op: control.FlightStart, Length: length, MaxBytes: bytes}, 1<<10)
	return err
}

// dump fetches the flight recorder's trace. The recorder continues.
func (s *socket) dump(ctx context.Context) (capture, error) {
	return s.ask(ctx, control.Request{Op: control.FlightDump}, maxProfile)
}

// land stops the flight recorder, and with it its cost in the target.
func (s *socket) land(ctx context.Context) error {
	_, _, err := s.exchange(ctx, control.Request{Op: control.FlightStop}, 1<<10)
	return err
}

// identity is the process's id and when its probe began, which no other process
// shares.
func (s *socket) identity(ctx context.Context) (string, error) {
	c, err := s.ask(ctx, control.Request{Op: control.Info}, 1<<16)
	if err != nil {
		return "", err
	}
	var id []string
	for line := range strings.Lines(string(c.data)) {
		if strings.HasPrefix(line, "pid=") || strings.HasPrefix(line, "start=") {
			id = append(id, strings.TrimSpace(line))
		}
	}
	return strings.Join(id, " "), nil
}

// ask exchanges one request for at most limit bytes. An error comes with the data up to
// it: the first part of a trace that was cut short is still useful.
func (s *socket) ask(ctx context.Context, r control.Request, limit int64) (capture, error) {
	sent := s.clock.Now()
	data, outcome, err := s.exchange(ctx, r, limit)
	if err != nil {
		// Whatever came, of a trace say, came within this time.
		span := timebase.Span{From: sent, To: s.clock.Now()}
		return capture{data: data, span: span, err: span.Len() / 2, cut: true}, err
	}
	return capture{
		data: data,
		span: timebase.Span{From: s.clock.FromMonotonic(outcome.From), To: s.clock.FromMonotonic(outcome.To)},
		err:  time.Duration(outcome.Error),
		cut:  outcome.Cut,
		ends: true,
	}, nil
}

// exchange sends one request and receives its answer. When ctx ends before
// that, the sending side is shut down, on which the probe ends its work
// and answers with its data so far.
func (s *socket) exchange(ctx context.Context, r control.Request, limit int64) ([]byte, control.Outcome, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", s.path)
	if err != nil {
		return nil, control.Outcome{}, fmt.Errorf("probe: %w", err)
	}
	conn := c.(*net.UnixConn)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(r.Length + overhang))
	if _, err := io.WriteString(conn, r.String()+"\n"); err != nil {
		return nil, control.Outcome{}, fmt.Errorf("probe: %w", err)
	}
	defer context.AfterFunc(ctx, func() {
		_ = conn.CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(overhang))
	})()
	var data bytes.Buffer
	outcome, err := control.Receive(conn, &data, limit)
	if err != nil {
		return data.Bytes(), outcome, fmt.Errorf("probe: %s: %w", r.Op, err)
	}
	return data.Bytes(), outcome, nil
}
