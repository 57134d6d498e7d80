package goruntime

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/probe/control"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// steadyFor returns the subject with a steady span that begins now.
func steadyFor(s observe.Subject, length time.Duration) observe.Subject {
	from := s.Clock.Now() + 100*time.Millisecond
	s.Steady = &timebase.Span{From: from, To: from + length}
	return s
}

// run runs an open source until ended reports true, or a generous time is over. The
// steady span begins with it, however long opening took.
func run(t *testing.T, s observe.Source, subject *observe.Subject, clock timebase.Clock, length time.Duration,
	ended func(*observetest.Sink) bool) *observetest.Sink {
	t.Helper()
	subject.Steady = steadyFor(observe.Subject{Clock: clock}, length).Steady
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	sink := &observetest.Sink{}
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, sink) }()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return sink
		case <-time.After(5 * time.Millisecond): // nothing signals a delivery
			if ended(sink) {
				cancel()
			}
		}
	}
}

// never is for sources that end by themselves.
func never(*observetest.Sink) bool { return false }

func TestProfilesOfARealTarget(t *testing.T) {
	for _, way := range []string{"probe", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			subject := startService(t, "-mutex").ways()[way]
			p := NewProfiles(Options{MutexFraction: 1, BlockRate: time.Millisecond})
			if err := p.Open(t.Context(), subject); err != nil {
				t.Fatal(err)
			}
			sink := run(t, p, &p.subject, subject.Clock, 2*time.Second, never)
			count := map[string]int{}
			for _, got := range sink.Profiles() {
				count[got.Type]++
				parsed, err := profile.Parse(bytes.NewReader(got.Data))
				if err != nil {
					t.Fatalf("%s: %v", got.Type, err)
				}
				switch got.Type {
				case "heap", "goroutine":
					if got.Span.Len() != 0 {
						t.Errorf("%s spans %v", got.Type, got.Span)
					}
				case "cpu":
					// Its own statement of time must match its span; how long it took
					// depends on the host.
					if own := time.Duration(parsed.DurationNanos); got.Span.Len() != own {
						t.Errorf("a CPU profile of %v over %v", own, got.Span)
					}
					if way == "http" && got.Span.Len() < time.Second {
						t.Errorf("net/http/pprof was asked for a second and took %v", got.Span.Len())
					}
					wantFrame(t, got.Type, parsed, "main.work")
				case "allocs":
					wantFrame(t, got.Type, parsed, "main.work")
					wantLength(t, got, parsed)
				case "mutex":
					wantFrame(t, got.Type, parsed, "main.work")
					wantLength(t, got, parsed)
				case "block":
					wantLength(t, got, parsed)
				}
			}
			want := map[string]int{"cpu": 1, "heap": 2, "goroutine": 2, "allocs": 1, "mutex": 1, "block": 1}
			if way == "http" {
				delete(want, "block") // the target does not sample it
			}
			for typ, n := range want {
				if count[typ] != n {
					t.Errorf("%d profiles of type %s, want %d", count[typ], typ, n)
				}
			}
			h := p.Health()
			t.Logf("%d profiles, alignment error p50 %v p99 %v", h.Samples, h.Align.P50, h.Align.P99)
			if reported := strings.Contains(h.Why, "the block profile is empty"); !h.OK || reported != (way == "http") {
				t.Errorf("%+v", h)
			}
		})
	}
}

func wantFrame(t *testing.T, typ string, p *profile.Profile, function string) {
	t.Helper()
	for _, s := range p.Sample {
		for _, l := range s.Location {
			for _, line := range l.Line {
				if line.Function.Name == function {
					return
				}
			}
		}
	}
	t.Errorf("the %s profile has no sample of %s", typ, function)
}

// wantLength checks that a difference covers the time between its snapshots.
func wantLength(t *testing.T, p record.Profile, parsed *profile.Profile) {
	t.Helper()
	if l := p.Span.Len(); l <= 0 || l != time.Duration(parsed.DurationNanos) {
		t.Errorf("the %s profile of %d ns spans %v", p.Type, parsed.DurationNanos, l)
	}
}

