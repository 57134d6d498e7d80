package pool_test

// No socket leaks, whatever fails: real sockets over loopback, counted in /proc/self/fd.

import (
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redline-go/redline/kit/pool"
)

var cycles = flag.Int("cycles", 20_000, "cycles of Get and Release with faults in TestNoSocketLeaks")

// sockets counts the descriptors of this process that are sockets.
func sockets(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		// A descriptor may be gone by now: ReadDir's own is.
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(target, "socket:") {
			n++
		}
	}
	return n
}

// echo answers each byte with itself; it closes on 'x' at once, and on 'u' sends a byte
// that nobody asked for.
type echo struct {
	net.Listener
	served sync.WaitGroup

	mu sync.Mutex
	// dialed holds every connection: a forgotten one would be finalized, and its socket
	// closed, before anybody counts.
	dialed []net.Conn
}

func listen(t testing.TB) *echo {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{Listener: l}
	e.served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			e.served.Go(func() { serve(c) })
		}
	})
	t.Cleanup(func() { e.end(t) }) // so that the next test counts its own sockets alone
	return e
}

// end closes the server, and waits until each client has closed its side.
func (e *echo) end(t testing.TB) {
	e.Close()
	ended := make(chan struct{})
	go func() {
		e.served.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("a client's socket is still open")
	}
}

func serve(c net.Conn) {
	defer c.Close()
	// Without a reset each connection leaves its port in TIME_WAIT for a minute, and a
	// million cycles run out of ports.
	_ = c.(*net.TCPConn).SetLinger(0)
	var one [1]byte
	for {
		if _, err := io.ReadFull(c, one[:]); err != nil || one[0] == 'x' {
			return
		}
		answer := one[:]
		if one[0] == 'u' {
			answer = []byte("uu")
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}

// faulty dials an echo, and fails some dials before and after the connection is open.
func (e *echo) faulty(ctx context.Context) (net.Conn, error) {
	switch n := rand.IntN(100); {
	case n < 5:
		return nil, errors.New("injected")
	case n < 6:
		panic("injected")
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", e.Addr().String())
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.dialed = append(e.dialed, c)
	e.mu.Unlock()
	_ = c.(*net.TCPConn).SetLinger(0) // fails where the server has reset it already
	return c, nil
}

// cycle is one borrower. One in 200 goes wrong in each of several ways.
func cycle(p *pool.Pool[net.Conn]) error {
	ctx := context.Background()
	fault := rand.IntN(200)
	if fault == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.IntN(100))*time.Microsecond)
		defer cancel()
	}
	lease, err := p.Get(ctx)
	if err != nil {
		return err
	}
	defer lease.Release()
	request := byte('.')
	switch fault {
	case 1, 2, 3:
		request = 'x' // the server closes
	case 4:
		request = 'u' // something stays unread
	case 5:
		lease.Discard()
		return nil
	case 6:
		lease.Conn.Close() // forbidden, and survived
		return nil
	case 7:
		lease.Release()
		lease.Release()
		return nil
	}
	for range fault % 3 { // others run meanwhile, and more connections are needed
		runtime.Gosched()
	}
	if fault > 20 { // most only borrow: the kernel need not carry a million bytes
		return nil
	}
	one := [1]byte{request}
	if _, err = lease.Conn.Write(one[:]); err == nil {
		_, err = io.ReadFull(lease.Conn, one[:])
	}
	if err != nil && fault != 3 { // a third of the broken ones is released as if sound
		lease.Discard()
	}
	return nil
}

