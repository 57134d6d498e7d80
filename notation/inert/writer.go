package inert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"
)

// Writer passes text on without its effects: of control characters only line ends
// and tabs stay. Where Terminal is set, colours and redrawing sequences stay
// too, because redline writes them itself.
//
// It also keeps a line from being a command to a CI system: "::error ::" of GitHub
// and those that copied it, "##vso[" and "##teamcity[".
//
// It may be used concurrently.
type Writer struct {
	to       io.Writer
	terminal bool
	mu       sync.Mutex
	rest     []byte // an unfinished character or escape sequence
	lead     []byte // up to two characters that the line begins with, blanks apart
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer, terminal bool) *Writer {
	return &Writer{to: w, terminal: terminal}
}

// Under returns the writer below the edge: for output that must arrive unchanged (a page of
// HTML, a live view, a workflow command), and for asking whether it is a terminal.
func Under(w io.Writer) io.Writer {
	if edge, ok := w.(*Writer); ok {
		return edge.to
	}
	return w
}

// longestSequence is more than any that redline writes.
const longestSequence = 32

// Write implements io.Writer. The count returned is that of p, not of the bytes passed on.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := append(w.rest, p...)
	w.rest = nil
	out := make([]byte, 0, len(in))
	for len(in) > 0 {
		if n, more := w.sequence(in); more {
			break
		} else if n > 0 {
			out, in = append(out, in[:n]...), in[n:]
			continue
		}
		if !utf8.FullRune(in) {
			break
		}
		r, n := utf8.DecodeRune(in)
		out, in = w.character(out, r, n), in[n:]
	}
	w.rest = bytes.Clone(in)
	if _, err := w.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *Writer) character(out []byte, r rune, n int) []byte {
	switch {
	case r == '\n', r == '\r' && w.terminal:
		w.lead = w.lead[:0]
		return append(out, byte(r))
	case r == '\t', r == ' ':
		if len(w.lead) > 0 {
			w.lead = append(w.lead[:0], "  "...) // a command has no blank there
		}
		return append(out, byte(r))
	case acts(r, n), w.commands(r):
		r = '?'
	}
	if len(w.lead) < leading {
		w.lead = append(w.lead, byte(min(r, utf8.RuneSelf)))
	}
	return utf8.AppendRune(out, r)
}

// leading is how many characters of a line decide whether a command may follow.
const leading = 2

// commands reports whether a character would make the line a workflow command.
func (w *Writer) commands(r rune) bool {
	letter := r|0x20 >= 'a' && r|0x20 <= 'z'
	switch string(w.lead) {
	case "::":
		w.lead[1] = ' ' // only the third character counts
		return letter
	case "##":
		w.lead[1] = ' '
		return r == '[' || letter
	}
	return false
}

// sequence returns the length of the escape sequence of redline's own at the
// beginning of in: a colour, or the erasing of a line. more is set when its end is
// not there yet.
func (w *Writer) sequence(in []byte) (n int, more bool) {
	if !w.terminal || in[0] != '\x1b' {
		return 0, false
	}
	for i := 1; i < min(len(in), longestSequence); i++ {
		switch c := in[i]; {
		case i == 1 && c == '[', i > 1 && (c >= '0' && c <= '9' || c == ';'):
		case i > 1 && (c == 'm' || c == 'K'):
			return i + 1, false
		default:
			return 0, false
		}
	}
	return 0, len(in) < longestSequence
}

// JSON writes v as indented JSON that shows nothing but what it is: what a terminal
// would obey is escaped, which JSON reads as the same text.
func JSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escape(b.Bytes()))
	return err
}

// escape escapes the characters of JSON that act. The encoder has escaped those
// below ' ' and made invalid ones U+FFFD; the rest stands within strings only.
func escape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\n' || !acts(r, n):
			out = append(out, text[:n]...)
		case r >= 0x10000:
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}

// File returns the file below the edge, if it is one.
func File(w io.Writer) (*os.File, bool) {
	f, ok := Under(w).(*os.File)
	return f, ok
}
