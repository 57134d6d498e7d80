package scenario

import (
	"fmt"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/theory/jsonpath" // RFC 9535, by its test suite

	"github.com/redline-go/redline/redact"
)

// MaxChecks is how many checks a request has at most: an exchange says in one
// word which of them failed.
const MaxChecks = 64

// checks decodes the checks of an answer.
func (d *decoder) checks(n ast.Node) []Check {
	elements := d.elements(n, "checks")
	if len(elements) > MaxChecks {
		d.fail(n, "", "%d checks, at most %d are allowed for a request", len(elements), MaxChecks)
		return nil
	}
	var all []Check
	for _, e := range elements {
		before := len(d.errs)
		c := d.check(e)
		if len(d.errs) > before {
			continue
		}
		if slices.ContainsFunc(all, func(other Check) bool { return other.Name == c.Name }) {
			d.fail(e, "give it another name", "a check named %q is there already", c.Name)
			continue
		}
		all = append(all, c)
	}
	return all
}

const checkHint = "write {status: 200}, {header: Content-Type, contains: json}, {body: {contains: ok}} or {json: $.id, equals: 7}"

// check decodes one expectation.
func (d *decoder) check(n ast.Node) Check {
	var c Check
	contains := key{name: "contains", decode: func(d *decoder, n ast.Node) { scalar(d, n, "contains", &c.Contains, notEmpty) }}
	equals := key{name: "equals", decode: func(d *decoder, n ast.Node) { c.Equals = d.equals(n) }}
	var body map[string]ast.Node
	before := len(d.errs)
	seen := d.mapping(n, "a check", []key{
		{name: "name", decode: func(d *decoder, n ast.Node) { scalar(d, n, "name", &c.Name, notEmpty) }},
		{name: "status", decode: func(d *decoder, n ast.Node) { c.Status = d.statuses(n) }},
		{name: "header", decode: func(d *decoder, n ast.Node) { scalar(d, n, "header", &c.Header, checkFieldName) }},
		{name: "body", decode: func(d *decoder, n ast.Node) {
			c.Body = true
			body = d.mapping(n, "body", []key{contains, equals})
		}},
		{name: "json", decode: func(d *decoder, n ast.Node) { scalar(d, n, "json", &c.JSON, parsePath) }},
		contains, equals,
	})
	if len(d.errs) > before {
		return c
	}
	if at := orNode(seen["contains"], seen["equals"]); at != nil && (c.Status != nil || body != nil) {
		d.fail(at, checkHint, "contains and equals are for header and json, and stand below body")
		return c
	}
	if err := c.validate(); err != nil {
		d.failErr(n, "check", err)
	}
	if c.Name == "" {
		c.Name = c.describe()
	}
	return c
}

// orNode is the first node that is there.
func orNode(nodes ...ast.Node) ast.Node {
	for _, n := range nodes {
		if n != nil {
			return n
		}
	}
	return nil
}

// equals decodes the text that a value must be. null is JSON's null.
func (d *decoder) equals(n ast.Node) *string {
	if _, null := n.(*ast.NullNode); null {
		text := "null"
		return &text
	}
	text, ok := d.text(n, "equals")
	if !ok {
		return nil
	}
	return &text
}

// statuses decodes one status, or a list of which one will do.
func (d *decoder) statuses(n ast.Node) []int {
	elements := []ast.Node{n}
	if list, ok := n.(*ast.SequenceNode); ok {
		elements = list.Values
	}
	if len(elements) == 0 {
		d.fail(n, "write {status: [200, 201]}", "status: the list is empty")
	}
	var all []int
	for _, e := range elements {
		status := 0
		scalar(d, e, "status", &status, parseStatus)
		all = append(all, status)
	}
	return all
}

// rpcStatus are the names of gRPC's status codes, from 0.
var rpcStatus = []string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL",
	"UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// parseStatus parses a status of HTTP, or a number or name of gRPC's.
func parseStatus(text string) (int, error) {
	if i := slices.Index(rpcStatus, strings.TrimSpace(text)); i >= 0 {
		return i, nil
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r >= 'A' && r <= 'Z' }) {
		return 0, mistakef(didYouMean(text, rpcStatus), "%.40q is not the name of a gRPC status", text)
	}
	return parseCount(text, 0, 599)
}

