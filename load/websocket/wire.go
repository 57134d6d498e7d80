package websocket

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/failure"
)

// phase is how far a connection has come.
type phase uint8

const (
	over      phase = iota // also a wire that was never opened
	unasked                // the upgrade waits for the first message's data
	upgrading              // the upgrade's answer is awaited
	open
)

// wire is one connection. It is kept small: there may be tens of thousands, most of
// them idle. Buffers are made when needed, and what only the upgrade needs is released
// after it.
type wire struct {
	p     *Protocol
	at    *handshake
	rng   rand.PCG
	phase phase

	nonce [2]uint64 // of the upgrade's key
	// answer is the part so far of the upgrade's answer, message the bytes that go out
	// after it.
	answer, message []byte

	x       *load.Exchange // in progress; nil for none
	asked   bool           // a message that expects an answer has gone out
	noReply bool           // x ends when it was sent
	checks  *check.Set     // of its answer; nil for none
	look    *check.Answer  // under inspection; nil for none

	// The frame that is being received, and the message.
	head    head
	inFrame bool   // its head is complete
	left    uint64 // bytes of its payload to come
	control []byte // its payload, of a control frame
	begun   bool   // a message's last frame has not come
	answers bool   // that message answers x
}

func newWire(p *Protocol, at *handshake, seed uint64) *wire {
	return &wire{p: p, at: at, rng: *rand.NewPCG(seed, 0x7765627365636b74)}
}

// key returns a new masking key, from the seed: runs repeat byte by byte. It need not be
// secret; see the package comment.
func (w *wire) key() uint32 { return uint32(w.rng.Uint64()) }

// Open sends the upgrade request, unless it contains data: then the first Send does.
func (w *wire) Open(out []byte) []byte {
	w.forget()
	// Buffers survive, so that a target that closes every connection does not make
	// the generator allocate for each.
	*w = wire{p: w.p, at: w.at, rng: w.rng, message: w.message[:0], control: w.control[:0]}
	w.nonce = [2]uint64{w.rng.Uint64(), w.rng.Uint64()}
	w.phase = unasked
	if w.at.static {
		w.phase = upgrading
		out = w.at.append(out, w.nonce, nil)
	}
	return out
}

// State returns room for one message once the connection is upgraded, or when its upgrade
// waits for a message. An answer does not identify its message, so there is never more than
// one message in progress.
func (w *wire) State() (room int, isOver bool) {
	if w.x == nil && (w.phase == open || w.phase == unasked) {
		room = 1
	}
	return room, w.phase == over
}

// Send appends x's message, or the upgrade that must precede it. The bytes of an upgrade
// count for no exchange.
func (w *wire) Send(x *load.Exchange, out []byte) ([]byte, error) {
	q := &w.p.requests[x.Request]
	w.x, w.noReply, w.checks = x, q.noReply, q.checks
	w.asked = w.asked || !q.noReply
	if w.phase == unasked {
		w.phase = upgrading
		w.message = w.appendMessage(w.message[:0], q, x)
		x.BytesOut += int64(len(w.message))
		return w.at.append(out, w.nonce, x.Data), nil
	}
	before := len(out)
	out = w.appendMessage(out, q, x)
	x.BytesOut += int64(len(out) - before)
	return out, nil
}

// appendMessage appends the frame of a message. A rendered message is rendered
// in place, behind room for the head of a short message.
func (w *wire) appendMessage(out []byte, q *request, x *load.Exchange) []byte {
	key := w.key()
	if q.message != nil {
		return appendFrame(out, q.opcode, q.message, key)
	}
	// The size is known only once the data is rendered. Nearly all messages are below
	// 126 bytes and stay where they are; a longer one moves by the rest of its head.
	const room = 2 + keyLength
	begin := len(out)
	out = append(out, make([]byte, room)...)
	out = q.body.Append(out, x.Data)
	size := len(out) - begin - room
	kind := kindOf(out[begin+room:])
	if more := headSize(size) - room; more > 0 {
		out = append(out, make([]byte, more)...)
		copy(out[begin+room+more:], out[begin+room:])
	}
	appendHead(out[:begin], kind, size, key)
	mask(out[len(out)-size:], key)
	return out
}

// Receive takes bytes of the upgrade's answer and of frames.
func (w *wire) Receive(in []byte, now time.Duration, out []byte, ended []*load.Exchange) ([]byte, []*load.Exchange, error) {
	var err error
	switch w.phase {
	case over:
		return out, ended, nil
	case unasked:
		if len(in) == 0 {
			return out, ended, nil
		}
		// RFC 6455, section 4.1: the client speaks first, and what comes before the upgrade's
		// answer belongs to nothing.
		w.phase = over
		return out, ended, bad(errors.New("the target sends data before the upgrade request"))
	case upgrading:
		if in, err = w.upgraded(in); err != nil {
			w.phase = over
			return out, ended, err
		}
		if w.phase == open {
			out = append(out, w.message...)
			w.message = nil
		}
	}
	for len(in) > 0 && w.phase == open {
		n, complete, err := w.frame(in, now)
		in = in[n:]
		if err == nil && complete {
			out, ended, err = w.finish(now, out, ended)
		}
		if err != nil {
			w.phase = over
			return appendClose(out, protocolError, w.key()), ended, bad(err)
		}
	}
	return out, ended, nil
}

