package websocket_test

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	real "github.com/coder/websocket" // an independent server

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
)

// serve runs a real server that handles upgraded connections with handle, and
// returns a plan of messages to it.
func serve(t *testing.T, handle func(ctx context.Context, c *real.Conn) error, change ...func(*scenario.Plan)) *scenario.Plan {
	t.Helper()
	s := httptest.NewServer(upgrading(handle))
	t.Cleanup(s.Close)
	return against("ws"+strings.TrimPrefix(s.URL, "http"), change...)
}

// serveTLS is serve behind TLS, by a server that would rather speak HTTP/2.
func serveTLS(t *testing.T, handle func(ctx context.Context, c *real.Conn) error) *scenario.Plan {
	t.Helper()
	s := httptest.NewUnstartedServer(upgrading(handle))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return against("wss"+strings.TrimPrefix(s.URL, "https"), func(p *scenario.Plan) {
		p.TLS.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	})
}

// upgrading upgrades requests that are authorised.
func upgrading(handle func(ctx context.Context, c *real.Conn) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		c, err := real.Accept(w, r, &real.AcceptOptions{CompressionMode: real.CompressionContextTakeover})
		if err != nil {
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(1 << 20)
		for err == nil {
			err = handle(r.Context(), c)
		}
	})
}

// against is a plan of messages to a server.
func against(url string, change ...func(*scenario.Plan)) *scenario.Plan {
	p := message("hello", header("Authorization", "Bearer x"), func(q *scenario.Request) { q.URL = feeder.Template(url) })
	p.Protocol = protocol.WebSocket
	p.Load = scenario.Load{Rate: 200, Connections: 4, Duration: 300 * time.Millisecond, Timeout: 30 * time.Second}
	for _, f := range change {
		f(p)
	}
	return p
}

func echo(ctx context.Context, c *real.Conn) error {
	kind, b, err := c.Read(ctx)
	if err != nil {
		return err
	}
	return c.Write(ctx, kind, b)
}

// echoInParts answers in fragments.
func echoInParts(ctx context.Context, c *real.Conn) error {
	kind, b, err := c.Read(ctx)
	if err != nil {
		return err
	}
	w, err := c.Writer(ctx, kind)
	if err != nil {
		return err
	}
	for _, part := range [][]byte{b[:len(b)/2], b[len(b)/2:]} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return w.Close()
}

func TestAgainstARealServer(t *testing.T) {
	rows := map[string]*feeder.Table{"user": {Columns: []string{"token", "text"}, Rows: [][]string{
		{"t1", "short"}, {"t2", strings.Repeat("long ", 100)}, {"t3", ""}, {"t4", strings.Repeat("x", 70_000)}, {"t5", "\xff\xfe"}}}}
	for name, p := range map[string]*scenario.Plan{
		"echo":      serve(t, echo),
		"fragments": serve(t, echoInParts),
		"over TLS":  serveTLS(t, echo),
		"rows": serve(t, echo, func(p *scenario.Plan) {
			p.Data, p.Requests[0].Body = rows, "{{user.text}}"
			p.Requests[0].Headers["Authorization"] = "Bearer {{user.token}}"
		}),
		"large": serve(t, echo, func(p *scenario.Plan) {
			p.Requests[0].Body = feeder.Template(strings.Repeat("0123456789abcdef", 6_000))
		}),
		"kept by each": serve(t, echo, func(p *scenario.Plan) {
			p.Load.Connections, p.Load.PerConnection = 100, 2
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			s := r.Load
			if s.Errors > 0 || s.InFlight > 0 || s.Requests != 60 {
				t.Errorf("%d requests, kinds %v, %d unfinished", s.Requests, s.ErrorKinds, s.InFlight)
			}
			if s.Dials > int64(p.Load.Connections) {
				t.Errorf("%d connections were opened", s.Dials)
			}
		})
	}
}

// TestPushesWarn: a feed's news may be taken for answers.
func TestPushesWarn(t *testing.T) {
	p := serve(t, func(ctx context.Context, c *real.Conn) error {
		err := echo(ctx, c)
		for range 100 {
			if err == nil {
				err = c.Write(ctx, real.MessageText, []byte("news"))
			}
		}
		return err
	})
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	if said := strings.Join(r.Warnings, "; "); !strings.Contains(said, "messages that no request waited for") {
		t.Errorf("warnings %q", said)
	}
}

