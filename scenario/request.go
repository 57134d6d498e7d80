package scenario

import (
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// methods are the keys that stand for method and URL at once.
var methods = []string{"get", "post", "put", "patch", "delete", "head", "options"}

const maxRequests = 1000

// requests decodes the mix; at is the key that it stands under.
func (d *decoder) requests(n, at ast.Node) {
	elements := d.elements(n, "requests")
	if len(elements) == 0 && len(d.errs) == 0 {
		d.fail(at, `write requests: [ {get: "http://127.0.0.1:8080/"} ]`, "the list of requests is empty")
	}
	if len(elements) > maxRequests {
		d.fail(at, "put the differences into a feeder", "%d requests, at most %d are allowed", len(elements), maxRequests)
		return
	}
	names := map[string]int{}
	for i, e := range elements {
		r := d.request(e)
		d.nodes[requestSection(i)] = e
		d.remember(requestSection(i), r.seen)
		if r.URL == "" {
			continue // a mistake was noted
		}
		if first, taken := names[r.Name]; taken {
			d.fail(r.nameAt, "give each a name of its own", "request name %q is taken by request %d", r.Name, first)
		}
		if len(d.plan.Requests) > 0 {
			d.oneProtocol(r)
		}
		d.plan.Requests = append(d.plan.Requests, r.Request)
		names[r.Name] = len(d.plan.Requests)
	}
}

// oneProtocol notes a request that speaks another protocol than the first.
func (d *decoder) oneProtocol(r *draft) {
	first := protocolOf(d.plan.Requests[0].URL, d.plan.Protocol)
	if own := protocolOf(r.URL, d.plan.Protocol); own != first {
		d.fail(r.urlAt, "give each protocol a scenario of its own", "this request speaks %s, and the first speaks %s", own, first)
	}
}

// draft is a request on its way, with the nodes that its mistakes belong to.
type draft struct {
	Request
	seen          map[string]ast.Node
	nameAt, urlAt ast.Node
	messageAt     ast.Node
	short         string // the key that stands for method and URL
	headers       []header
}

// request decodes one kind of request.
func (d *decoder) request(n ast.Node) *draft {
	r := &draft{Request: Request{Weight: 1}, nameAt: n}
	before := len(d.errs)
	r.seen = d.mapping(n, "a request", r.keys())
	switch {
	case r.short != "" && (r.seen["url"] != nil || r.seen["method"] != nil):
		d.fail(r.seen[r.short], "keep either "+r.short+", or method and url", "%s stands for method and url", r.short)
	case slices.Contains(methods, r.short):
		r.Method = strings.ToUpper(r.short)
	case r.short != "":
		r.Method = methodOf(protocolOf(r.URL, ""))
	case r.Method == "":
		r.Method = "GET"
	}
	if r.urlAt == nil && len(d.errs) == before {
		d.fail(n, `write it as {get: "http://127.0.0.1:8080/"}`, "the request has no URL")
	}
	d.messageOf(r)
	if r.Name == "" {
		r.Name = requestName(r.Method, r.URL)
	}
	if r.URL != "" {
		d.checkTemplate(r.urlAt, r.URL, CompileURL)
	}
	for _, h := range r.headers {
		d.checkTemplate(h.at, Template(h.value), CompileHeader)
	}
	return r
}

// keys are those of a request.
func (r *draft) keys() []key {
	keys := []key{
		{name: "name", decode: func(d *decoder, n ast.Node) { scalar(d, n, "name", &r.Name, notEmpty); r.nameAt = n }},
		{name: "weight", decode: func(d *decoder, n ast.Node) {
			scalar(d, n, "weight", &r.Weight, func(s string) (int, error) { return parseCount(s, 1, 1_000_000) })
		}},
		{name: "method", decode: func(d *decoder, n ast.Node) { scalar(d, n, "method", &r.Method, checkMethod) }},
		{name: "url", decode: func(d *decoder, n ast.Node) { scalar(d, n, "url", &r.URL, checkTemplateURL); r.urlAt = n }},
		{name: "headers", decode: func(d *decoder, n ast.Node) { r.headers = d.headers(n, &r.Request) }},
		{name: "body", decode: func(d *decoder, n ast.Node) {
			if text, ok := d.text(n, "body"); ok {
				r.Body = Template(text)
				d.checkTemplate(n, r.Body, CompileTemplate)
			}
		}},
		{name: "message", decode: func(_ *decoder, n ast.Node) { r.messageAt = n }},
		{name: "expect", decode: func(d *decoder, n ast.Node) { scalar(d, n, "expect", &r.Expect, parseStatus) }},
		{name: "follow", decode: func(d *decoder, n ast.Node) { scalar(d, n, "follow", &r.Follow, parseBool) }},
		{name: "reply", decode: func(d *decoder, n ast.Node) {
			reply := true
			scalar(d, n, "reply", &reply, parseBool)
			r.NoReply = !reply
		}},
		{name: "checks", decode: func(d *decoder, n ast.Node) { r.Checks = d.checks(n) }},
	}
	for _, m := range methods {
		keys = append(keys, r.form(m, "http", "https"))
	}
	for _, m := range messageForms {
		keys = append(keys, r.form(m.key, m.schemes...))
	}
	return keys
}

// form is a key that stands for the kind of request and its URL at once.
func (r *draft) form(name string, schemes ...string) key {
	return key{name: name, decode: func(d *decoder, n ast.Node) {
		if r.short != "" {
			d.fail(n, "keep one; a request is of one kind", "%s and %s exclude each other", r.short, name)
		}
		scalar(d, n, name, &r.URL, func(text string) (Template, error) { return checkTemplate(text, schemes...) })
		r.urlAt, r.short = n, name
	}}
}

// messageOf decodes the message of a request that is one.
func (d *decoder) messageOf(r *draft) {
	i := slices.IndexFunc(messageForms, func(f messageForm) bool { return f.key == r.short })
	switch {
	case i < 0 && r.messageAt != nil && r.short+string(r.URL) != "":
		d.fail(r.seen["message"], "use body", "message is for grpc, websocket and tcp requests")
	case i >= 0 && r.seen["body"] != nil:
		d.fail(r.seen["body"], "use message", "body is for HTTP requests")
	case i >= 0 && r.messageAt != nil:
		r.Body = d.message(r.messageAt, messageForms[i].json)
	case i >= 0 && messageForms[i].json:
		r.Body = "{}"
	}
}

// header is a header with its place, for the check of its template.
type header struct {
	value Secret
	at    ast.Node
}

func (d *decoder) headers(n ast.Node, r *Request) (all []header) {
	r.Headers, r.fromEnv = map[string]Secret{}, map[string]bool{}
	for _, entry := range d.entries(n, "headers") {
		name, ok := d.keyText(entry)
		if !ok {
			continue
		}
		if _, err := checkHeaderName(name); err != nil {
			d.failErr(entry.Key, "headers", err)
			continue
		}
		value, changed, ok := d.expanded(entry.Value, name)
		if !ok {
			continue
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			d.fail(entry.Value, "", "%s: a header cannot hold a line break", name)
			continue
		}
		r.Headers[name] = Secret(value)
		if changed {
			r.fromEnv[name] = true
		}
		all = append(all, header{Secret(value), entry.Value})
	}
	return all
}

// checkTemplate compiles a template for its mistakes and points at the placeholder.
func (d *decoder) checkTemplate(n ast.Node, t Template, compile func(Template, *Plan) (*Renderer, error)) {
	// A feeder that has a mistake of its own is nil; one report is enough.
	for _, table := range d.plan.Data {
		if table == nil {
			return
		}
	}
	_, err := compile(t, d.plan)
	if err == nil {
		return
	}
	te, ok := err.(*TemplateError)
	if !ok {
		d.fail(n, "", "%v", err)
		return
	}
	e := d.nodeError(n, te.Msg, te.Hint)
	placeholder := string(t[te.Offset : te.Offset+te.Len])
	// The placeholder stands at or below the node's first line; a block scalar's
	// text begins one line below.
	for line := e.Line; line > 0 && line <= min(e.Line+strings.Count(string(t[:te.Offset]), "\n")+1, len(d.lines)); line++ {
		source, from := d.lines[line-1], 0
		if line == e.Line {
			from = byteColumn(source, e.Column)
		}
		if i := strings.Index(source[from:], placeholder); i >= 0 {
			column := len([]rune(source[:from+i])) + 1
			e = d.errorAt(line, column, len([]rune(placeholder)), te.Msg, te.Hint)
			break
		}
	}
	d.note(e)
}

// byteColumn is the byte offset of a column counted in characters.
func byteColumn(line string, column int) int {
	runes := []rune(line)
	return len(string(runes[:min(max(column-1, 0), len(runes))]))
}

var (
	token           = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110, 5.6.2
	placeholderForm = regexp.MustCompile(`\{\{[^{}]*\}\}`)
)

// ownHeaders are written by the engine and would break framing if they came
// from elsewhere.
var ownHeaders = []string{"Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer"}

func checkHeaderName(name string) (string, error) {
	if !token.MatchString(name) {
		return "", mistakef("", "%.60q cannot be the name of a header", name)
	}
	for _, own := range ownHeaders {
		if textproto.CanonicalMIMEHeaderKey(name) == own {
			return "", mistakef("", "header %s is set by redline itself", own)
		}
	}
	return name, nil
}

func checkMethod(method string) (string, error) {
	if !token.MatchString(method) || len(method) > 32 {
		return "", mistakef("", "%.40q cannot be a method", method)
	}
	return strings.ToUpper(method), nil
}

// pathOf is a URL's path, with its placeholders, for a request's default name.
func pathOf(text string) string {
	_, rest, _ := strings.Cut(text, "://")
	slash := strings.IndexAny(rest, "/?#")
	if slash < 0 || rest[slash] != '/' {
		return "/"
	}
	rest = rest[slash:]
	if end := strings.IndexAny(rest, "?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}
