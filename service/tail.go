package service

import (
	"sort"
	"sync"

	"github.com/redline-go/redline/redact"
)

// Bounds on the kept part of a target's standard error.
const (
	tailLines = 20
	tailWidth = 400 // bytes per line
)

// tail keeps the last lines written to it. Secrets are hidden before a line is
// cut: half of one would not be found.
type tail struct {
	*redact.Lines

	mu   sync.Mutex
	kept []string
	long bool // the last one kept goes on: its other parts are left out
	seen panics
}

func newTail(hide *redact.Redactor) *tail {
	t := &tail{}
	t.Lines = &redact.Lines{By: hide, To: t.take}
	return t
}

func (t *tail) take(line string, whole bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.long {
		t.seen.take(line)
		t.kept = append(t.kept, line[:min(len(line), tailWidth)])
		if len(t.kept) > tailLines {
			t.kept = append(t.kept[:0], t.kept[len(t.kept)-tailLines:]...)
		}
	}
	t.long = !whole
}

// lines returns the kept lines, the unfinished one included.
func (t *tail) lines() []string {
	rest := t.Rest()
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := append([]string(nil), t.kept...)
	if rest != "" && !t.long {
		lines = append(lines, rest[:min(len(rest), tailWidth)])
	}
	return lines
}

// panicked words the panics among all lines so far, "" without one.
func (t *tail) panicked() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen.String()
}

func environment(env map[string]string) []string {
	pairs := make([]string, 0, len(env))
	for name, value := range env {
		pairs = append(pairs, name+"="+value)
	}
	sort.Strings(pairs)
	return pairs
}