// upgraded takes bytes of the upgrade's answer and returns those after it.
func (w *wire) upgraded(in []byte) (rest []byte, err error) {
	for w.phase == upgrading && len(in) > 0 {
		had := len(w.answer)
		w.answer = append(w.answer, in...)
		// Refused at its first bytes: a target that speaks another protocol may never send a
		// blank line, and the request would fail with a timeout instead of the cause.
		if begin := "HTTP/1."; !strings.HasPrefix(begin, string(w.answer[:min(len(w.answer), len(begin))])) {
			return nil, bad(fmt.Errorf("the answer to the upgrade begins with %.16q and is not HTTP", w.answer))
		}
		end := headEnd(w.answer, had)
		if end > mostUpgrade || end == 0 && len(w.answer) > mostUpgrade {
			return nil, &failure.Error{Kind: failure.HeaderTooLarge,
				Err: fmt.Errorf("the head of the upgrade's answer is longer than %d bytes",
					mostUpgrade)}
		}
		if end == 0 {
			return nil, nil
		}
		in = in[end-had:]
		status, interim, err := w.at.answer(w.answer[:end], w.nonce)
		w.answer = nil
		if err != nil {
			if w.x != nil {
				w.x.Status = status
			}
			return nil, err
		}
		if !interim {
			w.phase = open
		}
	}
	return in, nil
}

// frame takes bytes of one frame and returns how many, and whether the frame is
// complete.
func (w *wire) frame(in []byte, now time.Duration) (n int, complete bool, err error) {
	if !w.inFrame {
		first := w.head.have == 0
		n, w.inFrame, err = w.head.feed(in)
		if first && err == nil {
			err = w.begin(now)
		}
		if err != nil || !w.inFrame {
			return n, false, err
		}
		w.left = w.head.size()
		if w.answering() {
			w.x.BytesIn += int64(w.head.length())
		}
	}
	// A payload is examined in the pieces that arrive and never gathered, so that an
	// answer of any length takes no memory. Only that of a control frame is kept, at most
	// 125 bytes: a pong repeats its ping's (section 5.5.3).
	payload := in[n:]
	if uint64(len(payload)) > w.left {
		payload = payload[:w.left]
	}
	w.left -= uint64(len(payload))
	if w.head.opcode().control() {
		w.control = append(w.control, payload...)
	} else if w.answering() {
		w.x.BytesIn += int64(len(payload))
		if w.look != nil {
			w.look.Body(payload)
		}
	}
	return n + len(payload), w.left == 0, nil
}

// answering reports whether the frame is part of the answer to x.
func (w *wire) answering() bool {
	return w.answers && w.x != nil && !w.head.opcode().control()
}

// begin is called with a frame's first byte: the frame must continue the one before, and
// may begin the answer.
func (w *wire) begin(now time.Duration) error {
	o := w.head.opcode()
	switch {
	case o.control():
		return nil
	// Section 5.4: control frames may stand between the fragments of a message, but not
	// another message.
	case o == continuation && !w.begun:
		return errors.New("a continuation frame without a message in progress")
	case o != continuation && w.begun:
		return errors.New("a message begins within another")
	}
	if !w.begun {
		w.begun = true
		if w.answers = w.x != nil && !w.noReply; w.answers {
			w.x.FirstByte = now
			if w.checks != nil {
				w.look = w.p.answers.Get().(*check.Answer)
				w.look.Begin(w.checks)
			}
		} else if w.asked {
			w.p.pushed.Add(1)
		}
	}
	return nil
}

// forget releases the resources for examining an answer.
func (w *wire) forget() {
	if w.look != nil {
		w.p.answers.Put(w.look)
		w.look = nil
	}
}

// finish is called when a frame is complete.
func (w *wire) finish(now time.Duration, out []byte, ended []*load.Exchange) ([]byte, []*load.Exchange, error) {
	o, fin := w.head.opcode(), w.head.fin()
	control := w.control
	w.head.have, w.inFrame, w.control = 0, false, w.control[:0]
	switch {
	case o == ping:
		return appendFrame(out, pong, control, w.key()), ended, nil
	case o == closing:
		closure, err := parseClose(control)
		if err != nil {
			return out, ended, err
		}
		w.phase = over
		if x := w.x; x != nil {
			w.x, x.Done, x.Err = nil, now, w.broken(closure)
			ended = append(ended, x)
		}
		// Section 5.5.1: whoever receives a close frame answers it with the same code.
		return appendClose(out, closure.code, w.key()), ended, nil
	case o == pong || !fin:
		return out, ended, nil
	}
	w.begun = false
	if x := w.x; w.answers {
		w.x, w.answers, x.Done = nil, false, now
		if w.look != nil {
			x.Failed, _ = w.look.End(0)
			w.forget()
		}
		ended = append(ended, x)
	}
	return out, ended, nil
}

// broken is the error that the connection's end causes for x.
func (w *wire) broken(why error) error {
	kind := failure.EOF
	if w.answers {
		kind = failure.ShortBody
	}
	return &failure.Error{Kind: kind, Err: why}
}

// Drained ends a message without a reply.
func (w *wire) Drained(now time.Duration, ended []*load.Exchange) []*load.Exchange {
	x := w.x
	if x == nil || !w.noReply || w.phase != open {
		return ended
	}
	w.x, x.Done = nil, now
	return append(ended, x)
}

// Shut ends the connection without a close frame.
func (w *wire) Shut(_ time.Duration, ended []*load.Exchange) ([]*load.Exchange, error) {
	was := w.phase
	w.phase = over
	switch {
	case was == upgrading:
		return ended, w.broken(fmt.Errorf("closed within the upgrade: %w", io.EOF))
	case w.x != nil:
		return ended, w.broken(fmt.Errorf("closed without a close frame: %w", io.ErrUnexpectedEOF))
	}
	return ended, nil
}

// Cancel gives x up, and the connection with it: a late answer could not be
// distinguished from the next one.
func (w *wire) Cancel(_ *load.Exchange, out []byte) ([]byte, bool) {
	if w.phase == open {
		out = appendClose(out, goingAway, w.key())
	}
	w.x, w.phase = nil, over
	w.forget()
	return out, false
}
