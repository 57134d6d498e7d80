package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
)

// message decodes the message of a request. A gRPC message
// may be a mapping, a list of them for a client's stream, or JSON text.
func (d *decoder) message(n ast.Node, isJSON bool) feeder.Template {
	if isJSON {
		switch n.(type) {
		case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode:
			var b bytes.Buffer
			if err := d.writeJSON(&b, n); err != nil {
				return ""
			}
			d.checkTemplate(n, feeder.Template(b.String()), feeder.CompileTemplate)
			return feeder.Template(b.String())
		}
	}
	text, ok := d.text(n, "message")
	if !ok {
		return ""
	}
	if isJSON && !protocol.ValidMessage(text) {
		d.fail(n, `write it as {id: 7}, or as JSON text: '{"id": 7}'`, "message: it is not a JSON object or a list of them")
		return ""
	}
	d.checkTemplate(n, feeder.Template(text), feeder.CompileTemplate)
	return feeder.Template(text)
}

// writeJSON appends a node's JSON form: mappings keep their order, numbers the
// way they were written where JSON has it.
func (d *decoder) writeJSON(b *bytes.Buffer, n ast.Node) error {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		b.WriteString("null")
	case *ast.MappingNode, *ast.MappingValueNode:
		b.WriteByte('{')
		for i, entry := range d.entries(n, "a message") {
			name, ok := d.keyText(entry)
			if !ok {
				return errNoted
			}
			if i > 0 {
				b.WriteByte(',')
			}
			writeString(b, name)
			b.WriteByte(':')
			if err := d.writeJSON(b, entry.Value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case *ast.SequenceNode:
		b.WriteByte('[')
		for i, e := range n.Values {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := d.writeJSON(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case *ast.InfinityNode, *ast.NanNode:
		d.fail(n, "", "%.20q is not a number that JSON has", n.GetToken().Value)
		return errNoted
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return d.writeNumber(b, n)
	default:
		text, ok := d.text(n, "a message")
		if !ok {
			return errNoted
		}
		writeString(b, text)
	}
	return nil
}

// errNoted ends a walk whose mistake is noted already.
var errNoted = errors.New("scenario: the mistake is noted")

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$`)

// writeNumber appends a number or a boolean. YAML writes some numbers in ways
// that JSON does not have (0x10, 1_000).
func (d *decoder) writeNumber(b *bytes.Buffer, n ast.Node) error {
	text := n.GetToken().Value
	if jsonNumber.MatchString(text) {
		b.WriteString(text)
		return nil
	}
	var value any
	switch n := n.(type) {
	case *ast.IntegerNode:
		value = n.Value
	case *ast.FloatNode:
		value = n.Value
	case *ast.BoolNode:
		value = n.Value
	}
	out, err := json.Marshal(value)
	if err != nil {
		d.fail(n, "", "%.20q is not a number that JSON has", text)
		return errNoted
	}
	b.Write(out)
	return nil
}

// writeString appends a JSON string without the escapes that HTML needs, because
// people read messages too.
func writeString(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)         // a string always encodes
	b.Truncate(b.Len() - 1) // the line's end that Encode adds
}
