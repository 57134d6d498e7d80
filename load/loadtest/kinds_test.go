//go:build linux

package loadtest_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/fence"
	"github.com/redline-go/redline/load/http1"
	"github.com/redline-go/redline/load/http2"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/load/tcp"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
)

// get is a plan of GET requests for an open loop.
func get(url string, change ...func(*scenario.Plan)) *scenario.Plan {
	p := &scenario.Plan{
		Requests: []scenario.Request{{Name: "get", URL: feeder.Template(url)}},
		Load:     scenario.Load{Rate: 100, Connections: 4, Duration: 150 * time.Millisecond, Timeout: 30 * time.Second},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

// newProtocol makes the protocol that the plan's URLs require.
func newProtocol(t testing.TB, p *scenario.Plan) load.Protocol {
	t.Helper()
	var made load.Protocol
	var err error
	switch p.Protocol {
	case protocol.HTTP2:
		made, err = http2.New(p)
	case protocol.TCP:
		made, err = tcp.New(p)
	default:
		made, err = http1.New(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func timeout(d time.Duration) func(*scenario.Plan) {
	return func(p *scenario.Plan) { p.Load.Timeout = d }
}

// trusting is a plan for a server over TLS.
func trusting(t testing.TB, kind loadtest.Certificate) *scenario.Plan {
	address, authority := loadtest.ServeTLS(t, kind, loadtest.Answer(loadtest.OK))
	return get("https://"+address, func(p *scenario.Plan) { p.TLS.CA = authority })
}

// kinds has a real case for each kind of failure except those that need a separate
// process.
var kinds = []struct {
	name string
	want failure.Kind
	// some is set when not every request must fail so.
	some bool
	plan func(t *testing.T) *scenario.Plan
}{
	{"refused", failure.Refused, false, func(t *testing.T) *scenario.Plan { return get("http://" + loadtest.Refused(t)) }},
	{"never answers", failure.Timeout, false, serving(loadtest.Silent, timeout(50*time.Millisecond))},
	{"stops within the body", failure.Timeout, false, serving(loadtest.SilentWithin, timeout(50*time.Millisecond))},
	{"accept queue full", failure.Timeout, false, func(t *testing.T) *scenario.Plan {
		return get("http://"+loadtest.Backlog(t), timeout(50*time.Millisecond))
	}},
	{"reset before the answer", failure.Reset, false, serving(loadtest.ResetsUnanswered)},
	{"reset within the answer", failure.Reset, false, serving(loadtest.ResetsWithin)},
	{"name", failure.DNS, false, func(*testing.T) *scenario.Plan { return get("http://" + loadtest.NoSuchName) }},
	{"closes at once", failure.EOF, true, serving(loadtest.ClosesAtOnce)},
	{"closes unanswered", failure.EOF, false, serving(loadtest.ClosesUnanswered)},
	{"short body", failure.ShortBody, false, serving(loadtest.ShortBody)},
	{"short chunk", failure.ShortBody, false, serving(loadtest.ShortChunk)},
	{"garbage", failure.BadResponse, false, serving(loadtest.Garbage)},
	{"endless head", failure.HeaderTooLarge, false, serving(loadtest.EndlessHead)},
	// crypto/tls says nothing before it closes.
	{"plaintext to TLS", failure.EOF, false, func(t *testing.T) *scenario.Plan {
		address, _ := loadtest.ServeTLS(t, loadtest.Valid, loadtest.Answer(loadtest.OK))
		return get("http://" + address)
	}},
	{"TLS to plaintext", failure.TLS, false, func(t *testing.T) *scenario.Plan {
		return get("https://" + loadtest.Serve(t, loadtest.Answer(loadtest.OK)))
	}},
	{"self-signed", failure.Certificate, false, func(t *testing.T) *scenario.Plan { return trusting(t, loadtest.SelfSigned) }},
	{"expired", failure.Certificate, false, func(t *testing.T) *scenario.Plan { return trusting(t, loadtest.Expired) }},
	{"wrong name", failure.Certificate, false, func(t *testing.T) *scenario.Plan { return trusting(t, loadtest.WrongName) }},
	{"status", failure.Status, false, serving(loadtest.Answer("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"))},
	{"redirect", failure.Redirect, false, serving(
		loadtest.Answer("HTTP/1.1 302 Found\r\nLocation: http://elsewhere.test/\r\nContent-Length: 0\r\n\r\n"),
		func(p *scenario.Plan) { p.Requests[0].Follow = true })},
	{"source address", failure.NoPorts, false, serving(loadtest.Answer(loadtest.OK), func(p *scenario.Plan) {
		p.Load.Sources = []netip.Addr{netip.MustParseAddr("192.0.2.1")} // no interface has it (RFC 5737)
	})},
	{"empty message", failure.BadRequest, false, func(t *testing.T) *scenario.Plan {
		p := get("tcp://" + loadtest.Serve(t, loadtest.Silent))
		p.Protocol, p.Requests[0].Body = protocol.TCP, "{{nothing}}"
		p.Data = map[string]*feeder.Table{"nothing": {Columns: []string{"text"}, Rows: [][]string{{""}}}}
		return p
	}},
	{"stream reset", failure.StreamReset, false, func(t *testing.T) *scenario.Plan {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
		t.Cleanup(s.Close)
		return get(s.URL, func(p *scenario.Plan) { p.Protocol = protocol.HTTP2 })
	}},
}

// serving is a plan against a server with the given behaviour.
func serving(b loadtest.Behaviour, change ...func(*scenario.Plan)) func(*testing.T) *scenario.Plan {
	return func(t *testing.T) *scenario.Plan { return get("http://"+loadtest.Serve(t, b), change...) }
}

func TestEveryKindOfFailure(t *testing.T) {
	for _, test := range kinds {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := test.plan(t)
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			s := r.Load
			got := s.ErrorKinds[string(test.want)]
			if got == 0 || !test.some && got != s.Requests || got > s.Requests {
				t.Errorf("%d of %d requests failed so; kinds %v, statuses %v, %d unfinished", got, s.Requests,
					s.ErrorKinds, s.Status, s.InFlight)
			}
			// The run continues: a failure delays only its own connection.
			if s.InFlight > 0 {
				t.Errorf("%d requests are unfinished", s.InFlight)
			}
		})
	}
}

// TestClosedLoopGoesOn runs each failure in a closed loop, where the next
// request waits for the last: a lost one would end its virtual user.
func TestClosedLoopGoesOn(t *testing.T) {
	for _, test := range kinds {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := test.plan(t)
			p.Load.Rate, p.Load.Connections, p.Load.Duration, p.Load.Requests = 0, 2, 0, 8 // until all have ended
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			if s := r.Load; s.Requests != 8 || s.ErrorKinds[string(test.want)] != 8 && !test.some || s.InFlight > 0 {
				t.Errorf("%d requests, kinds %v, %d unfinished", s.Requests, s.ErrorKinds, s.InFlight)
			}
		})
	}
}

func TestDescriptorsRunOut(t *testing.T) {
	if !loadtest.Alone(t, nil) {
		return
	}
	p := get("http://"+loadtest.Refused(t), timeout(100*time.Millisecond))
	hold := loadtest.Serve(t, loadtest.Silent)
	p.Requests[0].URL = feeder.Template("http://" + hold)
	p.Load.Rate, p.Load.Connections = 500, 100
	loadtest.LimitDescriptors(t, 60) // of which the server takes as many as the generator
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	if s := r.Load; s.ErrorKinds[string(failure.TooManyFDs)] == 0 || s.ErrorKinds[string(failure.Timeout)] == 0 {
		t.Errorf("%d requests, kinds %v, %d unfinished", s.Requests, s.ErrorKinds, s.InFlight)
	}
}

// TestNoRoute runs in a network without routes.
func TestNoRoute(t *testing.T) {
	if !loadtest.Alone(t, func(a *syscall.SysProcAttr) { a.Cloneflags = syscall.CLONE_NEWNET }) {
		return
	}
	p := get("http://192.0.2.1")
	var away *fence.AwayError
	if _, err := load.Run(t.Context(), load.Config{Plan: p, Protocol: newProtocol(t, p),
		Record: &loadtest.Sink{}}); !errors.As(err, &away) {
		t.Fatalf("a host that the plan does not name: %v", err)
	}
	p.Hosts = []string{"192.0.2.1"}
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	if s := r.Load; s.ErrorKinds[string(failure.Unreachable)] != 15 {
		t.Errorf("%d requests, kinds %v, %d unfinished", s.Requests, s.ErrorKinds, s.InFlight)
	}
}
