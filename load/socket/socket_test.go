package socket

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func poller(t *testing.T) *Poller {
	t.Helper()
	p, err := NewPoller()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// await waits for an event of a socket that want accepts.
func await(t *testing.T, p *Poller, want func(Event) bool) Event {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		n, err := p.Wait(time.Until(end))
		if err != nil || n == 0 && time.Now().After(end) { // a signal ends a wait too
			t.Fatalf("%d events, error %v", n, err)
		}
		for i := range n {
			if e := p.Event(i); e.Token.Index >= 0 && want(e) {
				return e
			}
		}
	}
}

func readable(e Event) bool { return e.Readable }
func writable(e Event) bool { return e.Writable }

// dial connects to l and returns both ends.
func dial(t *testing.T, p *Poller, l net.Listener, source netip.Addr) (fd int, peer net.Conn) {
	t.Helper()
	to := netip.MustParseAddrPort(l.Addr().String())
	fd, err := Connect(to, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Close(fd) })
	if err := p.Add(fd, Token{Index: 7, Generation: 3}); err != nil {
		t.Fatal(err)
	}
	if e := await(t, p, writable); e.Token != (Token{Index: 7, Generation: 3}) {
		t.Fatalf("event %+v", e)
	}
	if err := Connected(fd, to); err != nil {
		t.Fatal(err)
	}
	peer, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	return fd, peer
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestReadAndWrite(t *testing.T) {
	p := poller(t)
	source := netip.MustParseAddr("127.0.0.2")
	fd, peer := dial(t, p, listen(t), source)
	if got := peer.RemoteAddr().(*net.TCPAddr).AddrPort().Addr(); got != source {
		t.Errorf("the connection comes from %s, not %s", got, source)
	}
	var b [64]byte
	if _, err := Read(fd, b[:]); !errors.Is(err, ErrAgain) {
		t.Fatalf("error %v of a read where nothing has arrived", err)
	}
	if n, err := Write(fd, []byte("ping")); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := io.ReadFull(peer, b[:4]); err != nil || string(b[:4]) != "ping" {
		t.Fatalf("%q %v", b[:4], err)
	}
	if _, err := peer.Write([]byte("pong")); err != nil {
		t.Fatal(err)
	}
	await(t, p, readable)
	if n, err := Read(fd, b[:]); err != nil || string(b[:n]) != "pong" {
		t.Fatalf("%q %v", b[:n], err)
	}
	peer.Close()
	if e := await(t, p, readable); !e.Over {
		t.Errorf("event %+v at the end of the stream", e)
	}
	if n, err := Read(fd, b[:]); n != 0 || err != nil {
		t.Errorf("%d bytes, error %v at the end of the stream", n, err)
	}
}

func TestRefused(t *testing.T) {
	l := listen(t)
	to := netip.MustParseAddrPort(l.Addr().String())
	l.Close()
	fd, err := Connect(to, netip.Addr{})
	if err == nil {
		defer Close(fd)
		p := poller(t)
		if err := p.Add(fd, Token{}); err != nil {
			t.Fatal(err)
		}
		await(t, p, writable)
		err = Connected(fd, to)
	}
	if !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("error %v", err)
	}
}

func TestWakeEndsAWait(t *testing.T) {
	p := poller(t)
	p.Wake()
	p.Wake()
	for range 2 {
		n, err := p.Wait(-1)
		for n == 0 && err == nil { // a signal
			n, err = p.Wait(-1)
		}
		if n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if e := p.Event(0); e.Token.Index >= 0 {
			t.Fatalf("event %+v", e)
		}
		if n, err := p.Wait(0); n != 0 || err != nil {
			t.Fatalf("%d events after the wake was seen, error %v", n, err)
		}
		go p.Wake()
	}
}

func TestTimerInsteadOfPwait2(t *testing.T) {
	if newTimer == nil {
		t.Skip("this platform has no timerfd")
	}
	p := poller(t)
	if err := newTimer(p); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for time.Since(begin) < 3*time.Millisecond {
		n, err := p.Wait(3*time.Millisecond - time.Since(begin))
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if e := p.Event(i); e.Token.Index >= 0 {
				t.Fatalf("event %+v", e)
			}
		}
	}
	fd, peer := dial(t, p, listen(t), netip.Addr{})
	if _, err := peer.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	await(t, p, readable)
	var b [1]byte
	if n, err := Read(fd, b[:]); n != 1 || err != nil {
		t.Error(n, err)
	}
}

