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

// tail keeps the last lines written to it. It hides secrets before it cuts a line,
// because half a secret would not be found, but only in what is shown: for a service
// that writes 200,000 lines per second, hiding in all of them took a CPU.
type tail struct {
	*redact.Lines

	mu    sync.Mutex
	kept  [tailLines]string // with their secrets; the oldest is overwritten
	count int               // of all lines so far
	long  bool              // the last kept line continues: its other parts are left out
	seen  panics
}

func newTail(hide *redact.Redactor) *tail {
	t := &tail{}
	t.Lines = &redact.Lines{By: hide, Raw: t.take}
	return t
}

func (t *tail) take(line string, whole bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.long {
		if t.seen.wants(line) {
			t.seen.take(t.By.Text(line))
		}
		t.kept[t.count%tailLines] = line
		t.count++
	}
	t.long = !whole
}

// lines returns the kept lines, the unfinished one included.
func (t *tail) lines() []string {
	rest := t.Rest()
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := make([]string, 0, tailLines+1)
	for i := max(0, t.count-tailLines); i < t.count; i++ {
		line := t.By.Text(t.kept[i%tailLines])
		lines = append(lines, line[:min(len(line), tailWidth)])
	}
	if rest != "" && !t.long {
		lines = append(lines, rest[:min(len(rest), tailWidth)])
	}
	return lines
}

// panicked describes the panics among all lines so far, "" without one.
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
