package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/theory/jsonpath" // RFC 9535; passes the compliance suite of the standard's authors
)

// path is a JSONPath.
type path struct{ query *jsonpath.Path }

func newPath(text string) (*path, error) {
	query, err := jsonpath.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%.60q is no JSONPath of RFC 9535: %w", text, err)
	}
	return &path{query}, nil
}

// holds reports whether some value that the path selects is what c wants.
func (p *path) holds(root any, c *compiled) bool {
	for _, value := range p.query.Select(root) {
		if c.equals == nil && len(c.contains) == 0 || c.holds(text(value)) {
			return true
		}
	}
	return false
}

// text is a value as it is compared: a string as it is, anything else in its
// JSON form without blanks, objects' names in order, numbers as they came.
func text(value any) []byte {
	switch v := value.(type) {
	case string:
		return []byte(v)
	case json.Number:
		return []byte(v)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil // not possible: it was decoded from JSON
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// document is a body as JSON, decoded once for all the checks of an answer.
type document struct {
	tried, ok bool
	root      any
}

// parse reports whether the body is one JSON value and nothing else.
func (d *document) parse(body []byte) bool {
	if d.tried {
		return d.ok
	}
	d.tried = true
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber() // or an id over 2^53 would compare as another one
	var root any
	if decoder.Decode(&root) != nil {
		return false
	}
	_, err := decoder.Token()
	d.root, d.ok = root, err == io.EOF
	return d.ok
}
