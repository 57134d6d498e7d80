package check

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/theory/jsonpath" // RFC 9535; passes the compliance suite of the standard's authors
)

// path is a JSONPath.
type path struct {
	query *jsonpath.Path
	steps []step
	plain bool // steps are all of it
}

func newPath(text string) (*path, error) {
	query, err := jsonpath.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%.60q is not a JSONPath of RFC 9535: %w", text, err)
	}
	p := &path{query: query}
	p.steps, p.plain = singular(query.Query())
	return p, nil
}

// holds reports whether some value that the path selects satisfies c.
func (p *path) holds(d *document, c *compiled) bool {
	if !d.valid() {
		return false
	}
	exists := c.equals == nil && len(c.contains) == 0
	// In the bytes, without a tree: the case of nearly all checks. See singular.
	if p.plain {
		raw, ok := walk(d.body, p.steps)
		return ok && (exists || c.holds(rawText(raw)))
	}
	for _, value := range p.query.Select(d.decoded()) {
		if exists || c.holds(text(value)) {
			return true
		}
	}
	return false
}

// text is a value in the form that is compared: a string as it is, anything else in
// its JSON form without blanks, with objects' names sorted and numbers unchanged.
func text(value any) []byte {
	switch v := value.(type) {
	case string:
		return []byte(v)
	case json.Number:
		return []byte(v)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	// Or "a<b" would be compared as "a\u003cb".
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil // not possible: it was decoded from JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// rawText is text of a value in its JSON form. It allocates only for objects,
// arrays and strings with escapes.
func rawText(raw []byte) []byte {
	switch raw[0] {
	case '"':
		if b, plain := unquoted(raw); plain {
			return b
		}
		return []byte(decoded(raw))
	case '{', '[':
		return text(decode(raw))
	}
	return raw
}

// document is a body as JSON, validated and decoded at most once for all the checks of an answer.
type document struct {
	body          []byte
	checked, isOK bool
	root          any
	hasRoot       bool
}

// valid reports whether the body is one JSON value and nothing else.
func (d *document) valid() bool {
	if !d.checked {
		d.checked, d.isOK = true, json.Valid(d.body)
	}
	return d.isOK
}

// decoded is the valid body for the library.
func (d *document) decoded() any {
	if !d.hasRoot {
		d.root, d.hasRoot = decode(d.body), true
	}
	return d.root
}

// decode decodes valid JSON.
func decode(raw []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // or an id over 2^53 would equal another one
	if decoder.Decode(&value) != nil {
		return nil // not possible: it is valid
	}
	return value
}
