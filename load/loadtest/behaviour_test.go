//go:build linux

package loadtest_test

import (
	"testing"
	"time"

	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
)

// TestOddTargetsFailNothing: permitted but rare behaviour of servers.
func TestOddTargetsFailNothing(t *testing.T) {
	for name, test := range map[string]struct {
		serve loadtest.Behaviour
		dials int64 // least; zero means that connections are kept
	}{
		"one byte at a time":  {serve: loadtest.Slow},
		"interim answers":     {serve: loadtest.Continue},
		"chunks":              {serve: loadtest.Chunked},
		"closes unannounced":  {serve: loadtest.ClosesUnannounced, dials: 30},
		"closes idle":         {serve: loadtest.ClosesIdle(2 * time.Millisecond), dials: 2},
		"more than was asked": {serve: loadtest.TwoAnswers, dials: 30},
		"until the end":       {serve: loadtest.Then("HTTP/1.1 200 OK\r\n\r\nok", func(*loadtest.Conn) {}), dials: 30},
		"says that it closes": {serve: loadtest.Then("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", func(*loadtest.Conn) {}), dials: 30},
	} {
		t.Run(name, func(t *testing.T) {
			p := get("http://" + loadtest.Serve(t, test.serve))
			p.Load.Rate = 200
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			s := r.Load
			met := s.ErrorKinds["eof"] + s.ErrorKinds["reset"]
			if (name == "closes idle" || name == "closes unannounced") && met < s.Requests {
				s.Status["200"] += met // some met the close
			}
			if s.Requests != 30 || s.Status["200"] != 30 {
				t.Errorf("%d requests, statuses %v, kinds %v, %d unfinished", s.Requests, s.Status, s.ErrorKinds, s.InFlight)
			}
			if s.Dials+met < test.dials || test.dials == 0 && s.Dials > 4 {
				t.Errorf("%d connections were opened", s.Dials)
			}
		})
	}
}

func TestTLSTarget(t *testing.T) {
	p := trusting(t, loadtest.Valid)
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	if s := r.Load; s.Status["200"] != 15 || s.Errors != 0 {
		t.Errorf("%d requests, statuses %v, kinds %v", s.Requests, s.Status, s.ErrorKinds)
	}
}

// TestStallsAreInTheTail: requests that fall due while the target stands still wait,
// and all of them are counted.
func TestStallsAreInTheTail(t *testing.T) {
	p := get("http://"+loadtest.Serve(t, loadtest.Stalls(200*time.Millisecond, 200*time.Millisecond)), func(p *scenario.Plan) {
		p.Load.Rate, p.Load.Connections, p.Load.Duration = 500, 8, 800*time.Millisecond
	})
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	s := r.Load
	// Half of the time is a standstill of 200 ms, so that a quarter of all
	// requests waits for 100 ms or more.
	if s.Errors != 0 || s.Latency.P90 < int64(100*time.Millisecond) {
		t.Errorf("kinds %v, latency %+v", s.ErrorKinds, s.Latency)
	}
}
