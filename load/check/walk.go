package check

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"

	"github.com/theory/jsonpath/spec"
)

// step is one segment of a path that selects at most one value: a name, or an
// index that counts from the end when it is negative.
type step struct {
	named bool
	name  string
	index int
}

// singular returns the steps of a path that selects at most one value (RFC
// 9535, section 2.3.5.1), the form that nearly all checks have. It is walked in
// the body's bytes: decoding would cost more than all the rest of a request.
func singular(q *spec.PathQuery) (steps []step, ok bool) {
	for _, segment := range q.Segments() {
		selectors := segment.Selectors()
		if segment.IsDescendant() || len(selectors) != 1 {
			return nil, false
		}
		switch s := selectors[0].(type) {
		case spec.Name:
			steps = append(steps, step{named: true, name: string(s)})
		case spec.Index:
			steps = append(steps, step{index: int(s)})
		default:
			return nil, false
		}
	}
	return steps, true
}

// walk returns the value that the steps lead to. doc must be valid JSON; so is
// its result, without blanks around it.
func walk(doc []byte, steps []step) (value []byte, ok bool) {
	value = bytes.Trim(doc, " \t\r\n")
	for _, s := range steps {
		if value, ok = s.child(value); !ok {
			return nil, false
		}
	}
	return value, true
}

// child returns the member or element that s selects. Of members with the same
// name the last one counts, as it does for encoding/json.
func (s *step) child(doc []byte) (child []byte, ok bool) {
	switch {
	case s.named && doc[0] == '{':
		for name, value := range children(doc) {
			if named(name, s.name) {
				child, ok = value, true
			}
		}
	case !s.named && doc[0] == '[':
		index := s.index
		if index < 0 {
			for range children(doc) {
				index++
			}
		}
		if index < 0 {
			return nil, false
		}
		for _, value := range children(doc) {
			if index == 0 {
				return value, true
			}
			index--
		}
	}
	return child, ok
}

// children yields the members of an object, names with their quotes, or the
// elements of an array.
// Neither it nor what it calls checks bounds, because the caller has made sure that doc is
// valid JSON: each value, name and bracket has its end.
func children(doc []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := blanks(doc, 1); doc[i] != '}' && doc[i] != ']'; {
			var name []byte
			if doc[0] == '{' {
				end := skip(doc, i)
				name = doc[i:end]
				i = blanks(doc, blanks(doc, end)+1) // over the colon
			}
			end := skip(doc, i)
			if !yield(name, doc[i:end]) {
				return
			}
			if i = blanks(doc, end); doc[i] == ',' {
				i = blanks(doc, i+1)
			}
		}
	}
}

// skip returns where the value ends that begins at i.
// Commas and colons occur only between brackets here, so depth alone decides.
func skip(doc []byte, i int) int {
	for depth := 0; i < len(doc); {
		switch doc[i] {
		case '"':
			for i++; doc[i] != '"'; i++ {
				if doc[i] == '\\' {
					i++
				}
			}
			i++
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
		default: // a number or a literal
			for i < len(doc) && bytes.IndexByte([]byte(",:]} \t\r\n"), doc[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

func blanks(doc []byte, i int) int {
	for doc[i] == ' ' || doc[i] == '\t' || doc[i] == '\r' || doc[i] == '\n' {
		i++
	}
	return i
}

// named reports whether a name in its JSON form is want.
func named(quoted []byte, want string) bool {
	if b, plain := unquoted(quoted); plain {
		return string(b) == want
	}
	return decoded(quoted) == want
}

// unquoted returns the text between the quotes; plain means that it is the string's
// value, without escapes.
func unquoted(quoted []byte) (b []byte, plain bool) {
	b = quoted[1 : len(quoted)-1]
	return b, bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b)
}

func decoded(quoted []byte) string {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return "" // not possible: it is valid JSON
	}
	return s
}