func TestTracesOfARealTarget(t *testing.T) {
	for _, way := range []string{"probe", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			subject := startService(t).ways()[way]
			p, s := NewProfiles(Options{}), NewTraces(Options{})
			if err := errors.Join(p.Open(t.Context(), subject), s.Open(t.Context(), subject)); err != nil {
				t.Fatal(err)
			}
			var sampled sync.WaitGroup
			sampled.Go(func() { run(t, p, &p.subject, subject.Clock, 3*time.Second, never) })
			sink := run(t, s, &s.subject, subject.Clock, 3*time.Second,
				func(s *observetest.Sink) bool { return len(s.Traces()) > 0 })
			sampled.Wait()
			traces := sink.Traces()
			if len(traces) != 1 {
				t.Fatalf("%d traces: %+v", len(traces), s.Health())
			}
			got := traces[0]
			// Its span is that of its own clock, and contains its events.
			begin, samples := readTrace(t, got.Data, subject.Clock)
			if got.Span.Len() <= 0 || begin != 0 && begin != got.Span.From {
				t.Errorf("a trace that begins at %v is dated %v", begin, got.Span)
			}
			if samples == 0 {
				t.Error("no CPU sample in the trace")
			}
			if h := s.Health(); !h.OK || h.Why != "" {
				t.Errorf("%+v", h)
			} else {
				t.Logf("alignment error p99 %v", h.Align.P99)
			}
		})
	}
}

// readTrace returns the run time of the trace's first clock snapshot, 0 if its
// Go version writes none, and how many CPU samples it holds.
func readTrace(t *testing.T, data []byte, clock timebase.Clock) (begin time.Duration, samples int) {
	t.Helper()
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for {
		event, err := r.ReadEvent()
		if err == io.EOF {
			return begin, samples
		}
		if err != nil {
			t.Fatal(err)
		}
		switch event.Kind() {
		case trace.EventSync:
			if c := event.Sync().ClockSnapshot; c != nil && begin == 0 {
				begin = clock.FromMonotonic(int64(c.Mono))
			}
		case trace.EventStackSample:
			samples++
		}
	}
}

// TestEndedEarly ends the run in the middle of profile and trace: the probe
// still delivers both.
func TestEndedEarly(t *testing.T) {
	t.Parallel()
	target := startService(t)
	end := func(s observe.Source, subject observe.Subject, when func(*observetest.Sink) bool) *observetest.Sink {
		if err := s.Open(t.Context(), subject); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		sink := &observetest.Sink{}
		ended := make(chan error)
		go func() { ended <- s.Run(ctx, sink) }()
		await(t, func() bool { return when(sink) })
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return sink
	}
	subject := steadyFor(target.ways()["probe"], time.Hour)
	// The first snapshots are stored while the CPU profile is being taken.
	sink := end(NewProfiles(Options{}), subject, func(s *observetest.Sink) bool { return len(s.Profiles()) == 2 })
	count := map[string]int{}
	for _, p := range sink.Profiles() {
		count[p.Type]++
	}
	if count["cpu"] != 1 || count["allocs"] != 1 || count["goroutine"] != 2 {
		t.Errorf("profiles by type: %v", count)
	}
	// One trace, as long as it may be without a slice before it, in the middle of an
	// hour around now.
	subject.Steady = planned(subject.Clock.Now()-time.Hour/2, subject.Clock.Now()+time.Hour/2)
	traces := NewTraces(Options{Traces: 1, TraceLength: 2*traceSlice - 1, CPULength: -1})
	sink = end(traces, subject, func(s *observetest.Sink) bool {
		c, err := (&socket{path: subject.Socket, clock: subject.Clock}).ask(t.Context(), control.Request{Op: control.Info}, 1<<16)
		if err != nil {
			t.Error(err)
		}
		return err != nil || bytes.Contains(c.data, []byte("tracing=true")) || len(s.Traces()) > 0
	})
	if n := len(sink.Traces()); n != 1 {
		t.Errorf("%d traces: %+v", n, traces.Health())
	}
}

func TestTargetEndsWhileProfiled(t *testing.T) {
	for _, way := range []string{"probe", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			target := startService(t)
			subject := steadyFor(target.ways()[way], time.Second)
			p := NewProfiles(Options{})
			if err := p.Open(t.Context(), subject); err != nil {
				t.Fatal(err)
			}
			target.end()
			if err := p.Run(t.Context(), &observetest.Sink{}); err != nil {
				t.Error(err)
			}
			if h := p.Health(); h.OK || !strings.Contains(h.Why, "does not answer") {
				t.Errorf("%+v", h)
			}
		})
	}
}

