package feeder

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/redline-go/redline/scenario/mistake"
)

// Template is text with {{feeder.column}} placeholders.
type Template string

// Placeholder finds the placeholders of a template.
var Placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// Renderer is a compiled Template. It is immutable and may be shared by any
// number of connections; each connection brings its own Cursor.
type Renderer struct {
	parts []part
}

// part is literal text followed, if feeder is not negative, by a value.
type part struct {
	literal string
	feeder  int // index into Cursor.feeders; -1 for none
	column  int
	// values replaces the column where its context needs an escaped form; nil
	// means that the rows are used as they are. Escaping happens here once
	// and not per request.
	values []string
}

// CompileTemplate compiles a template whose values are inserted unescaped: the form
// for bodies. An unknown feeder or column is a *TemplateError.
func CompileTemplate(t Template, tables map[string]*Table) (*Renderer, error) {
	return compile(t, tables, func(*Table, string, string) (string, error) { return "", errKeep })
}

// CompileURL compiles a URL. Values in the query are query-escaped (data stays
// data, whatever characters it holds); values in the path keep their slashes
// and only characters that a URL cannot hold are escaped. Scheme and host take no
// placeholders, because redline loads only the hosts that a scenario names.
func CompileURL(t Template, tables map[string]*Table) (*Renderer, error) {
	if first := strings.Index(string(t), "{{"); first >= 0 && !hostEnds(string(t[:first])) {
		end := max(strings.Index(string(t[first:]), "}}"), 0) + 2
		return nil, &TemplateError{Template: t, Offset: first, Len: end, Msg: "the scheme and host of a URL cannot come from data"}
	}
	return compile(t, tables, func(from *Table, before, value string) (string, error) {
		switch {
		case from.Encoded:
			return "", errKeep
		case strings.Contains(before, "?"):
			return url.QueryEscape(value), nil
		default:
			return EscapePath(value), nil
		}
	})
}

// CompileHeader compiles a header's value. A row with a line break or another
// control character is an error: it could end the header and begin another.
func CompileHeader(t Template, tables map[string]*Table) (*Renderer, error) {
	return compile(t, tables, func(_ *Table, _, value string) (string, error) {
		if i := strings.IndexFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }); i >= 0 {
			// Without the value: it may be a token.
			return "", fmt.Errorf("a header cannot hold a control character, and this value does")
		}
		return "", errKeep
	})
}

// Append appends the text of the template to dst, filled with the current rows of c,
// and returns the extended slice. It allocates nothing if dst has room.
func (r *Renderer) Append(dst []byte, c *Cursor) []byte {
	for i := range r.parts {
		p := &r.parts[i]
		dst = append(dst, p.literal...)
		if p.feeder < 0 {
			continue
		}
		f := &c.feeders[p.feeder]
		switch {
		case p.values != nil:
			dst = append(dst, p.values[f.row]...)
		case f.table.Sequence != nil || f.table.Random != nil:
			dst = strconv.AppendInt(dst, f.number, 10)
		default:
			dst = append(dst, f.table.Rows[f.row][p.column]...)
		}
	}
	return dst
}

// Static reports whether the text is the same for every row, so that a request
// can be built once. Append then accepts a nil Cursor.
func (r *Renderer) Static() bool {
	for _, p := range r.parts {
		if p.feeder >= 0 {
			return false
		}
	}
	return true
}

// TemplateError is a placeholder of a template that cannot be filled.
type TemplateError struct {
	Template Template
	Offset   int // of the placeholder's first byte in Template
	Len      int // of the placeholder, in bytes
	Msg      string
	Hint     string // may be empty
}

func (e *TemplateError) Error() string {
	if e.Hint != "" {
		return fmt.Sprintf("template %q, byte %d: %s (%s)", string(e.Template), e.Offset+1, e.Msg, e.Hint)
	}
	return fmt.Sprintf("template %q, byte %d: %s", string(e.Template), e.Offset+1, e.Msg)
}

// escaper returns the form of a table's value in its context, given the
// template's text before it, or errKeep if it needs no escaping.
type escaper func(from *Table, before, value string) (string, error)

var errKeep = fmt.Errorf("scenario: keep the value as it stands")

func compile(t Template, tables map[string]*Table, escape escaper) (*Renderer, error) {
	names := Names(tables)
	r := &Renderer{}
	text, done := string(t), 0
	for {
		open := strings.Index(text[done:], "{{")
		if open < 0 {
			r.parts = append(r.parts, part{literal: text[done:], feeder: -1})
			return r, nil
		}
		open += done
		length := strings.Index(text[open:], "}}")
		if length < 0 {
			return nil, &TemplateError{Template: t, Offset: open, Len: 2, Msg: "{{ has no closing }}",
				Hint: "text that holds {{ itself can come from a feeder's row"}
		}
		length += 2
		placeholder, err := resolve(strings.TrimSpace(text[open+2:open+length-2]), tables, names)
		if err == nil {
			placeholder.literal = text[done:open]
			err = placeholder.escape(tables[names[placeholder.feeder]], text[:open], escape)
		}
		if err != nil {
			var at *TemplateError
			if te, ok := err.(*TemplateError); ok {
				at = te
			} else {
				at = &TemplateError{Msg: err.Error()}
			}
			at.Template, at.Offset, at.Len = t, open, length
			return nil, at
		}
		r.parts = append(r.parts, placeholder)
		done = open + length
	}
}

// resolve finds the feeder and column that a placeholder names. Column names may
// hold dots, feeder names not.
func resolve(placeholder string, tables map[string]*Table, names []string) (part, error) {
	feeder, column, dotted := strings.Cut(placeholder, ".")
	index := -1
	for i, name := range names {
		if name == feeder {
			index = i
		}
	}
	if index < 0 {
		return part{}, &TemplateError{Msg: fmt.Sprintf("no feeder named %q under data", feeder), Hint: mistake.DidYouMean(feeder, names)}
	}
	if !dotted {
		return part{feeder: index}, nil
	}
	table := tables[feeder]
	for i, name := range table.Columns {
		if name == column {
			return part{feeder: index, column: i}, nil
		}
	}
	return part{}, &TemplateError{Msg: fmt.Sprintf("feeder %q has no column %q", feeder, column),
		Hint: mistake.DidYouMean(column, table.Columns)}
}

// escape fills p.values when the context changes any value of the column.
func (p *part) escape(t *Table, before string, escape escaper) error {
	if t.Sequence != nil || t.Random != nil {
		return nil // digits and a minus sign need no escaping anywhere
	}
	changed := false
	values := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		v, err := escape(t, before, row[p.column])
		if err == errKeep {
			v, err = row[p.column], nil
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", i+1, err)
		}
		values[i] = v
		changed = changed || v != row[p.column]
	}
	if changed {
		p.values = values
	}
	return nil
}

// hostEnds reports whether a URL's text has reached its path or query.
func hostEnds(before string) bool {
	if _, rest, ok := strings.Cut(before, "://"); ok {
		return strings.ContainsAny(rest, "/?")
	}
	return strings.HasPrefix(before, "/")
}

// EscapePath escapes characters that a URL's path cannot hold, and '?' and '#', which
// would end it. Slashes and escapes that are there already are kept.
func EscapePath(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte("?#\"<>\\^`{|}", c) >= 0 {
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
