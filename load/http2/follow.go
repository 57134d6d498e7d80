package http2

import (
	"bytes"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/load/redirect"
)

// Follow readies x for being sent where its answer's Location says; see
// load.Follower. The request keeps its row of data, its headers and with them
// its authorization, because it only ever goes to hosts of the plan.
func (p *Protocol) Follow(x *load.Exchange) (host int, err error) {
	q := &p.requests[x.Request]
	own := redirect.Request{Host: q.host, Method: q.method}
	if x.Hop.Count == 0 {
		block, _ := q.origin(x)
		eachField(block, func(name, value, _ []byte) {
			if string(name) == ":path" {
				own.Target = string(value)
			}
		})
	}
	return redirect.Follow(x, own, p.hosts.Endpoints)
}

// Repeatable reports whether a request may be sent twice; see load.Repeater. A
// redirect may have made a GET of it.
func (p *Protocol) Repeatable(x *load.Exchange) bool {
	return p.requests[x.Request].repeat || x.Hop.Count > 0 && load.Idempotent(x.Hop.Method, nil)
}

// appendOrigin appends the parts of a redirected request: the head and body
// that were sent. By the time of the redirect the data has moved on.
func appendOrigin(b, block, body []byte) []byte {
	return append(AppendValue(b, block), body...)
}

// origin returns the head and body of the plan's own request as they were sent.
func (q *request) origin(x *load.Exchange) (block, body []byte) {
	if q.block != nil {
		return q.block, q.body
	}
	n, rest, ok := readNumber(x.Hop.Origin, 7)
	if !ok || n > len(rest) {
		return nil, nil // never: appendOrigin wrote it
	}
	return rest[:n], rest[n:]
}

// hop makes the redirected request: the plan's own one with what the redirect
// changes.
func (r *rendering) hop(q *request, x *load.Exchange, at *endpoint.Endpoint) Message {
	own, body := q.origin(x)
	block := AppendField(r.block[:0], ":method", x.Hop.Method, false)
	block = AppendField(block, ":scheme", at.Scheme, false)
	if x.Hop.Host != q.host {
		// A Host that the plan gives is for the host that it sends it to.
		block = AppendField(block, ":authority", at.Authority, false)
	}
	block = AppendValue(AppendName(block, ":path", false), x.Hop.Target)
	// An authority that is kept comes before the other fields there as well.
	eachField(own, func(name, _, raw []byte) {
		switch {
		case string(name) == ":authority":
			if x.Hop.Host == q.host {
				block = append(block, raw...)
			}
		case name[0] == ':':
		// What described the body must not go out without it.
		case x.Hop.NoBody && bytes.HasPrefix(name, []byte("content-")):
		default:
			block = append(block, raw...)
		}
	})
	if x.Trace != nil && q.block != nil { // else the sent request has it
		block = AppendTrace(block, x.Trace)
	}
	if r.block = block; x.Hop.NoBody {
		body = nil
	}
	return Message{Block: block, Body: body}
}
