package http1

import (
	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/redirect"
)

// watcher examines the answer to a request that has checks or follows redirects.
// Other requests have none and pay nothing. It is taken for one exchange and then
// given back.
type watcher struct {
	set      *check.Set // nil without checks
	answer   check.Answer
	follow   bool
	sent     []byte // the request, when data went into it and it follows
	location []byte
	located  bool
}

// take readies w for the answer to q. The request that was sent is kept, because
// by the time of a redirect the data has moved on.
func (w *watcher) take(q *request, sent []byte) {
	w.set, w.follow, w.sent = q.checks, q.follow, w.sent[:0]
	if w.follow && q.static == nil {
		w.sent = append(w.sent, sent...)
	}
	w.begin()
}

// begin is called as a head begins: an interim answer is followed by another.
func (w *watcher) begin() {
	w.location, w.located = w.location[:0], false
	if w.set != nil {
		w.answer.Begin(w.set)
	}
}

func (w *watcher) header(name, value []byte) {
	if w.set != nil {
		w.answer.Header(name, value)
	}
	// The first one counts, as in net/http; a second is the server's mistake.
	if w.follow && !w.located && is(name, "location") {
		w.location, w.located = append(w.location[:0], value...), true
	}
}

func (w *watcher) body(piece []byte) {
	if w.set != nil {
		w.answer.Body(piece)
	}
}

// apply stores the result of the complete answer in x, except for its status. A
// redirect that is followed is not checked.
func (w *watcher) apply(x *load.Exchange) {
	if w.follow && redirect.Is(x.Status) && len(w.location) > 0 {
		x.Redirect = append(x.Redirect[:0], w.location...)
		x.Err = nil
		if x.Hop.Count == 0 {
			x.Hop.Origin = append(x.Hop.Origin[:0], w.sent...)
		}
		return
	}
	if w.set != nil {
		x.Failed, _ = w.answer.End(x.Status)
	}
}