func TestPingsAreAnswered(t *testing.T) {
	pongs := make(chan error, 100)
	p := serve(t, func(ctx context.Context, c *real.Conn) error {
		read := make(chan error)
		go func() { // only a reader sees a pong
			var err error
			for err == nil {
				_, _, err = c.Read(ctx)
			}
			read <- err
		}()
		pongs <- c.Ping(ctx)
		return <-read
	}, func(p *scenario.Plan) {
		p.Load.Timeout, p.Load.Connections = 200*time.Millisecond, 1
		p.Requests[0].NoReply, p.Load.Rate, p.Load.PerConnection = true, 10, 10
	})
	loadtest.Run(t, p, newProtocol(t, p))
	if err := <-pongs; err != nil {
		t.Error(err)
	}
}

func TestFailuresOfRealConnections(t *testing.T) {
	for name, test := range map[string]struct {
		plan *scenario.Plan
		want failure.Kind
	}{
		"refused": {serve(t, echo, func(p *scenario.Plan) { p.Requests[0].Headers = nil }), failure.Status},
		"refused with data": {serve(t, echo, func(p *scenario.Plan) {
			p.Requests[0].Headers = map[string]scenario.Secret{"X-User": "{{user}}"}
			p.Data = map[string]*feeder.Table{"user": {Columns: []string{"id"}, Rows: [][]string{{"1"}}}}
		}), failure.Status},
		"closed": {serve(t, func(ctx context.Context, c *real.Conn) error {
			if _, _, err := c.Read(ctx); err != nil {
				return err
			}
			return c.Close(real.StatusInternalError, "no more")
		}), failure.EOF},
		"upgrade unanswered": {raw(t, loadtest.Silent, func(p *scenario.Plan) { p.Load.Timeout = 50 * time.Millisecond }), failure.Timeout},
		"upgrade cut off":    {raw(t, loadtest.ClosesUnanswered), failure.EOF},
		"upgrade reset":      {raw(t, loadtest.ResetsUnanswered), failure.Reset},
		"no upgrade":         {raw(t, loadtest.Answer(loadtest.OK)), failure.Status},
		"garbage":            {raw(t, loadtest.Garbage), failure.BadResponse},
	} {
		for _, rate := range []float64{40, 0} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := *test.plan
				p.Load.Rate = rate
				want := int64(12)
				if rate == 0 {
					want = 8
					p.Load.Requests, p.Load.Duration = want, 0 // until all have ended
				}
				r, _ := loadtest.Run(t, &p, newProtocol(t, &p))
				s := r.Load
				if n := s.ErrorKinds[string(test.want)]; n != want || n != s.Requests || s.InFlight > 0 {
					t.Errorf("%d requests, kinds %v, %d unfinished", s.Requests, s.ErrorKinds, s.InFlight)
				}
				if s.Dials > 3*s.Requests+8 {
					t.Errorf("%d connections for %d requests: what refuses is spun on", s.Dials, s.Requests)
				}
			})
		}
	}
}

// raw is a plan of messages to a server that upgrades nothing.
func raw(t *testing.T, b loadtest.Behaviour, change ...func(*scenario.Plan)) *scenario.Plan {
	p := message("hello")
	p.Requests[0].URL = feeder.Template("ws://" + loadtest.Serve(t, b))
	p.Protocol = protocol.WebSocket
	p.Load = scenario.Load{Rate: 100, Connections: 2, Duration: 300 * time.Millisecond, Timeout: 30 * time.Second}
	for _, f := range change {
		f(p)
	}
	return p
}

func TestNoReplyEndsWhenSent(t *testing.T) {
	for _, rate := range []float64{200, 0} {
		got := make(chan string, 100)
		p := serve(t, func(ctx context.Context, c *real.Conn) error {
			_, b, err := c.Read(ctx)
			if err == nil {
				got <- string(b)
			}
			return err
		}, func(p *scenario.Plan) {
			p.Requests[0].NoReply = true
			p.Load.Rate, p.Load.Requests = rate, 60
			if rate == 0 {
				p.Load.Duration = 0 // until all have ended
			}
		})
		r, _ := loadtest.Run(t, p, newProtocol(t, p))
		if s := r.Load; s.Requests != 60 || s.Errors > 0 || s.InFlight > 0 {
			t.Errorf("rate %v: %d requests, kinds %v, %d unfinished", rate, s.Requests, s.ErrorKinds, s.InFlight)
		}
		for n := range 60 {
			select {
			case <-got:
			case <-time.After(5 * time.Minute):
				t.Fatalf("rate %v: the target got %d messages", rate, n)
			}
		}
	}
}