// checkStatus checks that a protocol has a status.
func checkStatus(status int, p Protocol) error {
	switch {
	case p == RPC && (status < 0 || status >= len(rpcStatus)):
		return mistakef("gRPC's are 0 to 16, or names such as NOT_FOUND", "%d is not a status of gRPC", status)
	case isHTTP(p) && (status < 100 || status > 599):
		return mistakef("HTTP's are 100 to 599", "%d is not a status of HTTP", status)
	case p == WebSocket || p == TCP:
		return mistakef("leave it out", "the answers of %s have no status", p)
	}
	return nil
}

// checkFieldName checks the name of a header of the answer: redline's own ones
// are fine there.
func checkFieldName(name string) (string, error) {
	if !token.MatchString(name) {
		return "", mistakef("", "%.60q cannot be the name of a header", name)
	}
	return textproto.CanonicalMIMEHeaderKey(name), nil
}

func parsePath(text string) (string, error) {
	if len(text) > 1000 {
		return "", mistakef("", "the JSONPath is over 1000 bytes")
	}
	if _, err := jsonpath.Parse(text); err != nil {
		return "", mistakef("write it as $.items[0].id (RFC 9535)", "%.60q is not a JSONPath: %v", text, err)
	}
	return text, nil
}

// validate checks that the check looks at one thing, and how.
func (c *Check) validate() error {
	subjects := 0
	for _, set := range []bool{len(c.Status) > 0, c.Header != "", c.Body, c.JSON != ""} {
		if set {
			subjects++
		}
	}
	how := 0
	for _, set := range []bool{c.Contains != "", c.Equals != nil} {
		if set {
			how++
		}
	}
	switch {
	case subjects == 0:
		return mistakef(checkHint, "it says nothing of status, header, body or json")
	case subjects > 1:
		return mistakef("make it two checks", "status, header, body and json exclude each other")
	case how > 1:
		return mistakef("make it two checks", "contains and equals exclude each other")
	case how > 0 && len(c.Status) > 0:
		return mistakef(checkHint, "a status neither contains nor equals a text")
	case how == 0 && c.Body:
		return mistakef("write {body: {contains: ok}}", "a check of the body has neither contains nor equals")
	}
	if c.JSON != "" {
		_, err := parsePath(c.JSON)
		return err
	}
	return nil
}

// validateFor checks that answers of a protocol have the part that the check examines.
func (c *Check) validateFor(p Protocol) error {
	for _, status := range c.Status {
		if err := checkStatus(status, p); err != nil {
			return err
		}
	}
	if c.Header != "" && p == WebSocket {
		return mistakef("check the body instead", "the answers of %s have no headers", p)
	}
	return nil
}

// describe is the name of a check that was given none.
func (c *Check) describe() string {
	subject := "body"
	switch {
	case len(c.Status) > 0:
		var all []string
		for _, s := range c.Status {
			all = append(all, strconv.Itoa(s))
		}
		return "status is " + strings.Join(all, " or ")
	case c.Header != "":
		subject = "header " + c.Header
	case c.JSON != "":
		subject = c.JSON
	}
	hide := redact.Text
	if c.Header != "" && (&Plan{}).SecretHeader(c.Header) {
		hide = func(string) string { return redact.Mark }
	}
	switch {
	case c.Contains != "":
		return shortened(fmt.Sprintf("%s contains %s", subject, hide(c.Contains)))
	case c.Equals != nil:
		return shortened(fmt.Sprintf("%s is %s", subject, hide(*c.Equals)))
	}
	return shortened(subject + " is there")
}

// shortened fits a text into a line of a report.
func shortened(text string) string {
	const most = 80
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// texts are those that the answer is compared with.
func (c Check) texts() []string {
	if c.Equals != nil {
		return []string{c.Contains, *c.Equals}
	}
	return []string{c.Contains}
}

// redacted hides secrets in a check.
func (c Check) redacted(by *redact.Redactor) Check {
	hide := by.Text
	if c.Header != "" && by.Secret(c.Header) {
		hide = func(string) string { return redact.Mark }
		c.Name = "header " + c.Header
	}
	c.Name, c.JSON = by.Text(c.Name), by.Text(c.JSON)
	if c.Contains != "" {
		c.Contains = hide(c.Contains)
	}
	if c.Equals != nil {
		text := hide(*c.Equals)
		c.Equals = &text
	}
	return c
}
