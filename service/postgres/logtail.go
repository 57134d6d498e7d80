package postgres

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	tailLines = 30
	lineLimit = 2 << 10 // bytes kept of one line
	readyLine = "database system is ready to accept connections"
	// replicaLine is readyLine of a server that follows another.
	replicaLine = "database system is ready to accept read-only connections"
	// movedLine is the last line of a server with logging_collector = on.
	movedLine = "redirecting log output to logging collector process"
)

// logTail keeps the last lines of a server's log and announces readiness. It is
// an io.Writer for a child's standard error.
type logTail struct {
	mu      sync.Mutex
	tee     io.Writer // nil: none
	partial []byte    // an unfinished line, at most lineLimit bytes
	last    []string
	ready   chan struct{} // closed at the next line that says so; nil without a waiter
}

func newLogTail(tee io.Writer) *logTail { return &logTail{tee: tee} }

// awaitReady returns a channel that is closed at the next line that says so.
func (t *logTail) awaitReady() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ready = make(chan struct{})
	return t.ready
}

func (t *logTail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tee != nil {
		// The server must not block or fail because of a reader.
		if _, err := t.tee.Write(p); err != nil {
			t.tee = nil
		}
	}
	for rest := p; ; {
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		t.partial = append(t.partial, line[:min(len(line), lineLimit-len(t.partial))]...)
		if !ended {
			return len(p), nil
		}
		t.add(string(t.partial))
		t.partial, rest = t.partial[:0], after
	}
}

func (t *logTail) add(line string) {
	if len(t.last) == tailLines {
		t.last = append(t.last[:0], t.last[1:]...)
	}
	t.last = append(t.last, line)
	says := func(text string) bool { return strings.Contains(line, text) }
	if t.ready != nil && (says(readyLine) || says(replicaLine) || says(movedLine)) {
		close(t.ready)
		t.ready = nil
	}
}

// lines returns the kept lines, an unfinished line included.
func (t *logTail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := append([]string(nil), t.last...)
	if len(t.partial) > 0 {
		out = append(out, string(t.partial))
	}
	return out
}

// String joins the lines for an error message.
func (t *logTail) String() string {
	lines := t.lines()
	if len(lines) == 0 {
		return "(nothing was logged)"
	}
	return strings.Join(lines, "\n")
}
