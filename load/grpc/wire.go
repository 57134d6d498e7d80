package grpc

import (
	"strconv"
	"strings"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/http2"
)

// wire puts calls on a session.
type wire struct {
	http2.Transport
	p     *Protocol
	calls []call // by slot; grown as slots come into use
}

// call is the call in progress in a slot.
type call struct {
	x        *load.Exchange // nil for none
	http     int            // status of the head; 0 before it
	foreign  error          // why the answer is not gRPC; nil if it is
	messages messages
	checking *checking // nil when the request has no checks
}

// rendering is room for a request that data goes into.
type rendering struct {
	encoding           encoding
	block, value, body []byte
}

// Open readies the wire for a new socket.
func (w *wire) Open(out []byte) []byte {
	for i := range w.calls {
		w.free(&w.calls[i])
	}
	return w.Session.Open(out)
}

// Send opens x's stream and sends all of its messages with the end of the stream.
func (w *wire) Send(x *load.Exchange, out []byte) ([]byte, error) {
	q := &w.p.requests[x.Request]
	for len(w.calls) <= x.Slot {
		w.calls = append(w.calls, call{})
	}
	// Nothing differs from one call to the next: the same bytes go out again, and nothing is
	// copied.
	if q.block != nil && q.encode == nil && x.Trace == nil {
		out = w.Session.Begin(x.Slot, http2.Message{Block: q.block, Body: q.body, Lasts: true}, out)
	} else {
		var err error
		if out, err = w.render(x, q, out); err != nil {
			return out, err
		}
	}
	c := &w.calls[x.Slot]
	*c = call{x: x}
	if q.checks != nil {
		c.checking = w.p.checkings.Get().(*checking)
		c.checking.begin(q, &c.messages)
	}
	_, x.BytesOut = w.Session.Bytes(x.Slot)
	return out, nil
}

// render sends a request that data or a trace goes into. Its buffers are shared, so that
// idle connections hold none.
func (w *wire) render(x *load.Exchange, q *request, out []byte) (_ []byte, err error) {
	r := w.p.renderings.Get().(*rendering)
	defer w.p.renderings.Put(r)
	m := http2.Message{Block: q.block, Body: q.body, Lasts: true}
	if q.encode != nil {
		r.encoding.rows = x.Data
		r.body, err = q.encode.encode(r.body[:0], &r.encoding)
		r.encoding.rows = nil
		if err != nil {
			return out, &failure.Error{Kind: failure.BadRequest, Err: err}
		}
		m.Body, m.Lasts = r.body, false
	}
	if m.Block == nil {
		r.block, r.value = q.head.Append(r.block[:0], r.value, x.Data)
		m.Block = r.block
	}
	if x.Trace != nil {
		r.block = http2.AppendTrace(append(r.block[:0], m.Block...), x.Trace)
		m.Block = r.block
	}
	return w.Session.Begin(x.Slot, m, out), nil
}

// Cancel resets x's stream; gRPC servers see CANCELLED.
func (w *wire) Cancel(x *load.Exchange, out []byte) ([]byte, bool) {
	if x.Slot >= len(w.calls) || w.calls[x.Slot].x != x {
		return out, true
	}
	w.free(&w.calls[x.Slot])
	return w.Session.Reset(x.Slot, http2.Cancel, out), true
}

// count brings the exchange of a slot up to date.
func (w *wire) count(slot int) *call {
	c := &w.calls[slot]
	c.x.BytesIn, c.x.BytesOut = w.Session.Bytes(slot)
	if c.x.FirstByte == 0 && c.x.BytesIn > 0 {
		c.x.FirstByte = w.Session.Began()
	}
	return c
}

// Head takes a head; see http2.Handler. The status comes with the trailers, or
// with a head that is all there is ("Trailers-Only").
// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md ("Responses")
func (w *wire) Head(slot int, h *http2.Head, end bool) error {
	c := w.count(slot)
	if h.Status > 0 && h.Status < 200 {
		return nil
	}
	q := &w.p.requests[c.x.Request]
	if c.checking != nil {
		c.checking.fields(h)
	}
	if h.Status != 0 {
		c.http = h.Status
		c.foreign = foreign(h)
	}
	if !end {
		return nil
	}
	t := trailersOf(h)
	switch {
	case t.given && !t.valid:
		c.x.Status = t.code
		return failure.New(failure.BadResponse, "a grpc-status of %.20q", h.Value("grpc-status"))
	case !t.given:
		return w.finishForeign(c, q)
	}
	return w.finish(c, q, t.code, t)
}

