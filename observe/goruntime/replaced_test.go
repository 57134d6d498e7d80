package goruntime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/timebase"
)

// changing is a client whose target becomes another process after some
// snapshots.
type changing struct {
	scripted
	heap  []byte
	shots int
	after int
}

func (c *changing) identity(context.Context) (string, error) {
	if c.shots >= c.after {
		return "pid=7 start=2000", nil
	}
	return "pid=7 start=1000", nil
}

func (c *changing) cpu(context.Context, time.Duration) (capture, error) {
	return capture{}, errors.New("no CPU profile")
}

func (c *changing) snapshot(_ context.Context, kind string) (capture, error) {
	if kind == "goroutineleak" {
		return capture{}, &statusError{http.StatusNotFound, ""}
	}
	c.shots++
	now := c.clock.Now()
	return capture{data: c.heap, span: span(now, now), err: 1}, nil
}

// TestNothingIsSubtractedAcrossTwoProcesses has a target of the same pid whose
// counters happen not to have fallen.
func TestNothingIsSubtractedAcrossTwoProcesses(t *testing.T) {
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[int]int{100: 3, len(kinds): 0} {
		c := &changing{scripted: scripted{clock: clock}, heap: heapOf(t, 1000, 10), after: after}
		p := NewProfiles(Options{CPULength: -1})
		p.client, p.subject = c, observe.Subject{Clock: clock, Steady: planned(-time.Second, clock.Now())}
		p.sampled = map[string]bool{"allocs": true, "mutex": true, "block": true} // an empty difference means something
		sink := &observetest.Sink{}
		p.takeSnapshots(t.Context(), sink)
		differences := 0
		for _, got := range sink.Profiles() {
			if got.Span.Len() > 0 || got.Type != "heap" && got.Type != "goroutine" {
				differences++
			}
		}
		if reported := strings.Contains(p.Health().Why, "took the target's place"); differences != want ||
			reported != (want == 0) || reported != (len(p.Health().Gaps) == 1) {
			t.Errorf("replaced after %d shots: %d differences, %+v", after, differences, p.Health())
		}
	}
}

func TestIdentityTellsProcessesApart(t *testing.T) {
	own := processIdentity(os.Getpid())
	if own == "" {
		t.Skip("no /proc here")
	}
	if again := processIdentity(os.Getpid()); again != own {
		t.Errorf("%q is then %q", own, again)
	}
	if got := processIdentity(0); got != "" {
		t.Errorf("no process is %q", got)
	}
	// The shell becomes another program, of the same pid and start.
	cmd := exec.Command("sh", "-c", "read a; exec sh -c 'echo; read b'")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no shell: %v", err)
	}
	before := processIdentity(cmd.Process.Pid)
	if before == own {
		t.Errorf("two processes are %q", own)
	}
	fmt.Fprintln(in)
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	after := processIdentity(cmd.Process.Pid)
	random, err := os.ReadFile("/proc/sys/kernel/randomize_va_space")
	if after == before && err == nil && strings.TrimSpace(string(random)) != "0" {
		t.Errorf("a program that took another's place is still %q", after)
	}
	in.Close()
	_ = cmd.Wait() // read fails at the end of the input
}

// served returns a source of profiles that are served by a handler, which behaves while
// the source opens.
func served(t *testing.T, later http.HandlerFunc) (*Profiles, *observetest.Sink) {
	t.Helper()
	good := heapOf(t, 1000, 10)
	var opened atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if opened.Load() {
			later(w, r)
			return
		}
		_, _ = w.Write(good)
	}))
	t.Cleanup(server.Close)
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	p := NewProfiles(Options{})
	now := clock.Now()
	err = p.Open(t.Context(), observe.Subject{Clock: clock, Pprof: server.URL + "/debug/pprof",
		Steady: planned(now, now+1100*time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	opened.Store(true)
	sink := &observetest.Sink{}
	if err := p.Run(t.Context(), sink); err != nil {
		t.Fatal(err)
	}
	return p, sink
}

func TestProfileOf200MBIsRefused(t *testing.T) {
	p, sink := served(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/heap") {
			http.NotFound(w, r)
			return
		}
		part := make([]byte, 1<<20)
		for range 200 {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})
	if n := len(sink.Profiles()); n != 0 {
		t.Errorf("%d profiles", n)
	}
	if h := p.Health(); h.OK || !strings.Contains(h.Why, "heap profile: pprof: heap: answer is larger than its bound of 33554432 bytes") {
		t.Errorf("%+v", h)
	}
}

func TestEndpointThatDiesMidProfile(t *testing.T) {
	good := heapOf(t, 1000, 10)
	p, sink := served(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/profile") {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(good[:len(good)/2])
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		if strings.HasSuffix(r.URL.Path, "/goroutineleak") {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(good)
	})
	for _, got := range sink.Profiles() {
		if got.Type == "cpu" {
			t.Errorf("half a CPU profile is stored: %d bytes", len(got.Data))
		}
	}
	if h := p.Health(); !h.OK || !strings.Contains(h.Why, "CPU profile: pprof: profile ends early") ||
		strings.Contains(h.Why, "goroutineleak") {
		t.Errorf("%+v", h)
	}
}

// TestLeaksOfARealTarget builds the service with the experiment, where this Go
// has it.
func TestLeaksOfARealTarget(t *testing.T) {
	if _, err := buildService(); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "leaking")
	build := exec.Command("go", "build", "-overlay", filepath.Join(serviceDir, "overlay.json"), "-o", binary, ".")
	build.Dir = filepath.Join(serviceDir, "module")
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOEXPERIMENT=goroutineleakprofile")
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("this Go finds no leaks: %v: %.200s", err, out)
	}
	target := startBinary(t, binary, "-leak")
	for way, subject := range target.ways() {
		subject = steadyFor(subject, 300*time.Millisecond)
		p := NewProfiles(Options{CPULength: -1})
		if err := p.Open(t.Context(), subject); err != nil {
			t.Fatal(err)
		}
		sink := &observetest.Sink{}
		if err := p.Run(t.Context(), sink); err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, got := range sink.Profiles() {
			if got.Type != "goroutineleak" {
				continue
			}
			found++
			parsed, err := profile.ParseData(got.Data)
			if err != nil {
				t.Fatal(err)
			}
			wantFrame(t, got.Type, parsed, "main.leaking")
		}
		if found != 1 {
			t.Errorf("%s: %d profiles of leaks: %+v", way, found, p.Health())
		}
	}
}
