package grpc

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/load/http2"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// request is one call of the mix, compiled.
type request struct {
	host   int
	expect int
	single bool // the answer is one message
	traced bool // the plan has no trace context of its own

	block []byte // the whole header block when no data goes into it, else nil
	body  []byte // all messages when no data goes into them, else nil

	head   http2.Block // for when it is not fixed
	encode encoder     // of the body; nil when it is fixed

	checks *check.Set // nil for none
	decode *decoder   // nil when no check looks at messages
}

// compile builds the parts common to all calls of a request.
func compile(q scenario.Request, p *scenario.Plan, at endpoint.Endpoint, m protoreflect.MethodDescriptor, s *schema,
	timeout time.Duration) (r request, err error) {
	r = request{expect: q.Expect, single: !m.IsStreamingServer(), traced: load.Traceable(q)}
	if q.Expect < 0 || q.Expect >= len(codeNames) {
		return r, fmt.Errorf("%d is not a status of gRPC; those are 0 (OK) to %d", q.Expect, len(codeNames)-1)
	}
	if r.checks, err = check.New(q); err != nil {
		return r, err
	}
	r.decode = newDecoder(q, m, s)
	if r.body, r.encode, err = compileBody(q.Body, p, m, s); err != nil {
		return r, err
	}
	// In the order of PROTOCOL-HTTP2.md.
	r.head.Add(":method", "POST", nil, false)
	r.head.Add(":scheme", httpScheme(at), nil, false)
	r.head.Add(":path", at.Path, nil, false)
	r.head.Add(":authority", at.Authority, nil, false)
	// "te" lets servers detect proxies that would drop trailers, and the status with them.
	r.head.Add("te", "trailers", nil, false)
	r.head.Add("grpc-timeout", timeoutText(timeout), nil, false)
	r.head.Add("content-type", "application/grpc", nil, false)
	if err := r.metadata(q, p); err != nil {
		return r, err
	}
	r.block = r.head.Fixed()
	return r, nil
}

// httpScheme is the endpoint's scheme in HTTP/2.
func httpScheme(at endpoint.Endpoint) string {
	if at.TLS != nil {
		return "https"
	}
	return "http"
}

// metadata adds the plan's headers in the order of their names.
func (r *request) metadata(q scenario.Request, p *scenario.Plan) error {
	given := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(q.Headers)) {
		lower := strings.ToLower(name)
		if given[lower] {
			return fmt.Errorf("metadata %s is given twice", name)
		}
		given[lower] = true
		text, value, err := metadatum(lower, q.Headers[name], p)
		if err != nil {
			return fmt.Errorf("metadata %s: %w", name, err)
		}
		r.head.Add(lower, text, value, p.SecretHeader(name))
	}
	if !given["user-agent"] {
		r.head.Add("user-agent", "redline", nil, false)
	}
	return nil
}

// own are fields to which gRPC or HTTP/2 gives a meaning of its own.
var own = []string{
	"content-type", "te", "host", "content-length",
	"connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade",
}

// metadatum compiles a value, to its text when no data goes into it. A value
// whose key ends in -bin is base64, and is sent without padding.
func metadatum(name string, template scenario.Secret, p *scenario.Plan) (text string, value *feeder.Renderer, err error) {
	switch {
	case !validKey(name):
		return "", nil, fmt.Errorf("a key is made of letters, digits, \"_\", \"-\" and \".\"")
	case strings.HasPrefix(name, "grpc-") || slices.Contains(own, name):
		return "", nil, fmt.Errorf("it is set by redline itself")
	case strings.ContainsFunc(string(template), func(c rune) bool { return c < ' ' || c >= 0x7f }):
		return "", nil, fmt.Errorf("a value is printable ASCII; other bytes go into a key that ends in -bin, in base64")
	}
	value, err = feeder.CompileHeader(feeder.Template(strings.Trim(string(template), " ")), p.Data)
	if err != nil || !value.Static() {
		return "", value, err
	}
	text = string(value.Append(nil, nil))
	if strings.HasSuffix(name, "-bin") {
		text = strings.TrimRight(text, "=")
		if _, err := base64.RawStdEncoding.DecodeString(text); err != nil {
			return "", nil, fmt.Errorf("the value of a key that ends in -bin is to be base64")
		}
	}
	return text, nil, nil
}

// validKey reports whether metadata may have a key; see PROTOCOL-HTTP2.md.
func validKey(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.')
	})
}

// openMetadata is the part of a request's metadata without data, for asking the server
// for its schema: it may refuse callers without metadata.
func openMetadata(q scenario.Request, p *scenario.Plan) http.Header {
	h := http.Header{}
	for name, template := range q.Headers {
		if text, value, err := metadatum(strings.ToLower(name), template, p); err == nil && value == nil {
			h.Set(name, text)
		}
	}
	return h
}