func TestWriteKeepsToTheRoom(t *testing.T) {
	p := poller(t)
	fd, peer := dial(t, p, listen(t), netip.Addr{})
	data := make([]byte, 1<<20)
	sent := 0
	for {
		n, err := Write(fd, data)
		sent += n
		if errors.Is(err, ErrAgain) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	go io.CopyN(io.Discard, peer, int64(sent))
	await(t, p, writable)
	if n, err := Write(fd, data); n == 0 || err != nil {
		t.Errorf("%d bytes written where there is room, error %v", n, err)
	}
}

// TestTLS carries more through a small window than the kernel takes at once,
// so that ciphertext is kept and flushed, in both directions.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	certificate := s.TLS.Certificates[0]
	s.Close()
	l := listen(t)
	p := poller(t)
	fd, peer := dial(t, p, l, netip.Addr{})
	server := tls.Server(peer, &tls.Config{Certificates: []tls.Certificate{certificate}})
	go server.Handshake()
	c := NewTLS(fd, &tls.Config{InsecureSkipVerify: true})
	p.Forget(fd)
	if err := c.Handshake(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Add(fd, Token{Index: 7}); err != nil {
		t.Fatal(err)
	}
	const size = 8 << 20
	if err := c.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	if !c.Kept() {
		t.Fatal("8 MiB went out at once: the test does not test")
	}
	echoed := make(chan error, 1)
	go func() {
		_, err := io.CopyN(server, server, size)
		echoed <- err
	}()
	in, ahead := make([]byte, 64<<10), make([]byte, 64<<10)
	for got := 0; got < size; {
		e := await(t, p, func(e Event) bool { return e.Readable || c.Kept() })
		if e.Writable {
			if _, err := c.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		c.Ready(ahead)
		for {
			n, err := c.Read(in)
			got += n
			if errors.Is(err, ErrAgain) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := <-echoed; err != nil {
		t.Error(err)
	}
	server.Close()
	for {
		c.Ready(ahead)
		_, err := c.Read(in)
		if errors.Is(err, io.EOF) {
			return
		}
		if !errors.Is(err, ErrAgain) {
			t.Fatalf("error %v at the orderly end", err)
		}
		await(t, p, readable)
	}
}

// TestTLSCloseEndsAHandshake closes a connection whose peer never answers.
func TestTLSCloseEndsAHandshake(t *testing.T) {
	p := poller(t)
	fd, peer := dial(t, p, listen(t), netip.Addr{})
	dup, err := unix.Dup(fd) // the TLS closes its own
	if err != nil {
		t.Fatal(err)
	}
	c := NewTLS(dup, &tls.Config{InsecureSkipVerify: true})
	ended := make(chan error, 1)
	go func() { ended <- c.Handshake(t.Context()) }()
	var b [1]byte
	if _, err := io.ReadFull(peer, b[:]); err != nil { // it is in progress
		t.Fatal(err)
	}
	c.Close()
	c.Close()
	if err := <-ended; err == nil {
		t.Error("the handshake ended well")
	}
	if _, err := unix.FcntlInt(uintptr(dup), unix.F_GETFD, 0); !errors.Is(err, unix.EBADF) {
		t.Errorf("the socket is still open: %v", err)
	}
}

// TestRecordsAreHandedOutOneByOne feeds records of many lengths in pieces.
func TestRecordsAreHandedOutOneByOne(t *testing.T) {
	var all []byte
	var ends []int
	for _, length := range []int{0, 1, 4, 5, 6, 255, 256, 16_640, 0, 3} {
		all = append(all, 23, 3, 3, byte(length>>8), byte(length))
		all = append(all, make([]byte, length)...)
		ends = append(ends, len(all))
	}
	for _, piece := range []int{1, 2, 3, 5, 7, 300, 1 << 20} {
		var c record
		at, next := 0, 0
		for at < len(all) {
			b := all[at:min(len(all), at+piece)]
			n := c.most(b)
			if n == 0 || at+n > ends[next] {
				t.Fatalf("pieces of %d: %d bytes at %d, where the record ends at %d", piece, n, at, ends[next])
			}
			if m := c.missing(); m == 0 || at+m > ends[next] {
				t.Fatalf("pieces of %d: %d bytes are missing at %d, where the record ends at %d", piece, m, at, ends[next])
			}
			c.took(b[:n])
			if at += n; at == ends[next] {
				next++
			}
		}
	}
}
