package redact

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// longestLine bounds what of an unfinished line is kept.
const longestLine = 64 << 10

// Lines takes the output of a program in pieces of any size and gives it on line
// by line, without secrets: a secret is found whole before anything is cut. A
// private key may take several lines.
//
// A line over 64 KiB is given on in parts; the last word of a part moves to the
// next one. Its methods may be called concurrently.
type Lines struct {
	// To takes a line without its end. Whole is false for a part of one and for
	// the last line when it has no end.
	To func(line string, whole bool)
	// Raw, where it is set, takes lines instead of To with all their secrets but private
	// keys: whoever keeps the last of very many hides (By) only what is shown. Hiding takes
	// ten times as long as all else here.
	Raw func(line string, whole bool)
	// By hides; nil hides by name and form.
	By *Redactor

	mu      sync.Mutex
	partial []byte
	inKey   bool // between the first and the last line of a private key
}

// Write takes a piece. It returns no error.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			l.hold(p)
			return n, nil
		}
		l.hold(p[:end])
		l.give(string(l.partial), true)
		l.partial = l.partial[:0]
		p = p[end+1:]
	}
	return n, nil
}

// hold keeps a piece of the unfinished line and gives on what is too much.
func (l *Lines) hold(p []byte) {
	for len(l.partial)+len(p) > longestLine {
		room := longestLine - len(l.partial)
		l.partial, p = append(l.partial, p[:room]...), p[room:]
		cut := len(l.partial)
		if word := bytes.LastIndexAny(l.partial, " \t"); word > longestLine/2 {
			cut = word
		}
		l.give(string(l.partial[:cut]), false)
		l.partial = append(l.partial[:0], l.partial[cut:]...)
	}
	l.partial = append(l.partial, p...)
}

// Rest returns the unfinished line, without secrets.
func (l *Lines) Rest() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) == 0 || l.inKey {
		return ""
	}
	return l.By.Text(string(l.partial))
}

// Flush gives on the unfinished line.
func (l *Lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.partial) > 0 {
		l.give(string(l.partial), false)
		l.partial = l.partial[:0]
	}
}

func (l *Lines) give(line string, whole bool) {
	if l.inKey {
		_, after, ends := strings.Cut(line, "-----END ")
		if !ends {
			return
		}
		l.inKey, line = false, strings.TrimLeft(after[max(0, strings.LastIndex(after, "-----")):], "\r")
	} else if at := lastKey(line); at >= 0 && strings.Contains(line[at:], "PRIVATE KEY") &&
		!strings.Contains(line[at:], "-----END ") {
		l.inKey = true
	}
	if l.Raw != nil {
		l.Raw(line, whole)
		return
	}
	l.To(l.By.Text(line), whole)
}

// lastKey returns where the last key or certificate in a line begins, -1 without one. To search
// forwards first is ten times as fast.
func lastKey(line string) int {
	const begin = "-----BEGIN "
	if !strings.Contains(line, begin) {
		return -1
	}
	return strings.LastIndex(line, begin)
}

// Writer gives what is written to it to another writer, line by line, without
// secrets. Its Flush must be called at the end.
func (r *Redactor) Writer(to io.Writer) *Lines {
	return &Lines{By: r, To: func(line string, whole bool) {
		if whole {
			line += "\n"
		}
		_, _ = io.WriteString(to, line) // as with a terminal that is gone: the run continues
	}}
}
