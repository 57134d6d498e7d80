package http2

import (
	"strings"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/redirect"
	"github.com/redline-go/redline/scenario"
)

// watcher examines the answer to a request that has checks or follows redirects.
// Other requests have none and pay nothing. It is taken for one exchange and then
// given back.
type watcher struct {
	answer      check.Answer
	name, value []byte // of a header, for answer
	location    []byte
	sent        []byte // see origin; when data went into a request that follows
}

// keep adds the fields that a request's checks examine to those that are kept.
func keep(all []string, q *scenario.Request) []string {
	for _, c := range q.Checks {
		if c.Header != "" {
			all = append(all, strings.ToLower(c.Header))
		}
	}
	if q.Follow {
		all = append(all, "location")
	}
	return all
}

// head takes the final head of the answer to q.
func (w *watcher) head(q *request, h *Head) {
	w.location = w.location[:0]
	if q.follow {
		w.location = append(w.location, h.Value("location")...)
	}
	if q.checks == nil {
		return
	}
	w.answer.Begin(q.checks)
	w.name, w.value = h.Check(&w.answer, w.name, w.value)
}

func (w *watcher) body(q *request, piece []byte) {
	if q.checks != nil {
		w.answer.Body(piece)
	}
}

// apply stores the result of the complete answer in x, except for its status. A
// redirect that is followed is not checked.
func (w *watcher) apply(q *request, x *load.Exchange) {
	if q.follow && redirect.Is(x.Status) && len(w.location) > 0 {
		x.Redirect = append(x.Redirect[:0], w.location...)
		x.Err = nil
		if x.Hop.Count == 0 && q.block == nil {
			x.Hop.Origin = append(x.Hop.Origin[:0], w.sent...)
		}
		return
	}
	if q.checks != nil {
		x.Failed, _ = w.answer.End(x.Status)
	}
}
