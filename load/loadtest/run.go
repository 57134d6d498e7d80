package loadtest

import (
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// patience is how long a run waits for requests in progress; it ends as soon as all
// has ended.
const patience = time.Minute

// Unplanned is a grace time that leaves the run's to the load.
const Unplanned time.Duration = -1

// Run drives a plan and checks the invariants of every run: each request that was
// due is a success, a failure of one kind, or unfinished; and the windows, the
// latency log and the summary of an open loop add up to the same. (In a
// closed loop the last requests may begin after the measured span.)
//
// A plan without a grace time waits for requests in progress as long as a host may
// take: a late answer is not a lost one.
func Run(t testing.TB, p *scenario.Plan, protocol load.Protocol) (*load.Result, *Sink) {
	t.Helper()
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	switch p.Load.Grace {
	case 0:
		p.Load.Grace = patience
	case Unplanned:
		p.Load.Grace = 0
	}
	sink := &Sink{Logged: map[histogram.Kind]int64{}}
	r, err := load.Run(t.Context(), load.Config{Plan: p, Clock: clock, Protocol: protocol, Record: sink})
	if err != nil {
		t.Fatal(err)
	}
	s := &r.Load
	var failed, statuses int64
	for _, n := range s.ErrorKinds {
		failed += n
	}
	for _, n := range s.Status {
		statuses += n
	}
	if failed != s.Errors || s.Errors > s.Requests || statuses > s.Requests {
		t.Errorf("%d requests, %d errors of kinds %v, statuses %v", s.Requests, s.Errors, s.ErrorKinds, s.Status)
	}
	// Evenly spaced, requests that are due can be counted by hand; of other courses the
	// package's own tests know the integral.
	if p.Load.Rate > 0 && len(p.Load.Stages) == 0 && p.Load.Arrivals == "" {
		if due := int64(p.Load.Rate*p.Load.Duration.Seconds() + 0.5); s.Requests+s.InFlight != due {
			t.Errorf("%d requests ended and %d are unfinished of %d that were due", s.Requests, s.InFlight, due)
		}
	}
	if p.Load.Warmup == 0 && p.Load.Open() {
		sink.agrees(t, s)
	}
	return r, sink
}

// Sink is an account.Sink that keeps the sums.
type Sink struct {
	mu      sync.Mutex
	Points  []series.Point
	Logged  map[histogram.Kind]int64 // values in the latency log
	Slowest []record.SlowRequest
}

// Add keeps the points.
func (s *Sink) Add(points ...series.Point) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Points = append(s.Points, points...)
	return nil
}

// Counts counts the values.
func (s *Sink) Counts(_ string, kind histogram.Kind, _ timebase.Span, c *histogram.Counts) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Logged[kind] += c.Total()
	return nil
}

// Slow keeps the requests.
func (s *Sink) Slow(requests ...record.SlowRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Slowest = append(s.Slowest, requests...)
	return nil
}

// Sum adds up the points of a series.
func (s *Sink) Sum(name, labels string) (sum float64) {
	for _, p := range s.Points {
		if p.Series.Name == name && p.Series.Labels == labels {
			sum += p.Value
		}
	}
	return sum
}

// agrees compares the windows and the log with the summary of a run without a
// warm-up.
func (s *Sink) agrees(t testing.TB, load *record.LoadSummary) {
	t.Helper()
	if got := int64(s.Sum(series.LoadRequests, "")); got != load.Requests {
		t.Errorf("%d requests in windows, %d in the summary", got, load.Requests)
	}
	for kind, n := range load.ErrorKinds {
		if got := int64(s.Sum(series.LoadErrors, series.Labels("kind", kind))); got != n {
			t.Errorf("%d failures of kind %s in windows, %d in the summary", got, kind, n)
		}
	}
	if got := int64(s.Sum(series.LoadBytesIn, "")); got != load.BytesIn {
		t.Errorf("%d bytes in in windows, %d in the summary", got, load.BytesIn)
	}
	// Latency holds successes and timeouts; see the package comment of load.
	timed := load.Requests - load.Errors + load.ErrorKinds["timeout"]
	if s.Logged[histogram.Latency] != timed || s.Logged[histogram.ErrorLatency] != load.Errors {
		t.Errorf("log %v, of %d requests with %d errors", s.Logged, load.Requests, load.Errors)
	}
}