func TestNoSocketLeaks(t *testing.T) {
	before := sockets(t)
	server := listen(t)
	var done, failed atomic.Int64
	var gets, reused, dialed, refused, breaks, gaveUp, unsound, expired, surplus int64
	const generations = 10 // the pool is closed in the middle of the work, and made anew
	for generation := range generations {
		p, err := pool.New(pool.Config[net.Conn]{
			Dial: server.faulty, Check: pool.SocketAlive[net.Conn], CheckAfter: []time.Duration{-1, time.Millisecond}[generation%2],
			MaxOpen: 8, MaxIdle: 1 + generation%5, MaxIdleTime: 20 * time.Millisecond, MaxLifetime: 200 * time.Millisecond,
			MaxWait: 50 * time.Millisecond, Cooldown: time.Millisecond, BreakAfter: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		share := int64(*cycles / generations)
		var begun atomic.Int64
		var wg sync.WaitGroup
		for range 4 + generation%3*6 { // fewer than connections, and more
			wg.Go(func() {
				for n := begun.Add(1); n <= share; n = begun.Add(1) {
					if n == share-share/20 {
						go p.Close()
					}
					if cycle(p) != nil {
						failed.Add(1)
					}
					done.Add(1)
				}
			})
		}
		wg.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := p.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		s := p.Stats()
		if s.Open != 0 || s.Idle != 0 || s.Waiting != 0 {
			t.Fatalf("after Shutdown: %+v", s)
		}
		closed := s.ClosedIdle + s.ClosedLifetime + s.ClosedBroken + s.ClosedUnsound + s.ClosedSurplus + s.ClosedShutdown
		if closed != s.Dialed {
			t.Fatalf("%d were dialled and %d closed", s.Dialed, closed)
		}
		gets, reused, dialed, refused = gets+s.Gets, reused+s.Reused, dialed+s.Dialed, refused+s.DialErrors
		breaks, gaveUp, unsound, expired = breaks+s.Breaks, gaveUp+s.GaveUp, unsound+s.ClosedUnsound, expired+s.ClosedIdle+s.ClosedLifetime
		surplus += s.ClosedSurplus
	}
	server.end(t)
	runtime.KeepAlive(server)
	if after := sockets(t); after != before {
		t.Errorf("%d sockets before, %d after %d cycles", before, after, done.Load())
	}
	t.Logf("%d cycles, %d without a connection (%d gave up, the rest met a closed pool or a failed dial); %d dialled, "+
		"%d dials failed, the breaker opened %d times; %d failed the check, %d expired, %d were surplus; reuse %.4f",
		done.Load(), failed.Load(), gaveUp, dialed, refused, breaks, unsound, expired, surplus, float64(reused)/float64(gets))
}

// TestSocketAlive: the kernel's answers, over real sockets.
func TestSocketAlive(t *testing.T) {
	server := listen(t)
	var dialed atomic.Int64
	p, err := pool.New(pool.Config[net.Conn]{
		Dial: func(ctx context.Context) (net.Conn, error) {
			dialed.Add(1)
			return new(net.Dialer).DialContext(ctx, "tcp", server.Addr().String())
		},
		Check: pool.SocketAlive[net.Conn], CheckAfter: -1, MaxOpen: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i, c := range []struct {
		request string
		read    int
		dials   int64
	}{
		{".", 1, 1}, // the first
		{".", 1, 1}, // alive: reused
		{"u", 1, 1}, // a byte stays unread
		{"x", 0, 2}, // so another was dialled; the server closes it
		{".", 1, 3}, // so another was dialled
	} {
		lease, err := p.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if dialed.Load() != c.dials {
			t.Fatalf("step %d: %d dials, want %d", i, dialed.Load(), c.dials)
		}
		if _, err := io.WriteString(lease.Conn, c.request); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(lease.Conn, make([]byte, c.read)); err != nil {
			t.Fatal(err)
		}
		if c.read == 0 || c.request == "u" {
			waitReadable(t, lease.Conn)
		}
		lease.Release()
	}
}

// waitReadable returns when the kernel has something to read, or the end, and leaves it
// there.
func waitReadable(t *testing.T, c net.Conn) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	// Read calls again once the socket is readable, as long as it gets false.
	if err := raw.Read(func(uintptr) bool { return pool.SocketAlive(context.Background(), c) != nil }); err != nil {
		t.Fatal(err)
	}
}

// TestSyncPoolLeaksSockets shows the unsound form: a sync.Pool forgets connections at a
// collection, and closes none. Each has a reader here, as in most clients, which keeps it
// from being finalized: its socket stays open until the process ends.
func TestSyncPoolLeaksSockets(t *testing.T) {
	server := listen(t)
	const all = 20
	var conns []net.Conn // for the end of the test: a service would not have them
	var pooled sync.Pool
	for range all {
		c, err := net.Dial("tcp", server.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(".")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil { // so that the server's end is open
			t.Fatal(err)
		}
		go func() { _, _ = io.Copy(io.Discard, c) }()
		conns = append(conns, c)
		pooled.Put(c)
	}
	open := sockets(t)
	runtime.GC()
	runtime.GC() // what outlived the first as a victim
	if c := pooled.Get(); c != nil {
		t.Errorf("%v outlived two collections: sync.Pool keeps connections now, and its note in doc.go is outdated", c)
	}
	if after := sockets(t); after != open {
		t.Errorf("%d sockets before the collections, %d after: something closed them", open, after)
	}
	for _, c := range conns {
		c.Close()
	}
}
