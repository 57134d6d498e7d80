package http2

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/load/requests"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// request is one request of the mix, compiled.
type request struct {
	host     int
	method   string
	follow   bool
	repeat   bool       // it may be sent twice
	traced   bool       // the plan has no trace context of its own
	checks   *check.Set // nil without
	verdicts *check.Verdicts

	block []byte // the whole header block when no data goes into it, else nil
	body  []byte // the body when no data goes into it

	head   Block            // for when it is not fixed
	render *feeder.Renderer // of the body; nil for none
	length bool             // the length of the body is a field
}

// compile builds a request's fixed parts. Everything that would be malformed is
// refused here, once, so that rendering needs no checks.
func compile(q scenario.Request, p *scenario.Plan, at endpoint.Endpoint) (request, error) {
	r := request{method: q.Method, follow: q.Follow, traced: load.Traceable(q), repeat: load.Idempotent(q.Method, q.Headers)}
	if r.method == "" {
		r.method = "GET"
	}
	if !requests.Token(r.method) || r.method == "CONNECT" {
		return r, fmt.Errorf("method %.40q cannot be sent", r.method)
	}
	path, err := feeder.CompileURL(feeder.Template(at.Path), p.Data)
	if err != nil {
		return r, err
	}
	// Pseudo fields come first; RFC 9113, section 8.3.
	r.head.Add(":method", r.method, nil, false)
	r.head.Add(":scheme", at.Scheme, nil, false)
	if err := r.authority(q, p, at); err != nil {
		return r, err
	}
	r.head.Add(":path", at.Path, path, false)
	if err := r.headers(q, p); err != nil {
		return r, err
	}
	if q.Body != "" {
		if r.render, err = feeder.CompileTemplate(q.Body, p.Data); err != nil {
			return r, err
		}
	}
	// RFC 9110, section 8.6: a method that usually has a body states that there is none.
	r.length = r.render != nil || r.method == "POST" || r.method == "PUT" || r.method == "PATCH"
	r.fix()
	return r, nil
}

// authority adds the host of the request, which a Host header of the plan overrides.
func (r *request) authority(q scenario.Request, p *scenario.Plan, at endpoint.Endpoint) error {
	// RFC 9113, section 8.3.1: :authority replaces the Host of HTTP/1, and one of them is
	// enough. Servers would each interpret two different ones in their own way.
	for name, text := range q.Headers {
		if strings.EqualFold(name, "host") {
			value, err := headerValue(name, text, p)
			if err != nil {
				return err
			}
			r.head.Add(":authority", "", value, false)
			return nil
		}
	}
	r.head.Add(":authority", at.Authority, nil, false)
	return nil
}

// ofConnections are the fields that HTTP/2 does not have; RFC 9113, section 8.2.2.
var ofConnections = []string{"connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade"}

// headers adds the plan's headers in the order of their names.
func (r *request) headers(q scenario.Request, p *scenario.Plan) error {
	given, err := requests.Headers(q.Headers)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(q.Headers)) {
		lower := strings.ToLower(name)
		switch {
		case slices.Contains(ofConnections, lower):
			return fmt.Errorf("header %s is of HTTP/1 connections, and HTTP/2 does not have it", name)
		// Section 8.2.2: the one header about connections that HTTP/2 keeps, and with this
		// value only.
		case lower == "te" && q.Headers[name] != "trailers":
			return fmt.Errorf("header %s can only be \"trailers\" in HTTP/2", name)
		case lower == "content-length":
			return fmt.Errorf("header %s is set by redline from the body", name)
		case lower == "host":
			continue
		}
		value, err := headerValue(name, q.Headers[name], p)
		if err != nil {
			return err
		}
		r.head.Add(lower, "", value, p.SecretHeader(name))
	}
	if !given["user-agent"] {
		r.head.Add("user-agent", "redline", nil, false)
	}
	return nil
}

func headerValue(name string, text scenario.Secret, p *scenario.Plan) (*feeder.Renderer, error) {
	// Blanks around a value make a request malformed; RFC 9113, section 8.2.1.
	value, err := feeder.CompileHeader(feeder.Template(strings.Trim(string(text), " \t")), p.Data)
	if err != nil {
		return nil, fmt.Errorf("header %s: %w", name, err)
	}
	return value, nil
}

// fix renders once for all the parts that no data goes into.
func (r *request) fix() {
	if r.render != nil && r.render.Static() {
		r.body, r.render = r.render.Append(nil, nil), nil
	}
	if r.length && r.render == nil {
		r.head.Add("content-length", strconv.Itoa(len(r.body)), nil, false)
		r.length = false
	}
	if !r.length {
		r.block = r.head.Fixed()
	}
}

// bodiless reports whether the answer to x has no body, whatever its head says.
func (q *request) bodiless(x *load.Exchange) bool {
	// A redirect may have turned the method into another.
	if x.Hop.Count > 0 {
		return x.Hop.Method == "HEAD"
	}
	return q.method == "HEAD"
}

// rendering is room for a request that data goes into, while it is being sent.
type rendering struct {
	block, value, body []byte
}

// message renders the plan's own request, with its trace if it has one.
func (r *rendering) message(q *request, at *feeder.Cursor, trace *load.Trace) Message {
	m := Message{Body: q.body, Lasts: true}
	// Rendered into a buffer that the next request reuses, so the session must copy what the
	// windows hold back; a fixed body lasts.
	if q.render != nil {
		r.body = q.render.Append(r.body[:0], at)
		m.Body, m.Lasts = r.body, false
	}
	r.head(q, len(m.Body), at)
	if trace != nil {
		r.block = AppendTrace(r.block, trace)
	}
	m.Block = r.block
	return m
}

// AppendTrace appends a trace's fields to a header block.
// It goes last, as a literal that enters no table, because ids never repeat.
func AppendTrace(block []byte, trace *load.Trace) []byte {
	var room [64]byte // a traceparent takes 55
	block = AppendValue(append(block, parentName...), trace.AppendParent(room[:0]))
	return AppendValue(append(block, numberName...), trace.AppendNumber(room[:0]))
}

var (
	parentName = AppendName(nil, load.ParentHeader, false)
	numberName = AppendName(nil, load.NumberHeader, false)
)

var contentLength = AppendName(nil, "content-length", false)

// head renders the header block of a request with a body of the given size.
func (r *rendering) head(q *request, body int, at *feeder.Cursor) {
	r.block, r.value = q.head.Append(r.block[:0], r.value, at)
	if q.length {
		r.value = strconv.AppendInt(r.value[:0], int64(body), 10)
		r.block = AppendValue(append(r.block, contentLength...), r.value)
	}
}
