// Package mistake holds the errors in what a person wrote: with file, line, column
// and a caret if a file is at fault, with a hint if one is known. It finds none
// itself: the parser of a value makes a Mistake, and the reader of the file adds
// its position.
package mistake

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/redline-go/redline/redact"
)

// Error is one mistake in a scenario file, with its place.
type Error struct {
	File   string
	Line   int    // from 1; 0 when the mistake is of the file as a whole
	Column int    // in characters, from 1
	Len    int    // characters to underline, at least 1
	Source string // the line
	Msg    string
	Hint   string // how to fix it; may be empty
}

// Error returns the mistake in the form
//
//	file:line:column: message
//	  source line
//	  ^^^^
//	  hint: ...
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": " + e.Msg)
	if e.Line > 0 {
		source, indent := excerpt(withoutSecrets(e.Source, e.Column))
		b.WriteString("\n  " + source)
		b.WriteString("\n  " + indent + strings.Repeat("^",
			max(1, min(e.Len, utf8.RuneCountInString(source)-utf8.RuneCountInString(indent)))))
	}
	if e.Hint != "" {
		b.WriteString("\n  hint: " + e.Hint)
	}
	return b.String()
}

// withoutSecrets returns a line that a person wrote without its secrets, and the
// column's position in that.
func withoutSecrets(line string, column int) (string, int) {
	clean := redact.Text(line)
	if clean == line {
		return line, column
	}
	runes := []rune(line)
	front := redact.Text(string(runes[:min(max(column-1, 0), len(runes))]))
	return clean, min(utf8.RuneCountInString(front), utf8.RuneCountInString(clean)) + 1
}

// excerpt returns a line fit for a terminal, and as much blank text as leads
// to its column. A long line is cut around the column; control characters,
// which could move a terminal's cursor, become blanks.
func excerpt(line string, column int) (source, indent string) {
	const before, width = 60, 120
	runes := []rune(line)
	for i, r := range runes {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			runes[i] = ' '
		}
	}
	at := min(max(column-1, 0), len(runes))
	if len(runes) > width && at > before {
		runes, at = runes[at-before:], before
	}
	return strings.TrimRight(string(runes[:min(len(runes), width)]), " "), strings.Repeat(" ", at)
}

// Errors are the mistakes of one file, in its order; never empty.
type Errors []*Error

// MaxErrors is how many mistakes are collected: those after are most often
// consequences.
const MaxErrors = 10

func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap lets errors.As find an *Error.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}
