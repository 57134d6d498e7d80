package http1

import (
	"time"

	"github.com/redline-go/redline/load"
)

// wire carries one exchange at a time: HTTP/1.1 answers in order, and a request
// behind another would wait for an answer that is not its own.
//
// There may be tens of thousands, so an idle wire holds nothing but itself.
type wire struct {
	t      *Protocol
	host   int
	x      *load.Exchange // in progress; nil for none
	q      *request       // and its request
	parser parser
	over   bool
}

// Open readies the wire for a new socket; see load.Wire.
func (w *wire) Open(out []byte) []byte {
	w.end()
	w.over = false
	return out
}

// State returns 1 between exchanges; see load.Wire.
func (w *wire) State() (room int, over bool) {
	if w.x != nil || w.over {
		return 0, w.over
	}
	return 1, false
}

// Send appends the request of x; see load.Wire.
func (w *wire) Send(x *load.Exchange, out []byte) ([]byte, error) {
	q := &w.t.requests[x.Request]
	head, begin := q.head, len(out)
	switch {
	case x.Hop.Count > 0:
		out = q.appendHop(out, x, &w.t.hosts.Endpoints[w.host])
		head = x.Hop.Method == "HEAD"
	case q.static != nil && x.Trace == nil:
		out = append(out, q.static...)
	default:
		out = q.append(out, x.Data, x.Trace)
	}
	x.BytesOut += int64(len(out) - begin)
	x.Redirect = x.Redirect[:0]
	w.x, w.q = x, q
	w.parser.reset(head)
	if q.watched {
		w.parser.watch = w.t.watchers.Get().(*watcher)
		w.parser.watch.take(q, out[begin:])
	}
	return out, nil
}

// Receive takes a piece of the answer; see load.Wire. Bytes that no request asked
// for end the connection: they would be taken for the next answer. Some servers send
// 408 that way before they close.
func (w *wire) Receive(in []byte, now time.Duration, out []byte, ended []*load.Exchange) ([]byte, []*load.Exchange, error) {
	x := w.x
	if len(in) == 0 {
		return out, ended, nil
	}
	if x == nil {
		w.over = true
		return out, ended, nil
	}
	if x.FirstByte == 0 {
		x.FirstByte = now
	}
	used, err := w.parser.feed(in)
	x.BytesIn += int64(used)
	if err != nil {
		w.fail()
		return out, ended, err
	}
	if w.parser.state != complete {
		return out, ended, nil
	}
	// Bytes after the answer belong to no request; see Receive.
	w.over = used < len(in)
	return out, append(ended, w.finish(now)), nil
}

// Shut ends an answer that the connection's end delimits; see load.Wire.
func (w *wire) Shut(now time.Duration, ended []*load.Exchange) ([]*load.Exchange, error) {
	if w.x == nil {
		w.over = true
		return ended, nil
	}
	if err := w.parser.end(); err != nil {
		w.fail()
		return ended, err
	}
	return append(ended, w.finish(now)), nil
}

// Cancel gives up; see load.Wire. HTTP/1.1 cannot notify the target, whose answer would
// still come.
func (w *wire) Cancel(x *load.Exchange, out []byte) ([]byte, bool) {
	if x != w.x {
		return out, !w.over
	}
	w.fail()
	return out, false
}

// finish ends the exchange with a complete answer.
func (w *wire) finish(now time.Duration) *load.Exchange {
	x, status := w.x, int(w.parser.status)
	x.Done, x.Status = now, status
	x.Err = w.q.verdicts.Of(status)
	if w.parser.watch != nil {
		w.parser.watch.apply(x)
	}
	// Either side may end it: RFC 9112, section 9.6.
	w.over = w.over || !w.parser.keep || w.q.close
	w.end()
	return x
}

// fail ends the connection before the answer was complete.
func (w *wire) fail() {
	if w.x != nil && w.parser.status >= 200 {
		w.x.Status = int(w.parser.status) // the answer's head came at least in part
	}
	w.over = true
	w.end()
}

// end forgets the exchange and releases its resources.
func (w *wire) end() {
	w.parser.dropLine()
	if w.parser.watch != nil {
		w.t.watchers.Put(w.parser.watch)
		w.parser.watch = nil
	}
	w.x, w.q = nil, nil
}
