package http1

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
	host     int // index into the hosts
	method   string
	head     bool
	close    bool // the plan's Connection header asks for it
	repeat   bool // it may be sent twice
	traced   bool // the plan has no trace context of its own
	follow   bool
	checks   *check.Set // nil for none
	watched  bool       // whether its answers need a watcher
	verdicts *check.Verdicts

	static []byte // the whole request when no data goes into it, else nil
	parts  []piece
	body   *feeder.Renderer // nil for none
	length int              // index in parts before which Content-Length goes
}

// piece is literal text followed by rendered data, if any.
type piece struct {
	text string
	data *feeder.Renderer
}

// compile builds a request's fixed parts. Everything that would break the
// framing is refused here, once, so that rendering needs no checks.
func compile(q scenario.Request, p *scenario.Plan) (r request, at endpoint.Endpoint, err error) {
	method := q.Method
	if method == "" {
		method = "GET"
	}
	r = request{method: method, head: method == "HEAD", follow: q.Follow, repeat: load.Idempotent(method, q.Headers)}
	// CONNECT turns the connection into a tunnel, after which no request could follow.
	if !requests.Token(method) || method == "CONNECT" {
		return r, at, fmt.Errorf("method %.40q cannot be sent", method)
	}
	if at, err = endpoint.Parse(string(q.URL), p); err != nil {
		return r, at, err
	}
	if at.Scheme != "http" && at.Scheme != "https" {
		//lint:ignore ST1005 the dots stand for the rest of a URL
		return r, at, fmt.Errorf("scheme %q does not speak HTTP/1.1; write http://... or https://...", at.Scheme)
	}
	// Data is escaped as in a URL: a row with a blank or a line break must not end the request
	// line.
	target, err := feeder.CompileURL(feeder.Template(at.Path), p.Data)
	if err != nil {
		return r, at, err
	}
	r.parts = append(r.parts, piece{text: method + " ", data: target}, piece{text: " HTTP/1.1\r\n"})
	if err := r.headers(q, p, at.Authority); err != nil {
		return r, at, err
	}
	if q.Body != "" {
		if r.body, err = feeder.CompileTemplate(q.Body, p.Data); err != nil {
			return r, at, err
		}
	}
	if r.checks, err = check.New(q); err != nil {
		return r, at, err
	}
	r.watched = r.follow || r.checks != nil
	// RFC 9110, section 8.6: these methods state that there is no body.
	if r.body == nil && (method == "POST" || method == "PUT" || method == "PATCH") {
		r.parts = append(r.parts, piece{text: "Content-Length: 0\r\n"})
	}
	r.traced = load.Traceable(q)
	r.length = len(r.parts)
	r.parts = append(r.parts, piece{text: "\r\n"})
	r.fix()
	return r, at, nil
}

// headers appends the plan's headers in the order of their names, and those
// that a request cannot be without.
func (r *request) headers(q scenario.Request, p *scenario.Plan, host string) error {
	given, err := requests.Headers(q.Headers)
	if err != nil {
		return err
	}
	for _, name := range []string{"content-length", "transfer-encoding"} {
		if given[name] {
			return fmt.Errorf("header %s is set by redline from the body", name)
		}
	}
	// The one header that HTTP/1.1 requires (RFC 9112, section 3.2).
	if !given["host"] {
		r.parts = append(r.parts, piece{text: "Host: " + host + "\r\n"})
	}
	if !given["user-agent"] {
		r.parts = append(r.parts, piece{text: "User-Agent: redline\r\n"})
	}
	// Sorted, because a map has no order: the same plan always sends the same bytes.
	for _, name := range slices.Sorted(maps.Keys(q.Headers)) {
		value, err := feeder.CompileHeader(feeder.Template(q.Headers[name]), p.Data)
		if err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
		// The target then closes the connection after its answer; waiting for room on it would
		// never end.
		if strings.EqualFold(name, "connection") && strings.Contains(strings.ToLower(string(q.Headers[name])), "close") {
			r.close = true
		}
		r.parts = append(r.parts, piece{text: name + ": ", data: value}, piece{text: "\r\n"})
	}
	return nil
}

// fix renders the request once for all when no data goes into it.
func (r *request) fix() {
	// That is so for most requests of most plans; sending one is then a copy.
	for _, part := range r.parts {
		if part.data != nil && !part.data.Static() {
			return
		}
	}
	if r.body != nil && !r.body.Static() {
		return
	}
	r.static = r.append(nil, nil, nil)
}

// append renders the request, with its trace headers if it has any.
func (r *request) append(dst []byte, at *feeder.Cursor, trace *load.Trace) []byte {
	begin := len(dst)
	// The head holds the body's length, so the body is rendered first, copied after the
	// head, and both are moved over it: that needs no memory of its own.
	if r.body != nil {
		dst = r.body.Append(dst, at)
	}
	length := len(dst) - begin
	for i := range r.parts {
		part := &r.parts[i]
		if i == r.length {
			dst = r.appendLast(dst, length, trace)
		}
		dst = append(dst, part.text...)
		if part.data != nil {
			dst = part.data.Append(dst, at)
		}
	}
	if length == 0 {
		return dst
	}
	dst = append(dst, dst[begin:begin+length]...)
	return append(dst[:begin], dst[begin+length:]...)
}

// appendLast appends the headers that differ from one sending to the next.
func (r *request) appendLast(dst []byte, length int, trace *load.Trace) []byte {
	if r.body != nil {
		dst = append(dst, "Content-Length: "...)
		dst = strconv.AppendInt(dst, int64(length), 10)
		dst = append(dst, "\r\n"...)
	}
	if trace != nil {
		dst = appendTrace(dst, trace)
	}
	return dst
}

func appendTrace(dst []byte, trace *load.Trace) []byte {
	dst = trace.AppendParent(append(dst, load.ParentHeader+": "...))
	dst = trace.AppendNumber(append(dst, "\r\n"+load.NumberHeader+": "...))
	return append(dst, "\r\n"...)
}
