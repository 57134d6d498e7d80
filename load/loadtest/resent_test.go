//go:build linux

package loadtest_test

import (
	"bufio"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// closesOnNext is a target that answers one request on each connection, and
// closes when the next one arrives: without reading it, so that the kernel resets, or after.
func closesOnNext(read bool) loadtest.Behaviour {
	return func(c *loadtest.Conn) {
		if !c.ReadRequest() || !c.Say(loadtest.OK) {
			return
		}
		if read {
			c.ReadRequest()
		} else {
			_, _ = c.Conn.Read(make([]byte, 1))
		}
	}
}

// TestSentAgain: a request lost to the end of a keep-alive connection is sent again,
// and is no error, if receiving it twice does no harm.
func TestSentAgain(t *testing.T) {
	for name, test := range map[string]struct {
		method  string
		headers map[string]scenario.Secret
		read    bool
		again   bool
	}{
		"GET, reset":       {"GET", nil, false, true},
		"GET, closed":      {"GET", nil, true, true},
		"HEAD":             {"HEAD", nil, false, true},
		"OPTIONS":          {"OPTIONS", nil, false, true},
		"PUT":              {"PUT", nil, false, true},
		"DELETE":           {"DELETE", nil, false, true},
		"POST":             {"POST", nil, false, false},
		"POST, closed":     {"POST", nil, true, false},
		"PATCH":            {"PATCH", nil, false, false},
		"POST with a key":  {"POST", map[string]scenario.Secret{"idempotency-key": "1"}, false, true},
		"PATCH with a key": {"PATCH", map[string]scenario.Secret{"X-Idempotency-Key": "1"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := get("http://"+loadtest.Serve(t, closesOnNext(test.read)), func(p *scenario.Plan) {
				p.Requests[0].Method, p.Requests[0].Headers = test.method, test.headers
				p.Load = scenario.Load{Connections: 1, Requests: 40, Timeout: 20 * time.Second}
			})
			if test.method == "HEAD" {
				p.Requests[0].URL = feeder.Template("http://" + loadtest.Serve(t, headOnce))
			}
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			s := &r.Load
			lost := s.ErrorKinds[string(failure.Reset)] + s.ErrorKinds[string(failure.EOF)]
			if s.Requests != 40 || s.InFlight > 0 || lost != s.Errors {
				t.Fatalf("%d requests, kinds %v, %d unfinished", s.Requests, s.ErrorKinds, s.InFlight)
			}
			if test.again && (s.Errors > 0 || s.Resent != 39 || s.Reconnects != 39) {
				t.Errorf("kinds %v, %d sent again, %d reconnects; want 39 of both", s.ErrorKinds, s.Resent, s.Reconnects)
			}
			if !test.again && (s.Errors != 20 || s.Resent > 0) {
				t.Errorf("kinds %v, %d sent again; want 20 failures", s.ErrorKinds, s.Resent)
			}
		})
	}
}

// headOnce is closesOnNext for HEAD, whose answers have no body.
func headOnce(c *loadtest.Conn) {
	if c.ReadRequest() && c.Say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n") {
		_, _ = c.Conn.Read(make([]byte, 1))
	}
}

// TestSentAgainOnce: a target that accepts requests and hangs up is not hidden.
func TestSentAgainOnce(t *testing.T) {
	for name, serve := range map[string]loadtest.Behaviour{
		"never answers": loadtest.ClosesUnanswered,
		"answers once": func(c *loadtest.Conn) {
			if c.ReadRequest() && (c.N > 0 || c.Say(loadtest.OK)) {
				c.ReadRequest()
			}
		},
		"in the answer": func(c *loadtest.Conn) {
			if c.ReadRequest() && c.Say(loadtest.OK) && c.ReadRequest() {
				c.Say("HTTP/1.1 2")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := get("http://"+loadtest.Serve(t, serve), func(p *scenario.Plan) {
				p.Load = scenario.Load{Connections: 1, Requests: 10, Timeout: 20 * time.Second}
			})
			if name == "answers once" { // then nothing answers: the second would wait
				p.Load.Timeout = 200 * time.Millisecond
			}
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			s := &r.Load
			want := map[string][2]int64{"never answers": {10, 0}, "answers once": {9, 1}, "in the answer": {5, 0}}[name]
			if s.Requests != 10 || s.Errors != want[0] || s.Resent != want[1] || s.InFlight > 0 {
				t.Errorf("%d requests, kinds %v, %d sent again, %d unfinished; want %d failures, %d sent again",
					s.Requests, s.ErrorKinds, s.Resent, s.InFlight, want[0], want[1])
			}
		})
	}
}

// TestSentAgainIsTheSame: the second time carries the same row of data, and the
// next request the next row.
func TestSentAgainIsTheSame(t *testing.T) {
	var mu sync.Mutex
	var dropped, answered []string
	serve := func(c *loadtest.Conn) {
		r := bufio.NewReader(c.Conn)
		for n := 0; ; n++ {
			q, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			mu.Lock()
			if n == 2 {
				dropped = append(dropped, q.URL.Path)
			} else {
				answered = append(answered, q.URL.Path)
			}
			mu.Unlock()
			if n == 2 || !c.Say(loadtest.OK) {
				return
			}
		}
	}
	p := get("http://"+loadtest.Serve(t, serve)+"/{{n}}", func(p *scenario.Plan) {
		p.Load = scenario.Load{Connections: 1, Requests: 9, Timeout: 20 * time.Second}
		p.Data = map[string]*feeder.Table{"n": {Columns: []string{"n"}}}
		for _, row := range "abcdefghi" {
			p.Data["n"].Rows = append(p.Data["n"].Rows, []string{string(row)})
		}
	})
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	mu.Lock()
	defer mu.Unlock()
	if r.Load.Errors > 0 || r.Load.Resent != 4 || len(dropped) != 4 || len(answered) != 9 {
		t.Fatalf("kinds %v, %d sent again, %v dropped, %v answered", r.Load.ErrorKinds, r.Load.Resent, dropped, answered)
	}
	once := map[string]bool{}
	for _, path := range answered {
		if once[path] {
			t.Errorf("%s was answered twice: %v", path, answered)
		}
		once[path] = true
	}
	for i, path := range dropped {
		if answered[2*(i+1)] != path {
			t.Errorf("%s was dropped, and came again as %s", path, answered[2*(i+1)])
		}
	}
}
