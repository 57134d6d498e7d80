//go:build go1.25

package control

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

func TestFlightRecorder(t *testing.T) {
	_, path := start(t)
	var remote *RemoteError
	if _, _, err := ask(t, path, Request{Op: FlightDump}); !errors.As(err, &remote) || !strings.Contains(remote.Text, "does not run") {
		t.Errorf("a dump of nothing: %v", err)
	}
	begin := Request{Op: FlightStart, Length: time.Second, MaxBytes: 1 << 20}
	_, started, err := ask(t, path, begin)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // it continues after a dump
		runtime.Gosched()
		data, outcome, err := ask(t, path, Request{Op: FlightDump})
		if err != nil || !bytes.HasPrefix(data, []byte("go 1.")) {
			t.Fatalf("%d bytes, %v", len(data), err)
		}
		if outcome.From > outcome.To || outcome.From < started.From-started.Error || outcome.To-outcome.From > int64(time.Minute) {
			t.Errorf("started %+v, dumped %+v", started, outcome)
		}
	}
	if _, _, err := ask(t, path, begin); err != nil {
		t.Errorf("started anew: %v", err)
	}
	for range 2 { // stopping twice is harmless
		if _, _, err := ask(t, path, Request{Op: FlightStop}); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := ask(t, path, Request{Op: FlightDump}); err == nil {
		t.Error("a stopped recorder answers")
	}
}

func TestCloseStopsTheFlightRecorder(t *testing.T) {
	s, path := start(t)
	if _, _, err := ask(t, path, Request{Op: FlightStart, Length: time.Second, MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	_, other := start(t)
	if _, _, err := ask(t, other, Request{Op: FlightStart, Length: time.Second, MaxBytes: 1 << 20}); err != nil {
		t.Errorf("the recorder still runs: %v", err)
	}
}

// TestTraceLendsItsProfile asks for a CPU profile while a trace runs for which
// one was started.
func TestTraceLendsItsProfile(t *testing.T) {
	s, path := start(t)
	c := dial(t, path, Request{Op: Trace, Length: MaxTrace, MaxBytes: 64 << 20}.String())
	head := make([]byte, 1)
	if _, err := io.ReadFull(c, head); err != nil { // it has begun
		t.Fatal(err)
	}
	if err := pprof.StartCPUProfile(io.Discard); err == nil {
		t.Error("no CPU profile runs beside the trace")
		pprof.StopCPUProfile()
	}
	if _, outcome, err := ask(t, path, Request{Op: CPU, Length: 20 * time.Millisecond}); err != nil || outcome.Cut {
		t.Errorf("a profile while one is lent: %+v, %v", outcome, err)
	}
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := Receive(io.MultiReader(bytes.NewReader(head), c), io.Discard, 128<<20); err != nil {
		t.Error(err)
	}
	s.sampling.mu.Lock()
	defer s.sampling.mu.Unlock()
	if s.sampling.lent || s.sampling.taken != 0 {
		t.Errorf("%+v", &s.sampling)
	}
}
