package document

import (
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/protocol"
	"github.com/redline-go/redline/scenario/scalar"
)

// checks decodes the checks of an answer.
func (d *decoder) checks(n ast.Node) []scenario.Check {
	elements := d.elements(n, "checks")
	if len(elements) > scenario.MaxChecks {
		d.fail(n, "", "%d checks, at most %d are allowed for a request", len(elements), scenario.MaxChecks)
		return nil
	}
	var all []scenario.Check
	for _, e := range elements {
		before := len(d.errs)
		c := d.check(e)
		if len(d.errs) > before {
			continue
		}
		if slices.ContainsFunc(all, func(other scenario.Check) bool { return other.Name == c.Name }) {
			d.fail(e, "give it another name", "a check named %q is there already", c.Name)
			continue
		}
		all = append(all, c)
	}
	return all
}

// check decodes one expectation.
func (d *decoder) check(n ast.Node) scenario.Check {
	var c scenario.Check
	contains := key{name: "contains", decode: func(d *decoder, n ast.Node) { parsed(d, n, "contains", &c.Contains, scalar.ParseText) }}
	equals := key{name: "equals", decode: func(d *decoder, n ast.Node) { c.Equals = d.equals(n) }}
	var body map[string]ast.Node
	before := len(d.errs)
	seen := d.mapping(n, "a check", []key{
		{name: "name", decode: func(d *decoder, n ast.Node) { parsed(d, n, "name", &c.Name, scalar.ParseText) }},
		{name: "status", decode: func(d *decoder, n ast.Node) { c.Status = d.statuses(n) }},
		{name: "header", decode: func(d *decoder, n ast.Node) { parsed(d, n, "header", &c.Header, protocol.CheckField) }},
		{name: "body", decode: func(d *decoder, n ast.Node) {
			c.Body = true
			body = d.mapping(n, "body", []key{contains, equals})
		}},
		{name: "json", decode: func(d *decoder, n ast.Node) { parsed(d, n, "json", &c.JSON, scenario.ParsePath) }},
		contains, equals,
	})
	if len(d.errs) > before {
		return c
	}
	if at := orNode(seen["contains"], seen["equals"]); at != nil && (c.Status != nil || body != nil) {
		d.fail(at, scenario.CheckHint, "contains and equals are for header and json, and stand below body")
		return c
	}
	if err := c.Validate(); err != nil {
		d.failErr(n, "check", err)
	}
	if c.Name == "" {
		c.Name = c.Describe()
	}
	return c
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

// statuses decodes one status, or a list of accepted ones.
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
		parsed(d, e, "status", &status, protocol.ParseStatus)
		all = append(all, status)
	}
	return all
}
