package tcp_test

import (
	"io"
	"testing"
	"time"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
)

// against is a plan of messages to a server with the given behaviour.
func against(t *testing.T, body string, b loadtest.Behaviour, l scenario.Load) *scenario.Plan {
	t.Helper()
	p := message(body)
	p.Requests[0].URL = feeder.Template("tcp://" + loadtest.Serve(t, b))
	p.Protocol, p.Load = protocol.TCP, l
	if p.Load.Timeout = 30 * time.Second; l.Requests == 0 { // else their number ends the load
		p.Load.Duration = 300 * time.Millisecond
	}
	return p
}

func TestEchoServer(t *testing.T) {
	echo := func(c *loadtest.Conn) { io.Copy(c.Conn, c.Reader) }
	for name, p := range map[string]*scenario.Plan{
		"open loop":    against(t, "hello", echo, scenario.Load{Rate: 200, Connections: 4}),
		"closed loop":  against(t, "hello", echo, scenario.Load{Connections: 4, Requests: 60}),
		"large":        against(t, string(make([]byte, 3<<20)), echo, scenario.Load{Connections: 2, Requests: 4}),
		"each its own": against(t, "hello", echo, scenario.Load{Rate: 200, PerConnection: 2, Connections: 100}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			s := r.Load
			want := max(p.Load.Requests, int64(p.Load.Rate*0.3))
			if s.Requests != want || s.Errors > 0 || s.InFlight > 0 || s.Dials > int64(p.Load.Connections) {
				t.Errorf("%d requests, kinds %v, %d unfinished, %d connections opened", s.Requests, s.ErrorKinds, s.InFlight, s.Dials)
			}
			if size := int64(len(p.Requests[0].Body)); s.BytesIn != want*size || s.BytesOut != want*size {
				t.Errorf("%d bytes in, %d out", s.BytesIn, s.BytesOut)
			}
		})
	}
}

// TestEchoOfAllMessages: an echo server also returns messages that await no reply.
func TestEchoOfAllMessages(t *testing.T) {
	echo := func(c *loadtest.Conn) { io.Copy(c.Conn, c.Reader) }
	p := against(t, "hello", echo, scenario.Load{Connections: 2, Requests: 2000})
	notify := p.Requests[0]
	notify.Name, notify.Body, notify.NoReply, notify.Weight = "notify", "news {{n}}", true, 4
	p.Requests = append(p.Requests, notify)
	p.Data = map[string]*feeder.Table{"n": {Columns: []string{"n"}, Rows: [][]string{{"1"}, {"22"}, {"333"}}}}
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	if s := r.Load; s.Requests != 2000 || s.Errors > 0 || s.InFlight > 0 || s.Dials > 2 {
		t.Errorf("%d requests, kinds %v, %d unfinished, %d connections opened", s.Requests, s.ErrorKinds, s.InFlight, s.Dials)
	}
}

// TestNoReplyEndsWhenSent: the kernel takes messages as fast as they come, and
// the loop still looks at its sockets and at the time.
func TestNoReplyEndsWhenSent(t *testing.T) {
	for name, l := range map[string]scenario.Load{
		"open loop":      {Rate: 200, Connections: 4},
		"one connection": {Connections: 1, Requests: 5000},
		"several":        {Connections: 4, Requests: 5000},
		"until the end":  {Connections: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := against(t, "news", loadtest.Silent, l)
			p.Requests[0].NoReply = true
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			s := r.Load
			want := max(l.Requests, int64(l.Rate*0.3)) // 0: as many as the host can send
			if want > 0 && s.Requests != want || s.Requests == 0 || s.Errors > 0 || s.InFlight > 0 {
				t.Errorf("%d requests, kinds %v, %d unfinished", s.Requests, s.ErrorKinds, s.InFlight)
			}
		})
	}
}

// TestNoReplyToWhoDoesNotRead: a message that the kernel does not accept was not sent.
func TestNoReplyToWhoDoesNotRead(t *testing.T) {
	block := make(chan struct{})
	p := against(t, string(make([]byte, 16<<20)), func(*loadtest.Conn) { <-block }, scenario.Load{Rate: 50, Connections: 2})
	t.Cleanup(func() { close(block) })
	p.Requests[0].NoReply, p.Load.Timeout = true, 50*time.Millisecond
	r, _ := loadtest.Run(t, p, newProtocol(t, p))
	if s := r.Load; s.ErrorKinds[string(failure.Timeout)] != s.Requests || s.Requests == 0 || s.Requests+s.InFlight != 15 {
		t.Errorf("%d requests, kinds %v, %d unfinished", s.Requests, s.ErrorKinds, s.InFlight)
	}
}