// heapOf returns a small valid profile.
func heapOf(t *testing.T, alloc, inuse int64) []byte {
	t.Helper()
	f := &profile.Function{ID: 1, Name: "main.work"}
	l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f, Line: 7}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "alloc_space", Unit: "bytes"}, {Type: "inuse_space", Unit: "bytes"}},
		PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"}, Period: 512,
		Sample:   []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{alloc, inuse}}},
		Location: []*profile.Location{l}, Function: []*profile.Function{f},
	}
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDifference(t *testing.T) {
	shotOf := func(alloc, inuse int64, at time.Duration) shot {
		p, err := parse(heapOf(t, alloc, inuse))
		if err != nil {
			t.Fatal(err)
		}
		return shot{capture{span: span(at, at)}, p}
	}
	first := shotOf(1000, 500, time.Second)
	d, err := difference(first, shotOf(1700, 100, 3*time.Second), "allocs")
	if err != nil {
		t.Fatal(err)
	}
	data, err := encode(d)
	if err != nil {
		t.Fatal(err)
	}
	d, err = parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if v := d.Sample[0].Value; v[0] != 700 || v[1] != -400 || d.DurationNanos != 2e9 || d.DefaultSampleType != "alloc_space" {
		t.Errorf("%v over %d ns, shown as %s", v, d.DurationNanos, d.DefaultSampleType)
	}
	if first.profile.Sample[0].Value[0] != 1000 {
		t.Error("the snapshot was changed")
	}
	if _, err := difference(first, shotOf(900, 500, 3*time.Second), "allocs"); err == nil {
		t.Error("a counter that fell passes")
	}
}

func TestHTTPThatServesNoProfiles(t *testing.T) {
	good := heapOf(t, 1, 1)
	tests := map[string]struct {
		serve func(http.ResponseWriter, *http.Request)
		says  string
	}{
		"HTML":      {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<!DOCTYPE html><p>hello") }, "HTML"},
		"not found": {func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }, "404: 404 page not found"},
		"login":     {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, "redirect"},
		"text":      {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "all is well") }, "profile"},
		"empty":     {func(http.ResponseWriter, *http.Request) {}, "profile"},
		"truncated": {func(w http.ResponseWriter, _ *http.Request) { w.Write(good[:len(good)/2]) }, "EOF"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write(good)
		}, "ends early"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(test.serve))
			defer server.Close()
			subject := observe.Subject{Pprof: server.URL + "/debug/pprof/"}
			err := NewProfiles(Options{}).Open(t.Context(), subject)
			var refusal *observe.Unsupported
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want one that says %q", err, test.says)
			}
		})
	}
}

// TestEndlessAnswer: an answer is read up to its bound, however much follows.
func TestEndlessAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	base, err := parseBase(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	const bound = 1 << 20
	c, err := (&pprof{base: base, http: server.Client()}).get(t.Context(), "heap", nil, time.Hour, bound)
	if !errors.Is(err, errTooLarge) || len(c.data) != bound {
		t.Errorf("%d bytes, %v", len(c.data), err)
	}
}

func TestInflateIsBounded(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	z.Close()
	if _, err := inflate(bomb.Bytes(), 1<<20-1); !errors.Is(err, errTooLarge) {
		t.Errorf("%v", err)
	}
	if raw, err := inflate(bomb.Bytes(), 1<<20); err != nil || len(raw) != 1<<20 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
}

func TestPprofURL(t *testing.T) {
	for _, base := range []string{"127.0.0.1:6060", "ftp://host/debug/pprof", "http:///debug/pprof",
		"http://host/debug/pprof?x=1", "http://ho st/", "http://h/\x00"} {
		var refusal *observe.Unsupported
		if err := NewTraces(Options{}).Open(t.Context(), observe.Subject{Pprof: base}); !errors.As(err, &refusal) {
			t.Errorf("%q: %v", base, err)
		}
	}
	refused := httptest.NewServer(nil)
	refused.Close()
	withPassword := strings.Replace(refused.URL, "http://", "http://me:secret@", 1)
	err := NewTraces(Options{}).Open(t.Context(), observe.Subject{Pprof: withPassword})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the password is shown, or nothing is refused: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\x1f\x8b"))
	f.Add([]byte("heap profile: 1: 2 [3: 4] @ heap/1048576\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		p, err := parse(data)
		if err != nil {
			return
		}
		s := shot{capture{}, p}
		_, _ = difference(s, s, "allocs")
	})
}
