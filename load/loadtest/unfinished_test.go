//go:build linux

package loadtest_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// answersOnly is a target that answers so many requests in all, and then holds the
// others without an answer.
func answersOnly(n int64) loadtest.Behaviour {
	var answered atomic.Int64
	return func(c *loadtest.Conn) {
		for c.ReadRequest() {
			if answered.Add(1) > n {
				c.Wait()
				return
			}
			if !c.Say(loadtest.OK) {
				return
			}
		}
	}
}

// TestMostNeverEnd: a target that stops answering has no p99 of the few that it
// answered, and the run is not valid.
func TestMostNeverEnd(t *testing.T) {
	const grace = 300 * time.Millisecond
	for name, l := range map[string]scenario.Load{
		"connections left":            {Rate: 500, Connections: 512},
		"connections used up":         {Rate: 500, Connections: 4},
		"on connections of their own": {Rate: 500, PerConnection: 50, Connections: 10},
		"poisson":                     {Rate: 500, Connections: 4, Arrivals: scenario.PoissonArrivals},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := get("http://"+loadtest.Serve(t, answersOnly(50)), func(p *scenario.Plan) {
				p.Load = l
				p.Load.Duration, p.Load.Timeout, p.Load.Grace = 600*time.Millisecond, time.Minute, grace
			})
			r, sink := loadtest.Run(t, p, newProtocol(t, p))
			s := &r.Load
			due := s.Requests + s.InFlight
			// A host that stands still for most of a second sends fewer than it answers.
			if s.Requests == 0 || s.Requests > 50 || s.InFlight < due*3/4 {
				t.Fatalf("%d ended, %d unfinished", s.Requests, s.InFlight)
			}
			if r.Generator.Valid || !strings.Contains(r.Generator.Unanswered,
				"due requests were unfinished 300 ms after the end of the load") {
				t.Errorf("valid %v because of %q", r.Generator.Valid, r.Generator.WhyInvalid)
			}
			q := s.Latency
			if q.Unfinished != s.InFlight || !q.Bound(90) || !q.Bound(99) || !q.Bound(100) {
				t.Errorf("%d unfinished in the latency, a lower bound from p%g", q.Unfinished, q.AtLeast)
			}
			// The last request was due at the end of the load at the latest, the
			// first that was not answered long before.
			if q.P50 < int64(grace) || q.P99 < int64(600*time.Millisecond) || q.Max < q.P99 ||
				q.Max > int64(r.Steady.Len()+10*time.Second) {
				t.Errorf("latency %+v", q)
			}
			if s.Service.Unfinished == 0 || s.Service.Unfinished > s.InFlight || s.FirstByte.Unfinished != s.Service.Unfinished {
				t.Errorf("%d unfinished in service, %d in first byte", s.Service.Unfinished, s.FirstByte.Unfinished)
			}
			if sink.Logged[histogram.Unfinished] != s.InFlight || sink.Logged[histogram.Latency] != s.Requests {
				t.Errorf("the log has %v", sink.Logged)
			}
		})
	}
}

// TestUnfinishedOfAMix: requests that were never sent are drawn from the mix as they would
// have been.
func TestUnfinishedOfAMix(t *testing.T) {
	address := "http://" + loadtest.Serve(t, answersOnly(0))
	p := get(address, func(p *scenario.Plan) {
		p.Requests = append(p.Requests, scenario.Request{Name: "more", URL: feeder.Template(address), Weight: 3})
		p.Load.Rate, p.Load.Connections, p.Load.Duration, p.Load.Grace = 2000, 2, 300*time.Millisecond, time.Millisecond
	})
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	one, three := r.Load.Steps[0].Latency.Unfinished, r.Load.Steps[1].Latency.Unfinished
	if one+three != 600 || one < 100 || one > 200 { // 150, and more than four deviations
		t.Errorf("%d and %d unfinished", one, three)
	}
}

// TestLateAnswers: where the plan does not say how long requests in flight may take, those that end soon after the load are waited for.
func TestLateAnswers(t *testing.T) {
	ended := make(chan struct{})
	late := func(c *loadtest.Conn) {
		for c.ReadRequest() {
			<-ended
			if !c.Say(loadtest.OK) {
				return
			}
		}
	}
	p := get("http://"+loadtest.Serve(t, late), func(p *scenario.Plan) {
		p.Load = scenario.Load{Connections: 4, Duration: 100 * time.Millisecond, Timeout: time.Minute, Grace: loadtest.Unplanned}
	})
	time.AfterFunc(300*time.Millisecond, func() { close(ended) })
	if r, _ := loadtest.Run(t, p, newProtocol(t, p)); r.Load.Requests != 4 || r.Load.InFlight != 0 {
		t.Errorf("%d ended, %d unfinished, want 4 and 0", r.Load.Requests, r.Load.InFlight)
	}
}

// TestFewNeverEnd: a handful of requests that hang is reported, and invalidates nothing.
func TestFewNeverEnd(t *testing.T) {
	var asked atomic.Int64
	hangs := func(c *loadtest.Conn) {
		for c.ReadRequest() {
			if asked.Add(1) == 100 {
				c.Wait()
				return
			}
			if !c.Say(loadtest.OK) {
				return
			}
		}
	}
	p := get("http://"+loadtest.Serve(t, hangs), func(p *scenario.Plan) {
		p.Load.Rate, p.Load.Connections, p.Load.Duration, p.Load.Timeout, p.Load.Grace = 500, 16,
			600*time.Millisecond, time.Minute, 2*time.Second
	})
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	s := &r.Load
	if s.InFlight != 1 || s.Errors > 0 || r.Generator.Unanswered != "" {
		t.Fatalf("%d unfinished, kinds %v, %q", s.InFlight, s.ErrorKinds, r.Generator.Unanswered)
	}
	// One of 300: p99 is known, p99.9 is not.
	if s.Latency.AtLeast != 99.9 || s.Latency.Max < int64(2*time.Second) {
		t.Errorf("latency %+v", s.Latency)
	}
}
