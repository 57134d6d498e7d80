//go:build linux

package loadtest_test

import (
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
)

// TestFailuresOverTLS: the same targets are called the same behind TLS.
// Connections end there without a close_notify, as crashed servers end them.
func TestFailuresOverTLS(t *testing.T) {
	for name, test := range map[string]struct {
		serve loadtest.Behaviour
		want  load.ErrorKind
	}{
		"closes unanswered": {loadtest.ClosesUnanswered, load.KindEOF},
		"short body":        {loadtest.ShortBody, load.KindShortBody},
		"short chunk":       {loadtest.ShortChunk, load.KindShortBody},
		"reset before":      {loadtest.ResetsUnanswered, load.KindReset},
		"reset within":      {loadtest.ResetsWithin, load.KindReset},
		"garbage":           {loadtest.Garbage, load.KindBadResponse},
		"endless head":      {loadtest.EndlessHead, load.KindHeaderTooLarge},
		"never answers":     {loadtest.Silent, load.KindTimeout},
		"closes unsaid":     {loadtest.ClosesUnsaid, ""},
		"closes idle":       {loadtest.ClosesIdle(2 * time.Millisecond), ""},
		"one byte a record": {loadtest.Slow, ""},
		"chunks":            {loadtest.Chunked, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, authority := loadtest.ServeTLS(t, loadtest.Valid, test.serve)
			p := get("https://"+address, func(p *scenario.Plan) { p.TLS.CA = authority })
			if test.want == load.KindTimeout {
				p.Load.Timeout = 50 * time.Millisecond
			}
			r, _ := loadtest.Run(t, p, protocol(t, p))
			s := r.Load
			failed := s.ErrorKinds[string(test.want)]
			if (name == "closes idle" || name == "closes unsaid") && s.ErrorKinds["eof"]+s.ErrorKinds["reset"] == s.Errors && s.Errors < s.Requests {
				return // some met the close
			}
			if failed != s.Errors || test.want != "" && failed != s.Requests || s.InFlight > 0 {
				t.Errorf("%d requests, kinds %v, %d unfinished", s.Requests, s.ErrorKinds, s.InFlight)
			}
		})
	}
}

// TestTargetRestarts: a target that goes away in the middle of a run and comes
// back costs the requests of that time and no others.
func TestTargetRestarts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok")) })
	start := func(l net.Listener) *http.Server {
		s := &http.Server{Handler: answer}
		go s.Serve(l)
		return s
	}
	first := start(l)
	p := get("http://"+l.Addr().String(), func(p *scenario.Plan) {
		p.Load.Rate, p.Load.Connections, p.Load.Duration = 500, 16, time.Second
	})
	var second *http.Server
	begin, back := time.Now(), make(chan time.Duration, 1)
	time.AfterFunc(300*time.Millisecond, func() {
		defer func() { back <- time.Since(begin) }()
		first.Close()
		time.Sleep(200 * time.Millisecond) // how long it is gone
		again, err := net.Listen("tcp", l.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		second = start(again)
	})
	r, sink := loadtest.Run(t, p, protocol(t, p))
	returned := <-back
	if second == nil {
		return
	}
	defer second.Close()
	s := r.Load
	if refused := s.ErrorKinds[string(load.KindRefused)]; refused == 0 || s.Status["200"] < 200 {
		t.Errorf("%d requests, kinds %v, statuses %v, %d unfinished", s.Requests, s.ErrorKinds, s.Status, s.InFlight)
	}
	for _, point := range sink.Points {
		if at := time.Duration(point.Window) * 100 * time.Millisecond; point.Series.Name == "load.errors" && at >= returned+100*time.Millisecond && point.Value > 0 {
			t.Errorf("%v failures in the window at %v, and the target was back at %v: %v", point.Value, at, returned, point.Series)
		}
	}
}
