package document

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
	"github.com/redline-go/redline/scenario/scalar"
)

// methods are the keys that give method and URL at once.
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
		d.nodes[scenario.RequestSection(i)] = e
		d.remember(scenario.RequestSection(i), r.seen)
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
	first := protocol.Of(d.plan.Requests[0].URL, d.plan.Protocol)
	if own := protocol.Of(r.URL, d.plan.Protocol); own != first {
		d.fail(r.urlAt, "give each protocol a scenario of its own", "this request speaks %s, and the first speaks %s", own, first)
	}
}

// draft is a request being decoded, with the nodes at which its mistakes are reported.
type draft struct {
	scenario.Request
	seen          map[string]ast.Node
	nameAt, urlAt ast.Node
	messageAt     ast.Node
	short         string // the key that gives method and URL
	headers       []header
}

// request decodes one kind of request.
func (d *decoder) request(n ast.Node) *draft {
	r := &draft{Request: scenario.Request{Weight: 1}, nameAt: n}
	before := len(d.errs)
	r.seen = d.mapping(n, "a request", r.keys())
	switch {
	case r.short != "" && (r.seen["url"] != nil || r.seen["method"] != nil):
		d.fail(r.seen[r.short], "keep either "+r.short+", or method and url", "%s stands for method and url", r.short)
	case slices.Contains(methods, r.short):
		r.Method = strings.ToUpper(r.short)
	case r.short != "":
		r.Method = protocol.MethodOf(protocol.Of(r.URL, ""))
	case r.Method == "":
		r.Method = "GET"
	}
	if r.urlAt == nil && len(d.errs) == before {
		d.fail(n, `write it as {get: "http://127.0.0.1:8080/"}`, "the request has no URL")
	}
	d.messageOf(r)
	if r.Name == "" {
		r.Name = protocol.RequestName(r.Method, r.URL)
	}
	if r.URL != "" {
		d.checkTemplate(r.urlAt, r.URL, feeder.CompileURL)
	}
	for _, h := range r.headers {
		d.checkTemplate(h.at, feeder.Template(h.value), feeder.CompileHeader)
	}
	return r
}

// keys are those of a request.
func (r *draft) keys() []key {
	keys := []key{
		{name: "name", decode: func(d *decoder, n ast.Node) { parsed(d, n, "name", &r.Name, scalar.ParseText); r.nameAt = n }},
		{name: "weight", decode: func(d *decoder, n ast.Node) {
			parsed(d, n, "weight", &r.Weight, func(s string) (int, error) { return scalar.ParseCount(s, 1, 1_000_000) })
		}},
		{name: "method", decode: func(d *decoder, n ast.Node) { parsed(d, n, "method", &r.Method, protocol.CheckMethod) }},
		{name: "url", decode: func(d *decoder, n ast.Node) { parsed(d, n, "url", &r.URL, protocol.CheckTemplateURL); r.urlAt = n }},
		{name: "headers", decode: func(d *decoder, n ast.Node) { r.headers = d.headers(n, &r.Request) }},
		{name: "body", decode: func(d *decoder, n ast.Node) {
			if text, ok := d.text(n, "body"); ok {
				r.Body = feeder.Template(text)
				d.checkTemplate(n, r.Body, feeder.CompileTemplate)
			}
		}},
		{name: "message", decode: func(_ *decoder, n ast.Node) { r.messageAt = n }},
		{name: "expect", decode: func(d *decoder, n ast.Node) { parsed(d, n, "expect", &r.Expect, protocol.ParseStatus) }},
		{name: "follow", decode: func(d *decoder, n ast.Node) { parsed(d, n, "follow", &r.Follow, scalar.ParseBool) }},
		{name: "reply", decode: func(d *decoder, n ast.Node) {
			reply := true
			parsed(d, n, "reply", &reply, scalar.ParseBool)
			r.NoReply = !reply
		}},
		{name: "checks", decode: func(d *decoder, n ast.Node) { r.Checks = d.checks(n) }},
	}
	for _, m := range methods {
		keys = append(keys, r.form(m, "http", "https"))
	}
	for _, m := range protocol.Forms {
		keys = append(keys, r.form(m.Key, m.Schemes...))
	}
	return keys
}

// form is a key that gives the kind of request and its URL at once.
func (r *draft) form(name string, schemes ...string) key {
	return key{name: name, decode: func(d *decoder, n ast.Node) {
		if r.short != "" {
			d.fail(n, "keep one; a request has one kind", "%s and %s exclude each other", r.short, name)
		}
		parsed(d, n, name, &r.URL, func(text string) (feeder.Template, error) { return protocol.CheckTemplate(text, schemes...) })
		r.urlAt, r.short = n, name
	}}
}

// messageOf decodes the message of a request that consists of one.
func (d *decoder) messageOf(r *draft) {
	i := slices.IndexFunc(protocol.Forms, func(f protocol.Form) bool { return f.Key == r.short })
	switch {
	case i < 0 && r.messageAt != nil && r.short+string(r.URL) != "":
		d.fail(r.seen["message"], "use body", "message is for grpc, websocket and tcp requests")
	case i >= 0 && r.seen["body"] != nil:
		d.fail(r.seen["body"], "use message", "body is for HTTP requests")
	case i >= 0 && r.messageAt != nil:
		r.Body = d.message(r.messageAt, protocol.Forms[i].JSON)
	case i >= 0 && protocol.Forms[i].JSON:
		r.Body = "{}"
	}
}

// header is a header with its place, for the check of its template.
type header struct {
	value scenario.Secret
	at    ast.Node
}

func (d *decoder) headers(n ast.Node, r *scenario.Request) (all []header) {
	r.Headers = map[string]scenario.Secret{}
	for _, entry := range d.entries(n, "headers") {
		name, ok := d.keyText(entry)
		if !ok {
			continue
		}
		if _, err := protocol.CheckHeader(name); err != nil {
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
		r.SetHeader(name, scenario.Secret(value), changed)
		all = append(all, header{scenario.Secret(value), entry.Value})
	}
	return all
}
