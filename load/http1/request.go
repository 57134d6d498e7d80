package http1

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redline-go/redline/scenario"
)

// request is one request of the mix, compiled.
type request struct {
	host   int // index into Dialer.hosts
	head   bool
	close  bool // the plan's Connection header asks for it
	expect int

	static []byte // the whole request when no data goes into it, else nil
	parts  []piece
	body   *scenario.Renderer // nil for none
	length int                // index in parts before which Content-Length goes
}

// piece is literal text followed by rendered data, if any.
type piece struct {
	text string
	data *scenario.Renderer
}

// compile builds a request's fixed parts. Everything that would break the
// framing is refused here, once, so that rendering needs no checks.
func compile(q scenario.Request, p *scenario.Plan) (r request, address string, err error) {
	method := q.Method
	if method == "" {
		method = "GET"
	}
	if !token(method) || method == "CONNECT" {
		return r, "", fmt.Errorf("method %.40q cannot be sent", method)
	}
	host, path, err := splitURL(string(q.URL))
	if err != nil {
		return r, "", err
	}
	target, err := scenario.CompileURL(scenario.Template(path), p)
	if err != nil {
		return r, "", err
	}
	r = request{head: method == "HEAD", expect: q.Expect}
	text := func(s string) { r.parts = append(r.parts, piece{text: s}) }
	data := func(d *scenario.Renderer) { r.parts = append(r.parts, piece{data: d}) }
	text(method + " ")
	data(target)
	text(" HTTP/1.1\r\n")
	if err := r.headers(q, p, host.Host); err != nil {
		return r, "", err
	}
	if q.Body != "" {
		if r.body, err = scenario.CompileTemplate(q.Body, p); err != nil {
			return r, "", err
		}
	}
	if r.body == nil && (method == "POST" || method == "PUT" || method == "PATCH") {
		text("Content-Length: 0\r\n")
	}
	r.length = len(r.parts)
	text("\r\n")
	r.fix(p)
	port := host.Port()
	if port == "" {
		port = "80"
	}
	return r, net.JoinHostPort(host.Hostname(), port), nil
}

// headers appends the plan's headers in the order of their names, and those
// that a request cannot be without.
func (r *request) headers(q scenario.Request, p *scenario.Plan, host string) error {
	given := map[string]bool{}
	names := slices.Sorted(maps.Keys(q.Headers))
	for _, name := range names {
		lower := strings.ToLower(name)
		switch {
		case !token(name):
			return fmt.Errorf("header name %.40q cannot be sent", name)
		case lower == "content-length" || lower == "transfer-encoding":
			return fmt.Errorf("header %s is set by redline from the body", name)
		case given[lower]:
			return fmt.Errorf("header %s is given twice", name)
		}
		given[lower] = true
	}
	if !given["host"] {
		r.parts = append(r.parts, piece{text: "Host: " + host + "\r\n"})
	}
	if !given["user-agent"] {
		r.parts = append(r.parts, piece{text: "User-Agent: redline\r\n"})
	}
	for _, name := range names {
		value, err := scenario.CompileHeader(scenario.Template(q.Headers[name]), p)
		if err != nil {
			return fmt.Errorf("header %s: %w", name, err)
		}
		if strings.ContainsFunc(string(q.Headers[name]), control) {
			return fmt.Errorf("the value of header %s holds a control character", name)
		}
		if strings.EqualFold(name, "connection") && strings.Contains(strings.ToLower(string(q.Headers[name])), "close") {
			r.close = true
		}
		r.parts = append(r.parts, piece{text: name + ": "}, piece{data: value}, piece{text: "\r\n"})
	}
	return nil
}

// fix renders the request once for all when no data goes into it.
func (r *request) fix(p *scenario.Plan) {
	for _, part := range r.parts {
		if part.data != nil && !part.data.Static() {
			return
		}
	}
	if r.body != nil && !r.body.Static() {
		return
	}
	r.static, _ = r.append(nil, nil, nil)
}

// append renders the request. body is scratch space; both slices are returned
// for the next time.
func (r *request) append(dst, body []byte, at *scenario.Cursor) (request, scratch []byte) {
	if r.body != nil {
		body = r.body.Append(body[:0], at)
	}
	for i, part := range r.parts {
		if r.body != nil && i == r.length {
			dst = append(dst, "Content-Length: "...)
			dst = strconv.AppendInt(dst, int64(len(body)), 10)
			dst = append(dst, "\r\n"...)
		}
		dst = append(dst, part.text...)
		if part.data != nil {
			dst = part.data.Append(dst, at)
		}
	}
	if r.body != nil {
		dst = append(dst, body...)
	}
	return dst, body
}

// splitURL separates where to connect from what to ask for.
func splitURL(text string) (host *url.URL, path string, err error) {
	scheme, rest, ok := strings.Cut(text, "://")
	switch {
	case !ok:
		return nil, "", fmt.Errorf("URL %.80q has no scheme; write http://...", text)
	case strings.EqualFold(scheme, "https"):
		return nil, "", fmt.Errorf("URL %.80q: https is not supported yet; load the service's plaintext port", text)
	case !strings.EqualFold(scheme, "http"):
		return nil, "", fmt.Errorf("URL %.80q: scheme %q is not supported", text, scheme)
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if strings.Contains(authority, "{{") {
		return nil, "", fmt.Errorf("URL %.80q: the host cannot come from data", text)
	}
	host, err = url.Parse("http://" + authority)
	if err != nil || host.Hostname() == "" {
		return nil, "", fmt.Errorf("URL %.80q has no valid host", text)
	}
	if host.User != nil {
		return nil, "", fmt.Errorf("the URL of host %s holds credentials; put them into an Authorization header", host.Host)
	}
	path, _, _ = strings.Cut(path, "#")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	// Blanks inside of {{ }} are the template's; any other would end the
	// request's target.
	literal := path
	for {
		before, place, ok := strings.Cut(literal, "{{")
		if i := strings.IndexFunc(before, func(c rune) bool { return c <= ' ' || c >= 0x7f }); i >= 0 {
			return nil, "", fmt.Errorf("URL %.80q: character %q must be percent-encoded", text, before[i:i+1])
		}
		if !ok {
			return host, path, nil
		}
		_, literal, _ = strings.Cut(place, "}}")
	}
}

// token reports whether s is a token of RFC 9110, section 5.6.2.
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	})
}

func control(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
