package scenario

import (
	"net/textproto"
	"net/url"
	"regexp"
	"strconv"
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
		d.fail(at, "put what differs into a feeder", "%d requests, %d are allowed", len(elements), maxRequests)
		return
	}
	names := map[string]int{}
	for _, e := range elements {
		r, nameAt := d.request(e)
		if r.URL == "" {
			continue // a mistake was noted
		}
		if first, taken := names[r.Name]; taken {
			d.fail(nameAt, "give each a name of its own", "request name %q is taken by request %d", r.Name, first)
		}
		d.plan.Requests = append(d.plan.Requests, r)
		names[r.Name] = len(d.plan.Requests)
	}
}

// request decodes one kind of request. It returns the node that a mistake of
// its name belongs to.
func (d *decoder) request(n ast.Node) (r Request, nameAt ast.Node) {
	r.Weight, nameAt = 1, n
	var urlAt ast.Node
	var headers []header
	keys := []key{
		{name: "name", decode: func(d *decoder, n ast.Node) { scalar(d, n, "name", &r.Name, notEmpty); nameAt = n }},
		{name: "weight", decode: func(d *decoder, n ast.Node) {
			scalar(d, n, "weight", &r.Weight, func(s string) (int, error) { return parseCount(s, 1, 1_000_000) })
		}},
		{name: "method", decode: func(d *decoder, n ast.Node) { scalar(d, n, "method", &r.Method, checkMethod) }},
		{name: "url", decode: func(d *decoder, n ast.Node) { scalar(d, n, "url", &r.URL, checkTemplateURL); urlAt = n }},
		{name: "headers", decode: func(d *decoder, n ast.Node) { headers = d.headers(n, &r) }},
		{name: "body", decode: func(d *decoder, n ast.Node) {
			if text, ok := d.text(n, "body"); ok {
				r.Body = Template(text)
				d.checkPlaces(n, r.Body, CompileTemplate)
			}
		}},
		{name: "expect", decode: func(d *decoder, n ast.Node) {
			scalar(d, n, "expect", &r.Expect, func(s string) (int, error) { return parseCount(s, 100, 599) })
		}},
	}
	short := ""
	for _, m := range methods {
		keys = append(keys, key{name: m, decode: func(d *decoder, n ast.Node) {
			if short != "" {
				d.fail(n, "keep one; a request is of one kind", "%s and %s exclude each other", short, m)
			}
			scalar(d, n, m, &r.URL, checkTemplateURL)
			urlAt, short = n, m
		}})
	}
	before := len(d.errs)
	seen := d.mapping(n, "a request", keys)
	switch {
	case short != "" && (seen["url"] != nil || seen["method"] != nil):
		d.fail(seen[short], "keep either "+short+", or method and url", "%s stands for method and url", short)
	case short != "":
		r.Method = strings.ToUpper(short)
	case r.Method == "":
		r.Method = "GET"
	}
	if urlAt == nil && len(d.errs) == before {
		d.fail(n, `write it as {get: "http://127.0.0.1:8080/"}`, "the request has no URL")
	}
	if r.Name == "" {
		r.Name = r.Method + " " + pathOf(string(r.URL))
	}
	if r.URL != "" {
		d.checkPlaces(urlAt, r.URL, CompileURL)
	}
	for _, h := range headers {
		d.checkPlaces(h.at, Template(h.value), CompileHeader)
	}
	return r, nameAt
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

// checkPlaces compiles a template for its mistakes and points at the place.
func (d *decoder) checkPlaces(n ast.Node, t Template, compile func(Template, *Plan) (*Renderer, error)) {
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
	place := string(t[te.Offset : te.Offset+te.Len])
	// The place stands at or below the node's first line; a block scalar's
	// text begins one line below.
	for line := e.Line; line > 0 && line <= min(e.Line+strings.Count(string(t[:te.Offset]), "\n")+1, len(d.lines)); line++ {
		source, from := d.lines[line-1], 0
		if line == e.Line {
			from = byteColumn(source, e.Column)
		}
		if i := strings.Index(source[from:], place); i >= 0 {
			column := len([]rune(source[:from+i])) + 1
			e = d.errorAt(line, column, len([]rune(place)), te.Msg, te.Hint)
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
	token     = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110, 5.6.2
	placeForm = regexp.MustCompile(`\{\{[^{}]*\}\}`)
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

// checkTemplateURL checks a URL that may have places in its path and query.
func checkTemplateURL(text string) (Template, error) {
	if _, err := checkURL(placeForm.ReplaceAllString(text, "0")); err != nil {
		return "", err
	}
	return Template(text), nil
}

// checkURL checks an absolute http or https URL.
func checkURL(text string) (string, error) {
	const hint = "write it as http://127.0.0.1:8080/path"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", mistakef(hint, "%.200q is not a URL", RedactText(text))
	case u.Scheme != "http" && u.Scheme != "https":
		return "", mistakef(hint, "URL %.200q does not begin with http:// or https://", RedactText(text))
	case u.Hostname() == "":
		return "", mistakef(hint, "URL %.200q has no host", RedactText(text))
	case strings.ContainsAny(text, " \t\r\n"):
		return "", mistakef("write a blank as %20", "URL %.200q holds a blank", RedactText(text))
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return "", mistakef("", "%.20q is not a port", port)
		}
	}
	return text, nil
}

// pathOf is a URL's path, with its places, for a request's default name.
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