// Data takes a piece of the messages; see http2.Handler. A body that is not gRPC is
// skipped: a proxy's error page must not be parsed as a message length.
func (w *wire) Data(slot int, data []byte, end bool) error {
	c := w.count(slot)
	if c.foreign == nil {
		if err := c.messages.feed(data); err != nil {
			return err
		}
	}
	if end {
		return w.finishForeign(c, &w.p.requests[c.x.Request])
	}
	return nil
}

// Failed ends a call with an error; see http2.Handler. Servers, such as Go's, also
// reset streams whose deadline has passed.
func (w *wire) Failed(slot int, err error) {
	c := w.count(slot)
	if failure.Of(err) == failure.StreamReset && w.late(c) {
		err = failure.New(failure.Timeout, "the target ended the call: %w", err)
	}
	w.end(c, err)
}

// foreign returns an error if a head is not gRPC's. Its body then holds no messages.
func foreign(h *http2.Head) error {
	if h.Status != 200 {
		return errForeign
	}
	kind := h.Value("content-type")
	rest, ok := strings.CutPrefix(kind, "application/grpc")
	if !ok || rest != "" && rest[0] != '+' && rest[0] != ';' {
		return failure.New(failure.BadResponse, "an answer of type %.60q; is there a gRPC service at this port?", kind)
	}
	return nil
}

var errForeign = failure.New(failure.BadResponse, "an answer of HTTP and not of gRPC")

// finishForeign ends a call whose answer has no grpc-status.
func (w *wire) finishForeign(c *call, q *request) error {
	switch {
	case c.http != 200:
		return w.finish(c, q, codeOf(c.http), nil)
	case c.foreign != nil:
		c.x.Status = codeUnknown
		return c.foreign
	}
	c.x.Status = codeUnknown
	return errNoStatus
}

var (
	errNoStatus = failure.New(failure.BadResponse, "the answer ended without a grpc-status")
	errHalf     = failure.New(failure.BadResponse, "the answer ended within a message")
	errCount    = failure.New(failure.BadResponse, "status OK, but not exactly one message, as a unary method requires")
)

// finish judges a complete answer. Without trailers the code is the one that HTTP's
// status stands for.
func (w *wire) finish(c *call, q *request, code int, t *trailers) error {
	c.x.Status = code
	if code == codeOK && c.http != 0 {
		switch {
		case c.foreign != nil && c.http == 200:
			return c.foreign
		case !c.messages.whole():
			return errHalf
		case q.single && c.messages.count != 1:
			return errCount
		}
	}
	if c.checking != nil {
		var err error
		if c.x.Failed, err = c.checking.check(q, c); err != nil {
			return err
		}
	}
	if code == q.expect {
		w.end(c, nil)
		return nil
	}
	if t == nil {
		t = &trailers{code: code, message: "HTTP status " + strconv.Itoa(c.http)}
	}
	kind := failure.Status
	if code == codeDeadlineExceeded && w.late(c) {
		kind = failure.Timeout
	}
	return t.failure(kind, q.expect)
}

// late reports whether the plan's timeout has passed. The server knows the timeout and
// starts its clock at about the same time, so either side may be first to end the call.
func (w *wire) late(c *call) bool {
	return c.x.Sent > 0 && w.Now()-c.x.Sent >= w.p.timeout-w.p.timeout/slack
}

// slack is the part of a timeout by which a server's coarse clock may be early.
const slack = 50

// end ends a call.
func (w *wire) end(c *call, err error) {
	c.x.Err = err
	w.End(c.x)
	w.free(c)
}

// free readies a slot for the next call.
func (w *wire) free(c *call) {
	if c.checking != nil {
		c.checking.end(&c.messages)
		w.p.checkings.Put(c.checking)
	}
	*c = call{}
}
