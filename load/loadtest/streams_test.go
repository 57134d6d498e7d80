//go:build linux

package loadtest_test

import (
	"bytes"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2" // frames
	"golang.org/x/net/http2/hpack"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/protocol"
)

// session is a server's side of an HTTP/2 connection, frame by frame.
type session struct {
	*xhttp2.Framer
	conn *loadtest.Conn
	out  bytes.Buffer
}

// sessions serves each connection so, after both sides' greetings.
func sessions(t *testing.T, serve func(s *session)) *scenario.Plan {
	t.Helper()
	address := loadtest.Serve(t, func(c *loadtest.Conn) {
		if _, err := io.ReadFull(c.Reader, make([]byte, len(xhttp2.ClientPreface))); err != nil {
			return
		}
		s := &session{conn: c}
		s.Framer = xhttp2.NewFramer(&s.out, c.Reader)
		_ = s.WriteSettings()
		serve(s)
	})
	return get("http://"+address, func(p *scenario.Plan) { p.Protocol = protocol.HTTP2 })
}

// next returns the stream of the next request; 0 at the connection's end.
func (s *session) next() uint32 {
	for {
		f, err := s.ReadFrame()
		if err != nil {
			return 0
		}
		if _, ok := f.(*xhttp2.HeadersFrame); ok {
			return f.Header().StreamID
		}
	}
}

// answer answers a stream without a body.
func (s *session) answer(stream uint32, status int, location string) {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	e.SetMaxDynamicTableSize(0)
	_ = e.WriteField(hpack.HeaderField{Name: ":status", Value: strconv.Itoa(status)})
	if location != "" {
		_ = e.WriteField(hpack.HeaderField{Name: "location", Value: location, Sensitive: true})
	}
	_ = s.WriteHeaders(xhttp2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true})
}

// flush sends all frames since the last in one write.
func (s *session) flush() bool {
	defer s.out.Reset()
	return s.conn.Say(s.out.String())
}

// answerAll answers every request.
func (s *session) answerAll() {
	for stream := s.next(); stream > 0; stream = s.next() {
		if s.answer(stream, 200, ""); !s.flush() {
			return
		}
	}
}

// TestSentOnBeforeAViolation: a request that goes out again, by a redirect or because the target
// did not see it, does not also fail with the connection that it was on.
func TestSentOnBeforeAViolation(t *testing.T) {
	for name, says := range map[string]func(s *session, first, second uint32){
		"redirect": func(s *session, _, second uint32) { s.answer(second, 302, "/new") },
		"not seen": func(s *session, first, _ uint32) { _ = s.WriteGoAway(first, xhttp2.ErrCodeNo, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := sessions(t, func(s *session) {
				if s.conn.N > 0 {
					s.answerAll()
					return
				}
				first := s.next()
				says(s, first, s.next())
				_ = s.WriteRawFrame(xhttp2.FrameData, 0, 0, nil) // which no stream has
				s.flush()
				s.conn.Wait()
			})
			p.Requests[0].Follow = true
			p.Load = scenario.Load{Connections: 1, Streams: 2, Requests: 6, Timeout: 20 * time.Second}
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			s := &r.Load
			if s.Requests != 6 || s.ErrorKinds[string(failure.BadResponse)] != 1 || s.Status["200"] != 5 || s.InFlight > 0 {
				t.Errorf("%d requests, kinds %v, statuses %v, %d unfinished", s.Requests, s.ErrorKinds, s.Status, s.InFlight)
			}
		})
	}
}

// TestDrainingDelaysNobody: while a connection that takes no more requests waits for its last
// answer, the next requests go over another one.
func TestDrainingDelaysNobody(t *testing.T) {
	for name, l := range map[string]scenario.Load{
		"closed loop": {Connections: 1, Streams: 3, Requests: 40},
		"open loop":   {Connections: 1, Streams: 3, Rate: 200, Duration: 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var once sync.Once
			replaced := make(chan struct{})
			p := sessions(t, func(s *session) {
				if s.conn.N > 0 {
					once.Do(func() { close(replaced) })
					s.answerAll()
					return
				}
				// The first stream is answered last, once the connection has a successor.
				long := s.next()
				for range 4 {
					s.answer(s.next(), 200, "")
					s.flush()
				}
				// Together, so that the client learns both before it sends on.
				s.answer(s.next(), 200, "")
				_ = s.WriteGoAway(1<<31-1, xhttp2.ErrCodeNo, nil)
				s.flush()
				select {
				case <-replaced:
				case <-t.Context().Done():
				}
				s.answer(long, 200, "")
				s.flush()
				s.answerAll()
			})
			p.Load = l
			p.Load.Timeout = 5 * time.Second
			r, _ := loadtest.Run(t, p, newProtocol(t, p))
			s := &r.Load
			if s.Requests != 40 || s.Errors > 0 || s.InFlight > 0 || s.Dials != 2 {
				t.Errorf("%d requests, kinds %v, %d unfinished, %d connections opened", s.Requests, s.ErrorKinds, s.InFlight, s.Dials)
			}
		})
	}
}
