//go:build linux

package loadtest_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix" // TCP_INFO: whether the client still has its end

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
)

// TestConnectRateOutlastsTimeouts: a request that times out before its
// connection's turn comes leaves no second entry in the queue.
func TestConnectRateOutlastsTimeouts(t *testing.T) {
	const patience = 50 * time.Millisecond
	for _, rate := range []float64{0, 200} {
		var all open
		address := loadtest.Serve(t, func(c *loadtest.Conn) {
			all.add(t, c.Conn.(*net.TCPConn))
			loadtest.Answer(loadtest.OK)(c)
		})
		p := get("http://"+address, timeout(patience), func(p *scenario.Plan) {
			p.Load.Rate, p.Load.Connections, p.Load.Threads = rate, 3, 1
			p.Load.ConnectRate, p.Load.Duration = 10, 600*time.Millisecond
			p.Load.PerConnection = rate / 3
			p.Load.Think = scenario.Think{Min: 5 * time.Millisecond, Max: 5 * time.Millisecond}
		})
		r, _ := loadtest.Run(t, p, newProtocol(t, p))
		s := r.Load
		if s.ErrorKinds[string(failure.Timeout)] == 0 || s.Status["200"] == 0 {
			t.Errorf("rate %v: %d requests, kinds %v, statuses %v", rate, s.Requests, s.ErrorKinds, s.Status)
		}
		all.mu.Lock()
		if all.most > 3 {
			t.Errorf("rate %v: %d connections were open at once, 3 are enough; %d were opened", rate, all.most, s.Dials)
		}
		all.mu.Unlock()
	}
}

// open counts the connections of a server that their clients keep open. The kernel
// knows of an end when it happens, a server's goroutine only when it runs.
type open struct {
	mu   sync.Mutex
	all  []*net.TCPConn
	most int
}

func (o *open) add(t *testing.T, c *net.TCPConn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, c)
	n := 0
	for _, c := range o.all {
		raw, err := c.SyscallConn()
		if err != nil {
			t.Error(err)
			return
		}
		_ = raw.Control(func(fd uintptr) { // fails if the server has closed it
			info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
			if err == nil && info.State == unix.BPF_TCP_ESTABLISHED {
				n++
			}
		})
	}
	o.most = max(o.most, n)
}

// TestASilentHostDelaysNoOther: more handshakes that never end than run at once leave those of
// another host their turn.
func TestASilentHostDelaysNoOther(t *testing.T) {
	address, authority := loadtest.ServeTLS(t, loadtest.Valid, loadtest.Answer(loadtest.OK))
	p := get("https://"+loadtest.Serve(t, loadtest.Silent), timeout(3*time.Second), func(p *scenario.Plan) {
		p.TLS.CA = authority
		p.Requests[0].Weight = 3
		p.Requests = append(p.Requests, scenario.Request{Name: "other", URL: feeder.Template("https://" + address), Weight: 1})
		p.Load.Rate, p.Load.Connections, p.Load.Duration = 400, 100, 250*time.Millisecond
	})
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	s := r.Load
	if other := s.Steps[1]; other.Requests < 5 || other.Errors > 0 || s.Steps[0].Errors < 32 || s.InFlight > 0 {
		t.Errorf("steps %+v, kinds %v, %d unfinished", s.Steps, s.ErrorKinds, s.InFlight)
	}
}

// h2 runs a server of HTTP/2 without TLS.
func h2(t *testing.T, change func(*http.Server), handle http.HandlerFunc) *scenario.Plan {
	t.Helper()
	s := httptest.NewUnstartedServer(handle)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	if change != nil {
		change(s.Config)
	}
	s.Start()
	t.Cleanup(s.Close)
	return get(s.URL, func(p *scenario.Plan) { p.Protocol, p.Load.Streams = protocol.HTTP2, 8 })
}

// TestStreamTimesOutAlone: one stream's timeout does not affect its neighbours.
func TestStreamTimesOutAlone(t *testing.T) {
	var n atomic.Int64
	p := h2(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%10 == 0 {
			<-r.Context().Done()
		}
	})
	p.Load.Rate, p.Load.Connections, p.Load.Timeout, p.Load.Duration = 500, 4, time.Second, 300*time.Millisecond
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	s := r.Load
	// Streams that a busy host delays for as long time out as well; a neighbour that was
	// wrongly ended with it is younger.
	timeouts := s.ErrorKinds[string(failure.Timeout)]
	if s.Errors != timeouts || timeouts < 15 || s.Status["200"] != 150-timeouts ||
		s.ErrorLatency.Min < int64(p.Load.Timeout) || s.Dials > 4 {
		t.Errorf("%d requests, kinds %v, the first after %v, %d unfinished, %d connections opened",
			s.Requests, s.ErrorKinds, time.Duration(s.ErrorLatency.Min), s.InFlight, s.Dials)
	}
}

// TestSessionsEnd: a target that sends its clients away after each answer
// (GOAWAY) is connected to again and fails no request.
func TestSessionsEnd(t *testing.T) {
	p := h2(t, nil, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Connection", "close") })
	p.Load.Streams, p.Load.Rate, p.Load.Connections = 1, 200, 2
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	if s := r.Load; s.Errors > 0 || s.Requests != 30 || s.Dials < 30 {
		t.Errorf("%d requests, kinds %v, %d unfinished, %d connections opened", s.Requests, s.ErrorKinds, s.InFlight, s.Dials)
	}
}

// TestHTTP2TargetsThatAreNone: a target that does not speak HTTP/2 is reported, and not
// retried in a busy loop.
func TestHTTP2TargetsThatAreNone(t *testing.T) {
	for name, test := range map[string]struct {
		serve loadtest.Behaviour
		want  failure.Kind
	}{
		"HTTP/1.1": {func(c *loadtest.Conn) {
			c.ReadRequest()
			c.Say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
		}, failure.BadResponse},
		"closes":           {loadtest.ClosesAtOnce, failure.EOF},
		"goes away":        {func(c *loadtest.Conn) { c.Say("\x00\x00\x00\x04\x00\x00\x00\x00\x00" + goAway); c.Wait() }, failure.StreamReset},
		"says nothing":     {loadtest.Silent, failure.Timeout},
		"sends it at once": {func(c *loadtest.Conn) { c.Say(strings.Repeat("\xff", 100)); c.Wait() }, failure.BadResponse},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := get("http://"+loadtest.Serve(t, test.serve), func(p *scenario.Plan) { p.Protocol = protocol.HTTP2 })
			if test.want == failure.Timeout {
				p.Load.Timeout = 100 * time.Millisecond
			}
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			s := r.Load
			if s.ErrorKinds[string(test.want)] != s.Requests || s.InFlight > 0 || s.Dials > 10*s.Requests {
				t.Errorf("%d requests, kinds %v, %d unfinished, %d connections opened", s.Requests, s.ErrorKinds, s.InFlight, s.Dials)
			}
		})
	}
}

// goAway ends a session without having accepted a stream, and with no error.
const goAway = "\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
