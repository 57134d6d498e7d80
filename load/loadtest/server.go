package loadtest

import (
	"bufio"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// OK is a complete answer with a body of two bytes.
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// Conn is a connection as a Behaviour sees it.
type Conn struct {
	net.Conn // with TLS, if the server speaks it
	Reader   *bufio.Reader
	N        int // of the connections that the server accepted, from 0

	tcp *net.TCPConn
}

// Behaviour serves one connection, which is closed when it returns.
type Behaviour func(c *Conn)

// Serve starts a server on loopback that behaves so, and returns its host:port.
// It ends with the test, and its connections with it.
func Serve(t testing.TB, b Behaviour) string {
	t.Helper()
	return serve(t, b, func(c net.Conn) net.Conn { return c })
}

// serve is Serve with something around each connection.
func serve(t testing.TB, b Behaviour, around func(net.Conn) net.Conn) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{open: map[net.Conn]bool{}}
	s.all.Go(func() {
		for n := 0; ; n++ {
			tcp, err := l.Accept()
			if err != nil {
				return
			}
			s.all.Go(func() {
				if !s.keep(tcp) {
					return
				}
				defer s.drop(tcp)
				c := around(tcp)
				b(&Conn{Conn: c, Reader: bufio.NewReader(c), N: n, tcp: tcp.(*net.TCPConn)})
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.end()
	})
	return l.Addr().String()
}

// server keeps the connections of one server.
type server struct {
	all  sync.WaitGroup
	mu   sync.Mutex
	open map[net.Conn]bool
	over bool
}

func (s *server) keep(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The test may end between accept and here: without this its server would wait for a
	// connection that is never closed.
	if s.over {
		c.Close()
		return false
	}
	s.open[c] = true
	return true
}

func (s *server) drop(c net.Conn) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

func (s *server) end() {
	s.mu.Lock()
	s.over = true
	for c := range s.open {
		c.Close()
	}
	s.mu.Unlock()
	s.all.Wait()
}

// ReadRequest reads a request of HTTP/1.1 with its body, if it has a
// Content-Length. It returns false at the connection's end.
func (c *Conn) ReadRequest() bool {
	head := textproto.NewReader(c.Reader)
	if _, err := head.ReadLine(); err != nil {
		return false
	}
	fields, err := head.ReadMIMEHeader()
	if err != nil {
		return false
	}
	if size, err := strconv.ParseInt(fields.Get("Content-Length"), 10, 64); err == nil {
		// A body that is left unread turns the server's close into a reset, which overtakes its
		// answer.
		if _, err := io.CopyN(io.Discard, c.Reader, size); err != nil {
			return false
		}
	}
	return true
}

// Say writes text and returns false when the peer is gone.
func (c *Conn) Say(text string) bool {
	_, err := io.WriteString(c, text)
	return err == nil
}

// Reset ends the connection with a RST, once the peer has the written bytes: a
// reset overtakes bytes that have not left.
func (c *Conn) Reset() {
	awaitSent(c.tcp)
	_ = c.tcp.SetLinger(0) // a connection that is gone already needs no reset
	c.tcp.Close()
}

// Wait returns when the peer ends the connection. Its bytes are dropped.
func (c *Conn) Wait() { _, _ = io.Copy(io.Discard, c.Reader) }

// Answer answers every request with the same bytes.
func Answer(text string) Behaviour {
	return func(c *Conn) {
		for c.ReadRequest() && c.Say(text) {
		}
	}
}

// Then answers every request with the same bytes and then does something else
// to the connection, which is closed after it.
func Then(text string, ends func(c *Conn)) Behaviour {
	return func(c *Conn) {
		if c.ReadRequest() && c.Say(text) {
			ends(c)
		}
	}
}

// Servers that end a connection otherwise than a client hopes for.
var (
	// ClosesAtOnce closes each connection before it has read anything. It closes
	// its half only: closing with a request unread would be a reset.
	ClosesAtOnce Behaviour = func(c *Conn) {
		_ = c.tcp.CloseWrite() // the peer may be gone already
		c.Wait()
	}
	// ClosesUnanswered reads a request and closes.
	ClosesUnanswered Behaviour = func(c *Conn) { c.ReadRequest() }
	// ResetsUnanswered reads a request and resets.
	ResetsUnanswered = Then("", (*Conn).Reset)
	// ResetsWithin resets within an answer's body.
	ResetsWithin = Then("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", (*Conn).Reset)
	// ShortBody closes before the body is as long as was promised.
	ShortBody = Then("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", func(*Conn) {})
	// ShortChunk closes within a chunk.
	ShortChunk = Then("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok", func(*Conn) {})
	// ClosesUnannounced closes after each answer although nothing in it says so. The
	// answer and the end leave together; a request that is sent before the end
	// is read fails.
	ClosesUnannounced Behaviour = func(c *Conn) {
		if c.ReadRequest() {
			cork(c.tcp)
			c.Say(OK)
		}
	}
	// Silent accepts and reads, and never answers.
	Silent Behaviour = (*Conn).Wait
	// SilentWithin stops within an answer's body and stays.
	SilentWithin = Then("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", (*Conn).Wait)
)

// Servers that say something else than a client hopes for.
var (
	// Garbage is not HTTP.
	Garbage = Answer("\x00\xff garbage\r\n\r\n")
	// EndlessHead sends header lines until the peer is gone: more than 64 KiB.
	EndlessHead Behaviour = func(c *Conn) {
		c.ReadRequest()
		line := "X-Filler: " + strings.Repeat("0123456789", 100) + "\r\n"
		for c.Say("HTTP/1.1 200 OK\r\n"); c.Say(line); {
		}
	}
	// TwoAnswers answers one request twice.
	TwoAnswers = Answer(OK + OK)
	// Slow sends its answers one byte at a time.
	Slow Behaviour = func(c *Conn) {
		for c.ReadRequest() {
			for i := range OK {
				if !c.Say(OK[i : i+1]) {
					return
				}
			}
		}
	}
	// Continue says 100 and 103 before each answer.
	Continue = Answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + OK)
	// Chunked answers in chunks of each form that the grammar has, in turn: in
	// upper and lower case, with extensions, leading zeros and trailers, and
	// without any.
	Chunked Behaviour = func(c *Conn) {
		for n := 0; c.ReadRequest() && c.Say(chunked[n%len(chunked)]); n++ {
		}
	}
)

const chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

var chunked = []string{
	chunkedHead + "2\r\nok\r\n0\r\n\r\n",
	chunkedHead + "0\r\n\r\n",
	chunkedHead + "A;name=value\r\n0123456789\r\n00b ; quoted=\"a;b\"\r\n0123456789a\r\n000\r\n\r\n",
	chunkedHead + "1\r\no\r\n1\r\nk\r\n0\r\nX-Trailer: 1\r\nX-More: 2\r\n\r\n",
}

// ClosesIdle answers, and closes a connection that has been idle for so long
// between two requests. One that is sent at that very moment fails.
func ClosesIdle(after time.Duration) Behaviour {
	return func(c *Conn) {
		for c.ReadRequest() && c.Say(OK) {
			if c.SetReadDeadline(time.Now().Add(after)) != nil {
				return
			}
		}
	}
}

// Stalls answers, but stalls for one duration after each of another, on all of
// its connections at once.
func Stalls(every, standstill time.Duration) Behaviour {
	begin := time.Now()
	return func(c *Conn) {
		for c.ReadRequest() {
			if into := time.Since(begin) % (every + standstill); into >= every {
				time.Sleep(every + standstill - into)
			}
			if !c.Say(OK) {
				return
			}
		}
	}
}
