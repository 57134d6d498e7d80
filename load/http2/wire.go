package http2

import (
	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
)

// wire puts requests on a session.
type wire struct {
	Transport
	p       *Protocol
	host    int
	answers []answer // by slot; grown as slots come into use
}

// answer is the exchange in progress in a slot.
type answer struct {
	x       *load.Exchange // nil for none
	in, out int64          // x's bytes before
	left    int64          // of the body; -1 when its length is not known
	watch   *watcher       // nil unless the request has checks or follows redirects
}

// Open readies the wire for a new socket.
func (w *wire) Open(out []byte) []byte {
	for slot := range w.answers {
		w.free(&w.answers[slot])
	}
	return w.Session.Open(out)
}

// Send begins x's stream.
// A followed redirect comes back with the bytes of the requests before it: a.in and a.out
// are the counts from which this one begins.
func (w *wire) Send(x *load.Exchange, out []byte) ([]byte, error) {
	q := &w.p.requests[x.Request]
	for len(w.answers) <= x.Slot {
		w.answers = append(w.answers, answer{})
	}
	a := &w.answers[x.Slot]
	*a = answer{x: x, in: x.BytesIn, out: x.BytesOut, left: -1}
	x.Redirect = x.Redirect[:0]
	if q.follow || q.checks != nil {
		a.watch = w.p.watchers.Get().(*watcher)
	}
	if q.block != nil && x.Hop.Count == 0 && x.Trace == nil {
		out = w.Session.Begin(x.Slot, Message{Block: q.block, Body: q.body, Lasts: true}, out)
	} else {
		out = w.render(a, q, out)
	}
	w.count(a)
	return out, nil
}

// render sends a request that data or a redirect goes into.
func (w *wire) render(a *answer, q *request, out []byte) []byte {
	r := w.p.renderings.Get().(*rendering)
	defer w.p.renderings.Put(r)
	var m Message
	if a.x.Hop.Count > 0 {
		m = r.hop(q, a.x, &w.p.hosts.Endpoints[w.host])
	} else if m = r.message(q, a.x.Data, a.x.Trace); q.follow {
		a.watch.sent = appendOrigin(a.watch.sent[:0], m.Block, m.Body)
	}
	return w.Session.Begin(a.x.Slot, m, out)
}

// Cancel resets x's stream.
func (w *wire) Cancel(x *load.Exchange, out []byte) ([]byte, bool) {
	if x.Slot >= len(w.answers) || w.answers[x.Slot].x != x {
		return out, true
	}
	w.free(&w.answers[x.Slot])
	return w.Session.Reset(x.Slot, Cancel, out), true
}

// count brings x's bytes up to date.
func (w *wire) count(a *answer) {
	in, out := w.Session.Bytes(a.x.Slot)
	a.x.BytesIn, a.x.BytesOut = a.in+in, a.out+out
}

// Head takes a head; see Handler.
func (w *wire) Head(slot int, h *Head, end bool) error {
	a := &w.answers[slot]
	w.count(a)
	if a.x.FirstByte == 0 {
		a.x.FirstByte = w.Session.Began()
	}
	if h.Status >= 200 {
		q := &w.p.requests[a.x.Request]
		a.x.Status = h.Status
		// RFC 9110, section 6.4.1: these have no body, whatever content-length says.
		if a.left = h.Length; q.bodiless(a.x) || h.Status == 204 || h.Status == 304 {
			a.left = 0
		}
		if a.watch != nil {
			a.watch.head(q, h)
		}
	}
	if end {
		return w.end(a)
	}
	return nil
}

// Data takes a piece of a body; see Handler.
func (w *wire) Data(slot int, data []byte, end bool) error {
	a := &w.answers[slot]
	w.count(a)
	if a.left >= 0 {
		// RFC 9113, section 8.1.1: DATA that does not add up to content-length makes the answer
		// malformed.
		if a.left -= int64(len(data)); a.left < 0 {
			return errLongBody
		}
	}
	if a.watch != nil {
		a.watch.body(&w.p.requests[a.x.Request], data)
	}
	if end {
		return w.end(a)
	}
	return nil
}

var (
	errLongBody  = failure.New(failure.BadResponse, "the body is longer than the head says")
	errShortBody = failure.New(failure.ShortBody, "the body is shorter than its content-length")
)

// end judges a complete answer.
func (w *wire) end(a *answer) error {
	if a.left > 0 {
		return errShortBody
	}
	q := &w.p.requests[a.x.Request]
	a.x.Err = q.verdicts.Of(a.x.Status)
	if a.watch != nil {
		a.watch.apply(q, a.x)
	}
	w.finish(a)
	return nil
}

// Failed ends an exchange with an error; see Handler.
func (w *wire) Failed(slot int, err error) {
	a := &w.answers[slot]
	w.count(a)
	if a.x.FirstByte == 0 && a.x.BytesIn > a.in {
		a.x.FirstByte = w.Session.Began()
	}
	a.x.Err = err
	w.finish(a)
}

func (w *wire) finish(a *answer) {
	w.End(a.x)
	w.free(a)
}

// free releases an exchange's resources.
func (w *wire) free(a *answer) {
	if a.watch != nil {
		w.p.watchers.Put(a.watch)
	}
	*a = answer{}
}
