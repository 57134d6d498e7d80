// Package access decides who may connect to redline's listeners. A loopback port
// is open to every user of the host, so a bare listener would take spans from
// anyone and show a run's figures to all. A Listener asks the kernel who is at the
// other end, and lets in the user who runs redline, root, and the users that its
// owner names: the target's.
//
//	access.go         the listener: connections, whose they are, how many of them
//	admit.go          requests: users, tokens, rates, and the words of a refusal
//	peer_linux.go     the user at the other end of a loopback connection
//
// All others need a token; so does everyone if the listener has one, or if its
// address is not on loopback. Users who are not let in cannot keep out those who
// are: their connections are counted separately, few, and short.
//
// Rejected: Unix sockets instead of ports (exporters and scrapers do not use
// them); the peer's uid from /proc/net/tcp (it lists all connections of the host,
// for each one accepted); one limit for the connections of all (a stranger then
// fills it with silent ones).
package access

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	// A token bucket, by the Go team.
	"golang.org/x/time/rate"
)

// Options say who may connect. The zero value lets in this user and root.
type Options struct {
	// Token, if not empty, must come with every request as "Authorization:
	// Bearer". Without one, users that are not known do not come in.
	Token string
	// Variable names the environment variable that sets the token, for errors.
	Variable string
	// Known reports whether a user other than this one and root is let in; nil
	// lets in no other. It is asked at each connection.
	Known func(uid int) bool
	// Connections bounds the connections of known users and of those who may have a
	// token; zero means 256.
	Connections int
	// Rate bounds the requests per second of all clients together, and the size of a
	// burst; zero is no bound.
	Rate float64
}

const (
	mostConnections = 256
	// Users who are not let in have a bounded number of connections, each for a bounded time: enough
	// to read why.
	strangers    = 8
	strangerTime = 5 * time.Second
)

// ErrToken says that an address needs a token and has none.
var ErrToken = errors.New("others can reach it, and there is no token")

// Listener is a listener that knows who comes. Close closes it.
type Listener struct {
	net.Listener
	o       Options
	limiter *rate.Limiter
	local   bool // on loopback, where the kernel knows who is at the other end
	seats   [2]seats
	closed  atomic.Int64
}

// Closed returns how many connections were closed immediately because there were too many.
func (l *Listener) Closed() int64 { return l.closed.Load() }

// Kinds of who is at the other end.
const (
	guest    = iota // may come in, or may show a token
	stranger        // cannot
)

// seats bound connections.
type seats struct {
	most  int64
	taken atomic.Int64
}

func (s *seats) take() bool {
	if s.taken.Add(1) <= s.most {
		return true
	}
	s.taken.Add(-1)
	return false
}

// Listen opens a TCP address. One that others on the network can reach, or where
// the system does not report who connects, needs a token: without one the error is
// ErrToken.
func Listen(ctx context.Context, address string, o Options) (*Listener, error) {
	inner, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	at, ok := inner.Addr().(*net.TCPAddr)
	l := &Listener{Listener: inner, o: o, local: ok && at.IP.IsLoopback() && knowsPeers}
	if !l.local && o.Token == "" {
		inner.Close()
		return nil, fmt.Errorf("%s: %w", address, ErrToken)
	}
	if o.Rate > 0 {
		l.limiter = rate.NewLimiter(rate.Limit(o.Rate), int(math.Ceil(o.Rate)))
	}
	l.seats[guest].most, l.seats[stranger].most = int64(o.Connections), strangers
	if o.Connections <= 0 {
		l.seats[guest].most = mostConnections
	}
	if o.Token != "" && l.local {
		// Users who are not known may hold a token. They get half as many
		// connections, and leave the others to those who are.
		l.seats[stranger].most = max(1, l.seats[guest].most/2)
	}
	return l, nil
}

// Accept implements net.Listener. A connection beyond the bounds is closed.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		known := l.knows(c)
		kind := guest
		if l.local && !known {
			kind = stranger
		}
		if !l.seats[kind].take() {
			c.Close()
			l.closed.Add(1)
			continue
		}
		in := &conn{Conn: c, known: known, leave: func() { l.seats[kind].taken.Add(-1) }}
		if kind == stranger && l.o.Token == "" {
			in.until = time.Now().Add(strangerTime)
			if err := c.SetDeadline(in.until); err != nil {
				in.Close()
				continue
			}
		}
		return in, nil
	}
}

// knows reports whether the user at the other end of a connection is let in.
func (l *Listener) knows(c net.Conn) bool {
	if !l.local {
		return false
	}
	uid, err := peer(c)
	return err == nil && (own(uid) || l.o.Known != nil && l.o.Known(uid))
}

// own reports whether a user is this one or root, or the one who became root with
// sudo to run redline.
func own(uid int) bool {
	if uid == 0 || uid == os.Geteuid() || uid == os.Getuid() {
		return true
	}
	behind, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	return err == nil && os.Geteuid() == 0 && uid == behind
}

// conn is a connection whose other end was checked.
type conn struct {
	net.Conn
	known bool
	until time.Time // when it ends whatever happens; zero is unlimited
	left  atomic.Bool
	leave func()
}

// Close implements net.Conn.
func (c *conn) Close() error {
	if c.left.CompareAndSwap(false, true) {
		c.leave()
	}
	return c.Conn.Close()
}

// bound returns the earlier of a deadline and the end of the connection.
func (c *conn) bound(t time.Time) time.Time {
	if !c.until.IsZero() && (t.IsZero() || t.After(c.until)) {
		return c.until
	}
	return t
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(c.bound(t)) }

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error { return c.Conn.SetReadDeadline(c.bound(t)) }

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.Conn.SetWriteDeadline(c.bound(t)) }
