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
}

// Open readies the wire for a new socket. Nothing goes out before a message.
func (w *wire) Open(out []byte) []byte {
	w.x, w.want, w.over = nil, nil, false
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
	w.x, w.want = x, message
	if q.noReply {
		w.want = nil
	}
	x.BytesOut += int64(len(message))
	return append(out, message...), nil
}

// Receive compares the echo with the sent message. Every byte is compared: TCP has no
// frames to resynchronise on after a wrong answer.
func (w *wire) Receive(in []byte, now time.Duration, out []byte, ended []*load.Exchange) ([]byte, []*load.Exchange, error) {
	x := w.x
	if len(in) == 0 {
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
	n := min(len(in), len(w.want))
	if !bytes.Equal(in[:n], w.want[:n]) {
		at := x.BytesIn + differs(in, w.want[:n]) + 1
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
	w.x, x.Done = nil, now
	return out, append(ended, x), nil
}

// differs returns the index of the first byte at which in differs from want.
func differs(in, want []byte) int64 {
	for i, b := range want {
		if in[i] != b {
			return int64(i)
		}
	}
	return int64(len(want))
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
