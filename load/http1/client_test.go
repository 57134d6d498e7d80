package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
)

// server is a raw server on loopback. It ends with the test.
func server(t testing.TB, handle func(c *net.TCPConn, r *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				handle(c.(*net.TCPConn), bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return l.Addr().String()
}

// readHead reads a request's head; false at the connection's end.
func readHead(r *bufio.Reader) bool {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return false
		}
		if len(line) <= 2 {
			return true
		}
	}
}

// serving answers every request with the same bytes.
func serving(answer string) func(*net.TCPConn, *bufio.Reader) {
	bytes := []byte(answer)
	return func(c *net.TCPConn, r *bufio.Reader) {
		for readHead(r) {
			if _, err := c.Write(bytes); err != nil {
				return
			}
		}
	}
}

// newClient returns a client of a plan of GET requests or of the given ones.
func newClient(t testing.TB, p *scenario.Plan) *client {
	t.Helper()
	clock, err := record.StartClock()
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDialer(p, clock)
	if err != nil {
		t.Fatal(err)
	}
	c := d.Client(0).(*client)
	t.Cleanup(func() { c.Close() })
	return c
}

func TestMisbehavingServers(t *testing.T) {
	tests := []struct {
		name   string
		handle func(*net.TCPConn, *bufio.Reader)
		want   load.ErrorKind
		status int
	}{
		{"answers", serving(ok), "", 200},
		{"closes at once", func(c *net.TCPConn, r *bufio.Reader) {
			// Its half only: closing with the request unread would be a reset.
			c.CloseWrite()
			io.Copy(io.Discard, r)
		}, load.KindEOF, 0},
		{"closes after the request", func(_ *net.TCPConn, r *bufio.Reader) { readHead(r) }, load.KindEOF, 0},
		{"resets after the head", func(c *net.TCPConn, r *bufio.Reader) {
			readHead(r)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
			// A reset overtakes bytes that have not left yet.
			awaitSent(c)
			c.SetLinger(0)
		}, load.KindReset, 200},
		{"closes within the body", func(c *net.TCPConn, r *bufio.Reader) {
			readHead(r)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
		}, load.KindShortBody, 200},
		{"sends garbage", serving("\x16\x03\x01 this is TLS\n"), load.KindBadResponse, 0},
		{"sends an endless head", func(c *net.TCPConn, r *bufio.Reader) {
			readHead(r)
			io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for {
				if _, err := io.WriteString(c, "X-Filler: 0123456789012345678901234567890123456789\r\n"); err != nil {
					return
				}
			}
		}, load.KindHeaderTooLarge, 200},
		{"never answers", func(_ *net.TCPConn, r *bufio.Reader) { io.Copy(io.Discard, r) }, load.KindTimeout, 0},
		{"stops within the body", func(c *net.TCPConn, r *bufio.Reader) {
			readHead(r)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
			io.Copy(io.Discard, r)
		}, load.KindTimeout, 200},
		{"fails", serving("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"), load.KindStatus, 503},
		{"redirects", serving("HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n"), "", 302},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := newClient(t, get("http://"+server(t, test.handle)+"/"))
			x := load.Exchange{Timeout: 10 * time.Second}
			if test.want == load.KindTimeout {
				x.Timeout = 50 * time.Millisecond
			}
			err := c.Do(t.Context(), &x)
			c.Close() // or a server that waits for the connection's end would not end
			if got := load.KindOf(err); got != test.want || x.Status != test.status {
				t.Errorf("kind %q, status %d (%v), want %q, %d", got, x.Status, err, test.want, test.status)
			}
			if x.Sent <= 0 || x.Done < x.Sent || x.FirstByte > x.Done || x.Dials != 1 || x.BytesOut == 0 {
				t.Errorf("exchange %+v", x)
			}
			if open := 1; test.want != "" && test.want != load.KindStatus && x.Open != 0 || test.want == "" && x.Open != open {
				t.Errorf("%d connections open afterwards", x.Open)
			}
			if took := x.Done - x.Sent; test.want == load.KindTimeout && took < x.Timeout {
				t.Errorf("timed out after %v of %v", took, x.Timeout)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	x := load.Exchange{Timeout: time.Second}
	err = newClient(t, get("http://"+l.Addr().String())).Do(t.Context(), &x)
	if load.KindOf(err) != load.KindRefused || x.Sent != 0 || x.Done == 0 || x.Dials != 0 {
		t.Errorf("error %v, exchange %+v", err, x)
	}
}

func TestUnknownName(t *testing.T) {
	// .invalid never resolves (RFC 6761), with a name server or without.
	x := load.Exchange{Timeout: 5 * time.Second}
	err := newClient(t, get("http://redline.invalid/")).Do(t.Context(), &x)
	if load.KindOf(err) != load.KindDNS {
		t.Errorf("error %v of kind %q", err, load.KindOf(err))
	}
}

func TestConnectionClosedWhileIdleIsOpenedAnew(t *testing.T) {
	closed := make(chan bool)
	first := true
	address := server(t, func(c *net.TCPConn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, ok)
		if first {
			first = false
			c.Close()
			closed <- true
			return
		}
		readHead(r)
	})
	c := newClient(t, get("http://"+address))
	x := load.Exchange{Timeout: 10 * time.Second}
	if err := c.Do(t.Context(), &x); err != nil || x.Open != 1 {
		t.Fatal(err, x)
	}
	<-closed
	c.links[0].used -= time.Second // idle for long
	x = load.Exchange{Timeout: 10 * time.Second}
	err := c.Do(t.Context(), &x)
	c.Close()
	if err != nil || x.Dials != 1 || x.Status != 200 {
		t.Errorf("error %v, exchange %+v", err, x)
	}
}

func TestClientKeepsConnections(t *testing.T) {
	for name, test := range map[string]struct {
		answer, connection string
		dials              int
	}{
		"kept":                 {answer: ok, dials: 1},
		"the answer closes":    {answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", dials: 3},
		"the plan closes":      {answer: ok, connection: "close", dials: 3},
		"more than was asked":  {answer: ok + ok, dials: 3},
		"no answer may follow": {answer: "HTTP/1.1 101 Switching Protocols\r\n\r\n", dials: 3},
	} {
		p := get("http://" + server(t, serving(test.answer)))
		p.Requests[0].Expect = 200
		if strings.Contains(test.answer, "101") {
			p.Requests[0].Expect = 101
		}
		if test.connection != "" {
			p.Requests[0].Headers = map[string]scenario.Secret{"Connection": scenario.Secret(test.connection)}
		}
		c := newClient(t, p)
		dials := 0
		for range 3 {
			x := load.Exchange{Timeout: 10 * time.Second}
			if err := c.Do(t.Context(), &x); err != nil {
				t.Fatal(name, err)
			}
			dials += x.Dials
		}
		c.Close()
		if dials != test.dials {
			t.Errorf("%s: %d connections for 3 requests, want %d", name, dials, test.dials)
		}
	}
}

// fakeConn reads an answer after its deadline passed once.
type fakeConn struct {
	net.Conn
	deadlines []time.Time
	reads     int
}

func (f *fakeConn) Write(b []byte) (int, error)   { return len(b), nil }
func (f *fakeConn) SetDeadline(t time.Time) error { f.deadlines = append(f.deadlines, t); return nil }
func (f *fakeConn) Close() error                  { return nil }
func (f *fakeConn) Read(b []byte) (int, error) {
	if f.reads++; f.reads == 1 {
		return 0, os.ErrDeadlineExceeded
	}
	return copy(b, ok), nil
}

func TestDeadlineOfAnEarlierRequestIsMoved(t *testing.T) {
	c := newClient(t, get("http://127.0.0.1:1"))
	f := &fakeConn{}
	now := c.d.clock.Now()
	c.links[0] = link{conn: f, used: now + time.Hour, armed: now + 70*time.Second}
	x := load.Exchange{Timeout: 100 * time.Second} // the old deadline has more than half of it left
	if err := c.Do(t.Context(), &x); err != nil {
		t.Fatal(err)
	}
	if len(f.deadlines) != 1 || c.d.clock.At(f.deadlines[0]) != x.Sent+x.Timeout {
		t.Errorf("deadlines %v, want one at %v", f.deadlines, x.Sent+x.Timeout)
	}
}

func TestCloseEndsAnExchange(t *testing.T) {
	waiting := make(chan bool)
	c := newClient(t, get("http://"+server(t, func(_ *net.TCPConn, r *bufio.Reader) {
		if readHead(r) {
			waiting <- true
		}
		io.Copy(io.Discard, r)
	})))
	done := make(chan error)
	go func() { done <- c.Do(context.Background(), &load.Exchange{Timeout: time.Hour}) }()
	<-waiting
	c.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("error %v", err)
	}
	if err := c.Do(t.Context(), &load.Exchange{Timeout: time.Second}); err == nil {
		t.Error("a closed client sent a request")
	}
}

func TestNoAllocationPerRequest(t *testing.T) {
	address := server(t, serving("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\nok"))
	data := get("http://" + address + "/?uid={{user.uid}}")
	data.Requests[0].Headers = map[string]scenario.Secret{"X-Uid": "{{user.uid}}"}
	data.Data = map[string]*scenario.Table{"user": {Columns: []string{"uid"}, Rows: [][]string{{"1"}, {"22"}}}}
	for name, plan := range map[string]*scenario.Plan{"static": get("http://" + address), "data": data} {
		c := newClient(t, plan)
		var x load.Exchange
		do := func() {
			x = load.Exchange{Timeout: time.Minute}
			if err := c.Do(t.Context(), &x); err != nil {
				t.Fatal(err)
			}
		}
		do() // opens the connection
		if n := testing.AllocsPerRun(200, do); n >= 1 {
			t.Errorf("%s: %v allocations per request", name, n)
		}
		c.links[0].used -= time.Hour
		if n := testing.AllocsPerRun(50, func() { c.links[0].used -= time.Hour; do() }); n >= 1 {
			t.Errorf("%s: %v allocations per request over an idle connection", name, n)
		}
		c.Close()
	}
}
