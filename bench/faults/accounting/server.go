package accounting

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// ledger is what a server saw. For a server that is killed it is a file, to
// which each event appends a byte: the kernel keeps it.
type ledger struct {
	mu                sync.Mutex
	requests, answers int64 // requests that arrived whole, and whole answers begun
	file              io.Writer
}

const (
	eventRequest = 'r'
	eventAnswer  = 'a'
)

func (l *ledger) note(event byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if event == eventRequest {
		l.requests++
	} else {
		l.answers++
	}
	if l.file != nil {
		_, _ = l.file.Write([]byte{event})
	}
}

// server does one fault to one protocol.
type server struct {
	ledger
	protocol, fault string
	sized           int
	tls             *tls.Config // nil for plaintext
	listener        net.Listener
	all             sync.WaitGroup
	open            map[net.Conn]bool // under mu
	closed          bool              // under mu
	accepted        int
}

func newServer(protocol, fault string, sized int, file io.Writer) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{protocol: protocol, fault: fault, sized: sized, listener: l, open: map[net.Conn]bool{}}
	s.file = file
	if secure(protocol) {
		if s.tls, err = certified(protocol); err != nil {
			l.Close()
			return nil, err
		}
	}
	s.all.Go(s.accept)
	return s, nil
}

func (s *server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		n := s.accepted
		s.accepted++
		if s.closed {
			c.Close()
		} else {
			s.open[c] = true
			s.all.Go(func() {
				s.serve(c.(*net.TCPConn), n)
				c.Close()
				s.mu.Lock()
				delete(s.open, c)
				s.mu.Unlock()
			})
		}
		s.mu.Unlock()
	}
}

// halt stops listening and ends every connection, like a service that is shut
// down in a hurry.
func (s *server) halt() {
	s.listener.Close()
	s.mu.Lock()
	s.closed = true
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
}

// end waits until nothing more is written to the ledger.
func (s *server) end() (requests, answers int64) {
	s.halt()
	s.all.Wait()
	return s.requests, s.answers
}

// session is one connection.
type session struct {
	*server
	peer
	raw *net.TCPConn
	rw  net.Conn // with TLS, if there is any
	n   int      // requests that arrived whole
}

func (s *server) serve(raw *net.TCPConn, number int) {
	c := &session{server: s, raw: raw, rw: raw}
	if s.tls != nil {
		config := s.tls
		if s.fault == handshakeRefused && number%2 == 1 {
			config = config.Clone()
			config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, errors.New("not today") }
		}
		secured := tls.Server(raw, config)
		if secured.Handshake() != nil {
			return
		}
		c.rw = secured
	}
	if s.fault == zeroWindow && !multiplexed(s.protocol) {
		_ = raw.SetReadBuffer(4096)
		if s.protocol != websocket { // which is upgraded first
			c.wait()
			return
		}
	}
	var err error
	if c.peer, err = newPeer(s.protocol, c.rw, s.fault == zeroWindow, s.sized); err != nil {
		return
	}
	if s.fault == zeroWindow && s.protocol == websocket {
		c.wait()
		return
	}
	for {
		stream, err := c.next()
		if err != nil {
			return
		}
		s.note(eventRequest)
		c.n++
		if !c.treat(stream) {
			return
		}
	}
}

// wait holds a connection without reading it, until the server ends.
func (c *session) wait() {
	for {
		c.mu.Lock()
		over := c.closed
		c.mu.Unlock()
		if over {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// drain reads and discards until the client closes, so that closing does not reset.
func (c *session) drain() {
	_ = c.raw.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.Copy(io.Discard, c.raw)
}

// reset ends the connection with a RST.
func (c *session) reset() {
	_ = c.raw.SetLinger(0)
	c.raw.Close()
}

// say writes a whole answer.
func (c *session) say(stream uint32, bad bool) bool {
	c.note(eventAnswer)
	_, err := c.rw.Write(c.answer(stream, bad))
	return err == nil
}

// half writes the first half of an answer.
func (c *session) half(stream uint32) {
	whole := c.answer(stream, false)
	_, _ = c.rw.Write(whole[:len(whole)/2])
}

// frames returns the writer of single frames.
func (c *session) frames() *http2.Framer { return c.peer.(*streams).framer }
