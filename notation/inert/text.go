package inert

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes text of unknown origin safe for a terminal and for one line: runs of
// white space become one space, and control, format and invalid characters (escape
// sequences, bidirectional overrides) become '?'.
func Text(s string) string {
	var b strings.Builder
	space := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		if acts(r, n) {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Lines does the same for text that is of several lines by nature, such as the output of a
// compiler: line ends and indentation stay.
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		body := strings.TrimLeft(line, " \t")
		lines[i] = line[:len(line)-len(body)] + Text(body)
	}
	return strings.Join(lines, "\n")
}

// acts reports whether a character, decoded from n bytes, does something else than
// show.
func acts(r rune, n int) bool {
	return r == utf8.RuneError && n <= 1 || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// Sprintf formats as fmt.Sprintf does, with every argument that is text made one
// inert line: lines and tabs of the format stay.
func Sprintf(format string, args ...any) string {
	return fmt.Sprintf(format, clean(args)...)
}

// Fprintf writes the result of Sprintf.
func Fprintf(w io.Writer, format string, args ...any) (int, error) {
	return io.WriteString(w, Sprintf(format, args...))
}

func clean(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case Block:
			out[i] = Lines(string(v))
		case Own:
			out[i] = string(v)
		case string:
			out[i] = Text(v)
		case error:
			out[i] = Text(v.Error())
		default:
			out[i] = a
			// Named strings: a verdict, a state, a kind.
			if t := reflect.TypeOf(a); t != nil && t.Kind() == reflect.String {
				out[i] = Text(fmt.Sprint(a))
			}
		}
	}
	return out
}

// Block is an argument of Sprintf that keeps its lines.
type Block string

// Own is an argument of Sprintf that redline wrote itself, as a coloured word: it is
// left as it is, and nothing from outside belongs into it.
type Own string
