package http1

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix" // poll: a look at a socket without reading from it

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/scenario"
)

// Sizes of the read buffer. It starts small, since there may be ten thousand of
// them, and grows once when an answer fills it.
const (
	firstBuffer = 4 << 10
	fullBuffer  = 64 << 10
)

// idleCheck is how long a connection is idle before it is looked at for having
// been closed. The look costs a system call (0.3 us); without a pause it would
// find nothing.
const idleCheck = time.Millisecond

// client carries the requests of one connection. All but links' conn belongs to
// the goroutine that calls Do.
type client struct {
	d      *Dialer
	id     int
	cursor *scenario.Cursor
	parser parser
	in     []byte
	out    []byte // the rendered request

	mu     sync.Mutex // of closed and of each link's conn
	closed bool
	links  []link
}

// link is the connection to one host of the plan.
type link struct {
	conn net.Conn // nil when not open
	// armed is the run time at which the connection's deadline passes. Moving
	// it for each request would cost as much as the framing, so it is moved
	// when less than half of the timeout is left; a deadline that passes before
	// the request's own is moved then.
	armed time.Duration
	used  time.Duration // when the last request ended
	raw   syscall.RawConn
	look  func(fd uintptr) // made once, so that looking allocates nothing
	alive bool             // what look found
	poll  [1]unix.PollFd
}

// errClosed is returned by Do after Close.
var errClosed = errors.New("http1: the client is closed")

// Do sends one request and reads its answer; see load.Client.
func (c *client) Do(ctx context.Context, x *load.Exchange) error {
	q := &c.d.requests[x.Request]
	message := q.static
	if message == nil {
		c.out = q.append(c.out[:0], c.cursor)
		message = c.out
	}
	if c.cursor != nil {
		c.cursor.Next()
	}
	l := &c.links[q.host]
	err := c.ready(ctx, l, q.host, x)
	if err == nil {
		err = c.exchange(l, q, message, x)
	}
	if err != nil {
		x.Done = c.d.clock.Now()
	}
	if l.used = x.Done; l.conn != nil && (err != nil || !c.parser.keep || q.close) {
		c.drop(l)
	}
	for i := range c.links {
		if c.links[i].conn != nil {
			x.Open++
		}
	}
	if err == nil {
		err = q.judge.of(x.Status)
	}
	return err
}

// ready sees to it that the link is open.
func (c *client) ready(ctx context.Context, l *link, host int, x *load.Exchange) error {
	if l.conn != nil && c.d.clock.Now()-l.used > idleCheck && !l.stillOpen() {
		c.drop(l)
	}
	if l.conn != nil {
		return nil
	}
	if c.isClosed() {
		return errClosed
	}
	begin := c.d.clock.Now()
	conn, err := c.d.dial(ctx, host, c.id, x.Timeout)
	x.Opening = c.d.clock.Now() - begin
	if err != nil {
		return err
	}
	x.Dials++
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = conn.Close() // nothing was sent over it
		return errClosed
	}
	l.open(conn)
	return nil
}

func (c *client) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// exchange sends message and reads the answer.
func (c *client) exchange(l *link, q *request, message []byte, x *load.Exchange) error {
	x.Sent = c.d.clock.Now()
	limit := x.Sent + x.Timeout
	if l.armed < x.Sent+x.Timeout/2 {
		if err := c.arm(l, limit); err != nil {
			return err
		}
	}
	for len(message) > 0 {
		n, err := l.conn.Write(message)
		x.BytesOut += int64(n)
		if message = message[n:]; err == nil {
			continue
		}
		if err = c.extend(l, limit, err); err != nil {
			return err
		}
	}
	c.parser.reset(q.head)
	for c.parser.state != complete {
		if err := c.read(l, limit, x); err != nil {
			return err
		}
	}
	x.Status = int(c.parser.status)
	return nil
}

// read takes one piece of the answer.
func (c *client) read(l *link, limit time.Duration, x *load.Exchange) error {
	n, err := l.conn.Read(c.in)
	if n > 0 {
		x.Done = c.d.clock.Now()
		if x.FirstByte == 0 {
			x.FirstByte = x.Done
		}
		x.BytesIn += int64(n)
		used, bad := c.parser.feed(c.in[:n])
		x.Status = int(c.parser.status)
		if bad != nil {
			return bad
		}
		if used < n {
			// What no request asked for would be taken for the next answer.
			c.parser.keep = false
		}
		if n == len(c.in) && n < fullBuffer {
			c.in = make([]byte, fullBuffer)
		}
	}
	switch {
	case err == nil || c.parser.state == complete:
		return nil
	case errors.Is(err, io.EOF):
		x.Done = c.d.clock.Now()
		return c.parser.end()
	}
	return c.extend(l, limit, err)
}

// extend moves the connection's deadline when it passed before the request's
// own did, and returns err when that is not what happened.
func (c *client) extend(l *link, limit time.Duration, err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) || l.armed >= limit {
		return err
	}
	return c.arm(l, limit)
}

func (c *client) arm(l *link, limit time.Duration) error {
	l.armed = limit
	return l.conn.SetDeadline(c.d.clock.Time(limit))
}

// drop closes the link; the next request opens it anew.
func (c *client) drop(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = l.conn.Close() // given up: what it says no longer matters
	l.conn, l.armed, l.raw = nil, 0, nil
}

// Close closes every link; see load.Client.
func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	var failed error
	for i := range c.links {
		if conn := c.links[i].conn; conn != nil {
			if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) && failed == nil {
				failed = err
			}
		}
	}
	return failed
}

func (l *link) open(conn net.Conn) {
	l.conn, l.armed = conn, 0
	tcp, ok := conn.(syscall.Conn)
	if !ok {
		return
	}
	l.raw, _ = tcp.SyscallConn()
	if l.look == nil {
		l.look = func(fd uintptr) {
			l.poll[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
			n, err := unix.Poll(l.poll[:], 0)
			l.alive = n == 0 && err == nil
		}
	}
}

// stillOpen looks at an idle connection: nothing to read means that it is as it
// was left. Its end, an error, and an answer that nobody asked for (some
// servers say 408 before they close) all mean that it is of no use.
//
// Control and not Read, because Read fails once the deadline of the request
// before has passed.
func (l *link) stillOpen() bool {
	if l.raw == nil {
		return true
	}
	l.alive = false
	return l.raw.Control(l.look) == nil && l.alive
}
