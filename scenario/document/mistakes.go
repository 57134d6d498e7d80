package document

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/mistake"
)

// fail notes a mistake at a node.
func (d *decoder) fail(n ast.Node, hint, format string, args ...any) {
	d.note(d.nodeError(n, fmt.Sprintf(format, args...), hint))
}

// failErr notes the error of a parser of texts.
func (d *decoder) failErr(n ast.Node, where string, err error) {
	var m *mistake.Mistake
	if errors.As(err, &m) {
		d.fail(n, m.Hint, "%s: %s", where, m.Msg)
		return
	}
	d.fail(n, "", "%s: %v", where, err)
}

func (d *decoder) note(e *mistake.Error) {
	if len(d.errs) < mistake.MaxErrors {
		d.errs = append(d.errs, e)
	}
}

// nodeError places an error at the first character of a node.
func (d *decoder) nodeError(n ast.Node, msg, hint string) *mistake.Error {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return &mistake.Error{File: d.file, Msg: msg, Hint: hint}
	}
	switch m := n.(type) {
	case *ast.MappingNode: // whose token is the first ':' in block style
		if len(m.Values) > 0 && !m.IsFlowStyle {
			n = m.Values[0].Key
		}
	case *ast.MappingValueNode:
		n = m.Key
	}
	t := n.GetToken()
	return d.errorAt(t.Position.Line, t.Position.Column, tokenLen(n), msg, hint)
}

// tokenLen is how many characters to underline.
func tokenLen(n ast.Node) int {
	switch n := n.(type) {
	case *ast.StringNode:
		length := utf8.RuneCountInString(n.Value)
		if strings.ContainsAny(strings.TrimSpace(n.Token.Origin), `"'`) {
			length += 2
		}
		return length
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return utf8.RuneCountInString(n.GetToken().Value)
	}
	return 1
}

func (d *decoder) errorAt(line, column, length int, msg, hint string) *mistake.Error {
	e := &mistake.Error{File: d.file, Line: max(line, 1), Column: max(column, 1), Len: max(length, 1), Msg: msg, Hint: hint}
	if i := e.Line - 1; i < len(d.lines) {
		e.Source = d.lines[i]
	}
	return e
}

// remember keeps the nodes of a section's keys.
func (d *decoder) remember(section string, seen map[string]ast.Node) {
	for name, n := range seen {
		key := name
		if section != "" {
			key = section + "." + name
		}
		d.nodes[key] = n
	}
}

// conflict notes an error of Validate at its key, or at that of the section
// if the key is absent. False means that neither was found.
func (d *decoder) conflict(err error) bool {
	var c *mistake.Conflict
	if !errors.As(err, &c) {
		return false
	}
	section, _, _ := strings.Cut(c.At, ".")
	n := orNode(d.nodes[c.At], d.nodes[section])
	if n == nil {
		return false
	}
	d.fail(n, c.Hint, "%s", c.Msg)
	return true
}

// checkTemplate compiles a template for its mistakes and points at the placeholder.
func (d *decoder) checkTemplate(n ast.Node, t feeder.Template,
	compile func(feeder.Template, map[string]*feeder.Table) (*feeder.Renderer, error)) {
	// A feeder that has a mistake of its own is nil; one report is enough.
	for _, table := range d.plan.Data {
		if table == nil {
			return
		}
	}
	_, err := compile(t, d.plan.Data)
	if err == nil {
		return
	}
	te, ok := err.(*feeder.TemplateError)
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
