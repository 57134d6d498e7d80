package tcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
)

// wire is one connection. It holds a message of its own only where data goes
// into it: there may be tens of thousands of wires.
type wire struct {
	p        *Protocol
	x        *load.Exchange // in progress; nil for none
	want     []byte         // the missing rest of the echo
	rendered []byte         // the message, when data went into it
	over     bool

	// An echo server also echoes messages without a reply. Only their bytes distinguish those
	// echoes from the awaited one.
	mixed   bool         // such messages share the connection with others
	owed    bytes.Buffer // those whose echo has not come
	skipped int          // bytes of owed that came since the message in progress was sent
	message []byte       // in progress
	seen    []byte       // room for reread
}

// Open readies the wire for a new socket. Nothing goes out before a message.
func (w *wire) Open(out []byte) []byte {
	w.x, w.want, w.over = nil, nil, false
	w.forget()
	return out
}

// State returns room for one message when none is in progress.
func (w *wire) State() (room int, over bool) {
	if w.x == nil && !w.over {
		room = 1
	}
	return room, w.over
}

var errEmpty = &failure.Error{Kind: failure.BadRequest, Err: errors.New("the rendered message is empty, so no echo would return")}

// Send appends x's message.
func (w *wire) Send(x *load.Exchange, out []byte) ([]byte, error) {
	q := &w.p.requests[x.Request]
	message := q.message
	if message == nil {
		w.rendered = q.body.Append(w.rendered[:0], x.Data)
		message = w.rendered
	}
	if len(message) == 0 {
		return out, errEmpty
	}
	w.x, w.want, w.message = x, message, message
	if q.noReply {
		if w.want = nil; w.mixed {
			w.owed.Write(message)
		}
	}
	x.BytesOut += int64(len(message))
	return append(out, message...), nil
}

// Receive compares the echo with the sent message. Every byte is compared: TCP has no
// frames to resynchronise on after a wrong answer.
func (w *wire) Receive(in []byte, now time.Duration, out []byte, ended []*load.Exchange) ([]byte, []*load.Exchange, error) {
	x := w.x
	if in = w.skip(in); len(in) == 0 {
		return out, ended, nil
	}
	if len(w.want) == 0 {
		// Bytes when nothing is awaited: a banner, or more than an echo. If the plan has messages
		// without a reply, they are ignored.
		w.over = w.over || !w.p.oneWay
		return out, ended, nil
	}
	if x.FirstByte == 0 {
		x.FirstByte = now
	}
	if w.skipped > 0 && alike(in, w.want) < min(len(in), len(w.want)) {
		in = w.reread(in)
	}
	n := min(len(in), len(w.want))
	if !bytes.Equal(in[:n], w.want[:n]) {
		at := x.BytesIn + int64(alike(in, w.want)) + 1
		x.BytesIn += int64(len(in))
		w.over = true
		return out, ended, &failure.Error{Kind: failure.BadResponse,
			Err: fmt.Errorf("byte %d of the echo differs from the sent message; is this an echo server?", at)}
	}
	x.BytesIn += int64(n)
	if w.want = w.want[n:]; len(w.want) > 0 {
		return out, ended, nil
	}
	if n < len(in) && !w.p.oneWay {
		w.over = true // more than was asked for would be taken for the next echo
	}
	w.forget()
	w.x, x.Done = nil, now
	return out, append(ended, x), nil
}

// skip drops the echoes of messages without a reply, which come before the awaited one.
func (w *wire) skip(in []byte) []byte {
	owed := w.owed.Bytes()[w.skipped:]
	n := alike(in, owed)
	switch rest := in[n:]; {
	case len(w.want) > 0:
		w.skipped += n
		if n < len(owed) && len(rest) > 0 {
			return w.reread(rest)
		}
		return rest
	case n < len(owed) && len(rest) > 0: // this target says something else
		w.forget()
		return rest
	default:
		w.owed.Next(n)
		return rest
	}
}

// reread returns all that came since the message in progress was sent, when the last of it shows that
// the target does not echo the messages before.
func (w *wire) reread(in []byte) []byte {
	w.seen = append(w.seen[:0], w.owed.Bytes()[:w.skipped]...)
	w.seen = append(w.seen, w.message[:len(w.message)-len(w.want)]...)
	w.seen = append(w.seen, in...)
	w.x.BytesIn -= int64(len(w.message) - len(w.want))
	w.want = w.message
	w.forget()
	return w.seen
}

// forget drops what is known of messages without a reply.
func (w *wire) forget() {
	w.owed.Reset()
	w.skipped = 0
}

// alike returns how many bytes a and b have in common at their beginning.
func alike(a, b []byte) int {
	n := min(len(a), len(b))
	if bytes.Equal(a[:n], b[:n]) {
		return n
	}
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Drained ends a message without a reply.
func (w *wire) Drained(now time.Duration, ended []*load.Exchange) []*load.Exchange {
	x := w.x
	if x == nil || len(w.want) > 0 {
		return ended
	}
	w.x, x.Done = nil, now
	return append(ended, x)
}

// Shut ends the connection: an incomplete echo stays incomplete.
func (w *wire) Shut(_ time.Duration, ended []*load.Exchange) ([]*load.Exchange, error) {
	w.over = true
	switch {
	case w.x == nil:
		return ended, nil
	case w.x.FirstByte == 0:
		return ended, &failure.Error{Kind: failure.EOF, Err: fmt.Errorf("closed before the echo: %w", io.EOF)}
	}
	return ended, &failure.Error{Kind: failure.ShortBody, Err: fmt.Errorf("closed with %d bytes of the echo missing: %w",
		len(w.want), io.ErrUnexpectedEOF)}
}

// Cancel ends the connection: the rest of the echo, or of a message that is
// half sent, could not be distinguished from the next one.
func (w *wire) Cancel(_ *load.Exchange, out []byte) ([]byte, bool) {
	w.x, w.want, w.over = nil, nil, true
	return out, false
}
