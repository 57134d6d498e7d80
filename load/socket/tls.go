package socket

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix" // errno
)

// TLS is the client side of TLS over a non-blocking socket. crypto/tls reads through a
// net.Conn and survives its temporary errors, so EAGAIN passes through crypto/tls to the
// caller of Read.
//
// Only Handshake blocks, on a goroutine of its own; all other methods belong to one
// goroutine.
type TLS struct {
	conn *tls.Conn
	raw  raw

	mu      sync.Mutex // of the two below
	shaking context.CancelFunc
	closed  bool
}

// NewTLS returns a client over fd before its handshake. Close closes fd too.
func NewTLS(fd int, config *tls.Config) *TLS {
	t := &TLS{raw: raw{fd: fd, blocking: true}}
	t.conn = tls.Client(&t.raw, config)
	return t
}

// handshakePoll bounds one wait of a handshake, so that it sees its context end.
const handshakePoll = 100 // ms

// Handshake blocks until the handshake is over, ctx ends or Close is called.
func (t *TLS) Handshake(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return net.ErrClosed
	}
	t.shaking = cancel
	t.mu.Unlock()

	t.raw.ctx = ctx
	err := t.conn.HandshakeContext(ctx)
	t.raw.blocking, t.raw.ctx = false, nil

	t.mu.Lock()
	defer t.mu.Unlock()
	// Closed meanwhile: the descriptor was the handshake's until now. Closing it earlier would
	// let the kernel reuse its number for another connection, to which the handshake would write.
	if t.shaking = nil; t.closed {
		Close(t.raw.fd)
	}
	return err
}

// Close closes the socket, from any goroutine: at once, or as soon as a running handshake
// has stopped using it.
func (t *TLS) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
	// Handshake sees it at its next wait, and closes the socket itself.
	case t.shaking != nil:
		t.shaking()
	default:
		Close(t.raw.fd)
	}
	t.closed = true
}

// Kept reports whether Flush has bytes to write.
func (t *TLS) Kept() bool { return len(t.raw.kept) > 0 }

// Ready begins a round of reads: the socket may have more than the last round found.
// Ciphertext is read into ahead, which must not be used otherwise until the round is
// over. Without it crypto/tls asks for half a kilobyte at a time, and a peer that writes
// many small records would cost a system call for every few.
func (t *TLS) Ready(ahead []byte) { t.raw.drained, t.raw.buffer = false, ahead }

// Read reads bytes that have arrived, up to one record. A round is over when More returns
// false or the error is ErrAgain. io.EOF is the orderly end.
func (t *TLS) Read(b []byte) (int, error) { return t.conn.Read(b) }

// More reports whether another Read may find something: crypto/tls gets one record at a
// time, so it never holds back bytes.
func (t *TLS) More() bool { return len(t.raw.ahead) > 0 || !t.raw.drained }

// Write encrypts b and writes as much as there is room for. It keeps the rest for Flush.
func (t *TLS) Write(b []byte) error {
	_, err := t.conn.Write(b)
	return err
}

// Flush writes the kept bytes and reports whether it wrote all.
func (t *TLS) Flush() (done bool, err error) {
	r := &t.raw
	for len(r.kept) > 0 {
		n, err := Write(r.fd, r.kept)
		if errors.Is(err, ErrAgain) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		r.kept = r.kept[n:]
	}
	r.kept = nil
	return true, nil
}

// raw is the net.Conn below crypto/tls.
type raw struct {
	fd       int
	blocking bool // during the handshake
	ctx      context.Context
	// drained is set after a short read: the socket is empty, and reading again would
	// cost a system call only to learn that.
	drained bool
	buffer  []byte // to read into
	ahead   []byte // bytes read and not yet requested; of buffer
	record  record // that is being handed out
	kept    []byte // ciphertext that the kernel had no room for
}

func (r *raw) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if r.blocking {
		return r.readBlocking(b)
	}
	if len(r.ahead) == 0 {
		if r.drained {
			return 0, ErrAgain
		}
		n, err := Read(r.fd, r.buffer)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			return 0, io.EOF
		}
		r.ahead, r.drained = r.buffer[:n], n < len(r.buffer)
	}
	n := copy(b, r.ahead[:r.record.most(r.ahead)])
	r.record.took(r.ahead[:n])
	r.ahead = r.ahead[n:]
	return n, nil
}

// record tracks the bounds of TLS records (RFC 8446, section 5.1), so that crypto/tls is
// never given the beginning of the next one: it would buffer that, and every round would
// need one more Read to learn that it holds nothing complete.
type record struct {
	head [recordHead]byte
	have int // bytes of head
	left int // bytes of the body
}

const recordHead = 5 // type, version, length

// most returns how many bytes of b belong to the record.
func (c *record) most(b []byte) int {
	if c.have == recordHead {
		return min(c.left, len(b))
	}
	missing := recordHead - c.have
	if len(b) < missing {
		return len(b)
	}
	head := c.head
	copy(head[c.have:], b[:missing])
	return min(missing+bodyLength(head), len(b))
}

// missing returns how many bytes surely belong to the record.
func (c *record) missing() int {
	if c.have == recordHead {
		return c.left
	}
	return recordHead - c.have
}

// took moves past bytes of the record.
func (c *record) took(b []byte) {
	if c.have < recordHead {
		n := copy(c.head[c.have:], b)
		if c.have += n; c.have < recordHead {
			return
		}
		c.left, b = bodyLength(c.head), b[n:]
	}
	if c.left -= len(b); c.left == 0 {
		c.have = 0
	}
}

func bodyLength(head [recordHead]byte) int { return int(head[3])<<8 | int(head[4]) }

func (r *raw) readBlocking(b []byte) (int, error) {
	// The same bound as in Read: what crypto/tls read beyond the handshake's last record would
	// be hidden in it, and no event would come for it.
	b = b[:min(len(b), r.record.missing())]
	for {
		n, err := Read(r.fd, b)
		switch {
		case errors.Is(err, ErrAgain):
			if err := r.await(false); err != nil {
				return 0, err
			}
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			r.record.took(b[:n])
			return n, nil
		}
	}
}

func (r *raw) Write(b []byte) (int, error) {
	if len(r.kept) > 0 { // in order
		r.kept = append(r.kept, b...)
		return len(b), nil
	}
	for done := 0; done < len(b); {
		n, err := Write(r.fd, b[done:])
		done += n
		switch {
		case err == nil:
		case !errors.Is(err, ErrAgain):
			return done, err
		case r.blocking:
			if err := r.await(true); err != nil {
				return done, err
			}
		default:
			// Reported as written: an error would end the tls.Conn for good (its writes do not
			// resume), and the bytes are on their way.
			r.kept = append(r.kept, b[done:]...)
			return len(b), nil
		}
	}
	return len(b), nil
}

// await waits for the socket during the handshake.
func (r *raw) await(write bool) error {
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if err := wait(r.fd, write, handshakePoll); !errors.Is(err, unix.ETIMEDOUT) {
			return err
		}
	}
}

// Close, LocalAddr, RemoteAddr and the deadlines implement net.Conn; the caller closes
// the socket and watches the time.
func (r *raw) Close() error                     { return nil }
func (r *raw) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (r *raw) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (r *raw) SetDeadline(time.Time) error      { return nil }
func (r *raw) SetReadDeadline(time.Time) error  { return nil }
func (r *raw) SetWriteDeadline(time.Time) error { return nil }
