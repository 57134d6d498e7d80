package http1

import (
	"bytes"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/load/redirect"
)

// Follow readies x for being sent where its answer's Location says; see
// load.Follower. The request keeps its row of data, its headers and with them
// its authorization.
func (t *Protocol) Follow(x *load.Exchange) (host int, err error) {
	q := &t.requests[x.Request]
	own := redirect.Request{Host: q.host, Method: q.method}
	if x.Hop.Count == 0 {
		own.Target = string(targetOf(q.origin(x)))
	}
	return redirect.Follow(x, own, t.hosts.Endpoints)
}

// Repeatable reports whether a request may be sent twice; see load.Repeater. A
// redirect may have turned it into a GET.
func (t *Protocol) Repeatable(x *load.Exchange) bool {
	return t.requests[x.Request].repeat || x.Hop.Count > 0 && load.Idempotent(x.Hop.Method, nil)
}

// origin is the plan's own request in the form sent for x.
func (q *request) origin(x *load.Exchange) []byte {
	if q.static != nil {
		return q.static
	}
	return x.Hop.Origin
}

// targetOf returns a request's target.
func targetOf(request []byte) []byte {
	_, rest, _ := bytes.Cut(request, []byte{' '})
	target, _, _ := bytes.Cut(rest, []byte{' '})
	return target
}

// appendHop renders a redirected request: the plan's own one with what the
// redirect changes.
func (q *request) appendHop(dst []byte, x *load.Exchange, at *endpoint.Endpoint) []byte {
	hop := &x.Hop
	dst = append(append(append(dst, hop.Method...), ' '), hop.Target...)
	dst = append(dst, " HTTP/1.1\r\n"...)
	head, body, _ := bytes.Cut(q.origin(x), []byte("\r\n\r\n"))
	for i, line := range bytes.Split(head, []byte("\r\n")) {
		name, _, _ := bytes.Cut(line, []byte{':'})
		switch {
		case i == 0: // the request line
		// Content-Length, Content-Type and the like describe a body that does not go along.
		case hop.NoBody && len(name) > len("content-") && is(name[:len("content-")], "content-"):
		case is(name, "host") && hop.Host != q.host:
			// A Host header of the plan is meant for the plan's own host.
			dst = append(append(append(dst, "Host: "...), at.Authority...), "\r\n"...)
		default:
			dst = append(append(dst, line...), "\r\n"...)
		}
	}
	if x.Trace != nil && q.static != nil { // else the sent request has it
		dst = appendTrace(dst, x.Trace)
	}
	if dst = append(dst, "\r\n"...); hop.NoBody {
		return dst
	}
	return append(dst, body...)
}
