package anatomy_test

import (
	"net"
	"sync"
	"testing"
	"time"
)

// watchful hands out connections that say when their server waits for more bytes.
type watchful struct {
	net.Listener
	mu      sync.Mutex
	conns   map[string]*watched // by the client's address
	changed chan struct{}       // closed at the next change of a connection
}

// watched is the server's side of a connection.
type watched struct {
	net.Conn
	l       *watchful
	got     int // bytes read so far
	reading bool
}

func watch(l net.Listener) *watchful {
	return &watchful{Listener: l, conns: map[string]*watched{}, changed: make(chan struct{})}
}

func (l *watchful) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	w := &watched{Conn: conn, l: l}
	l.change(func() { l.conns[conn.RemoteAddr().String()] = w })
	return w, nil
}

// change makes a change and wakes who waits for one.
func (l *watchful) change(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
	close(l.changed)
	l.changed = make(chan struct{})
}

func (w *watched) Read(b []byte) (int, error) {
	w.l.change(func() { w.reading = true })
	n, err := w.Conn.Read(b)
	w.l.change(func() { w.reading, w.got = false, w.got+n })
	return n, err
}

// awaitReader returns when the server has read all n bytes of a client's connection, and waits for more.
func (l *watchful) awaitReader(t *testing.T, client net.Addr, n int) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		l.mu.Lock()
		w, changed := l.conns[client.String()], l.changed
		waits := w != nil && w.reading && w.got == n
		l.mu.Unlock()
		if waits {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("the server did not read on after %d bytes", n)
		}
	}
}
