//go:build linux

package loadtest_test

import (
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
)

// TestFailuresOverTLS: the same failures have the same kinds over TLS.
// Connections end there without a close_notify, as crashed servers end them.
func TestFailuresOverTLS(t *testing.T) {
	for name, test := range map[string]struct {
		serve loadtest.Behaviour
		want  failure.Kind
	}{
		"closes unanswered":  {loadtest.ClosesUnanswered, failure.EOF},
		"short body":         {loadtest.ShortBody, failure.ShortBody},
		"short chunk":        {loadtest.ShortChunk, failure.ShortBody},
		"reset before":       {loadtest.ResetsUnanswered, failure.Reset},
		"reset within":       {loadtest.ResetsWithin, failure.Reset},
		"garbage":            {loadtest.Garbage, failure.BadResponse},
		"endless head":       {loadtest.EndlessHead, failure.HeaderTooLarge},
		"never answers":      {loadtest.Silent, failure.Timeout},
		"closes unannounced": {loadtest.ClosesUnannounced, ""},
		"closes idle":        {loadtest.ClosesIdle(2 * time.Millisecond), ""},
		"one byte a record":  {loadtest.Slow, ""},
		"chunks":             {loadtest.Chunked, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, authority := loadtest.ServeTLS(t, loadtest.Valid, test.serve)
			p := get("https://"+address, func(p *scenario.Plan) { p.TLS.CA = authority })
			if test.want == failure.Timeout {
				p.Load.Timeout = 50 * time.Millisecond
			}
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			s := r.Load
			failed := s.ErrorKinds[string(test.want)]
			if (name == "closes idle" || name == "closes unannounced") &&
				s.ErrorKinds["eof"]+s.ErrorKinds["reset"] == s.Errors && s.Errors < s.Requests {
				return // some met the close
			}
			if failed != s.Errors || test.want != "" && failed != s.Requests || s.InFlight > 0 {
				t.Errorf("%d requests, kinds %v, %d unfinished", s.Requests, s.ErrorKinds, s.InFlight)
			}
		})
	}
}

// TestTargetRestarts: a target that goes away in the middle of a run, until requests
// have failed because of it, costs the requests of that time and no others: earlier
// answers stay, and requests that fall due when it is back succeed.
func TestTargetRestarts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	p := get("http://"+l.Addr().String(), func(p *scenario.Plan) {
		p.Load.Rate, p.Load.Connections, p.Load.Duration, p.Load.Grace = 500, 16, time.Second, time.Minute
	})
	first := &http.Server{}
	gone := make(chan struct{})
	var answered atomic.Int64
	first.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if answered.Add(1) == 150 {
			go func() { first.Close(); close(gone) }()
		}
		w.Write([]byte("ok"))
	})
	go first.Serve(l)
	second := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok")) })}
	defer second.Close()
	var back time.Duration
	comeBack := func() {
		again, err := net.Listen("tcp", l.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		back = clock.Now()
		go second.Serve(again)
	}
	sink := &loadtest.Sink{Logged: map[histogram.Kind]int64{}}
	r, err := load.Run(t.Context(), load.Config{Plan: p, Clock: clock, Protocol: newProtocol(t, p), Record: sink,
		OnWindow: func(load.Progress) {
			if back == 0 && sink.Sum(series.LoadErrors, series.Labels("kind", string(failure.Refused))) > 0 {
				<-gone
				comeBack()
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	s := r.Load
	if s.ErrorKinds[string(failure.Refused)] == 0 || s.InFlight > 0 || s.Requests != 500 {
		t.Errorf("%d requests, kinds %v, statuses %v, %d unfinished", s.Requests, s.ErrorKinds, s.Status, s.InFlight)
	}
	// Closing may discard an unread answer on each connection.
	since := int64((r.Steady.To - back).Seconds() * p.Load.Rate)
	if least := 150 - int64(p.Load.Connections) + max(0, since); back == 0 || s.Status["200"] < least {
		t.Errorf("statuses %v of %d requests, %d of which were due when the target was back at %v; kinds %v", s.Status,
			s.Requests, since, back, s.ErrorKinds)
	}
}
