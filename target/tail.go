package target

import (
	"bytes"
	"regexp"
	"sort"
	"strings"
	"sync"

	"github.com/redline-go/redline/scenario"
)

// Bounds of what is kept of a target's standard error.
const (
	tailLines = 20
	tailWidth = 400 // bytes per line
)

// tail keeps the last lines written to it, redacted.
type tail struct {
	redact func(string) string

	mu      sync.Mutex
	kept    []string
	partial []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := p
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			t.hold(rest)
			return len(p), nil
		}
		t.hold(rest[:i])
		t.kept = append(t.kept, t.redact(string(t.partial)))
		if len(t.kept) > tailLines {
			t.kept = append(t.kept[:0], t.kept[len(t.kept)-tailLines:]...)
		}
		t.partial = t.partial[:0]
		rest = rest[i+1:]
	}
}

// hold appends to the unfinished line, up to its bound.
func (t *tail) hold(p []byte) {
	room := max(tailWidth-len(t.partial), 0)
	t.partial = append(t.partial, p[:min(room, len(p))]...)
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := append([]string(nil), t.kept...)
	if len(t.partial) > 0 {
		lines = append(lines, t.redact(string(t.partial)))
	}
	return lines
}

// secrets are values that must not reach disk or a terminal.
type secrets []string

// secretName matches names of environment variables whose value is secret.
var secretName = regexp.MustCompile(`(?i)pass|secret|token|key|dsn|database_url|credential|auth`)

// bearer matches what follows an authentication scheme.
var bearer = regexp.MustCompile(`(?i)(bearer|basic) [A-Za-z0-9+/=._~-]{8,}`)

func newSecrets(env map[string]string) secrets {
	var s secrets
	for name, value := range env {
		// Short values ("1", "off") would blank innocent text.
		if secretName.MatchString(name) && len(value) >= 6 {
			s = append(s, value)
		}
	}
	sort.Slice(s, func(i, j int) bool { return len(s[i]) > len(s[j]) })
	return s
}

// redact hides the secrets that are known, and what is one by its form.
func (s secrets) redact(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, scenario.Redacted)
	}
	return bearer.ReplaceAllString(scenario.RedactText(text), "$1 "+scenario.Redacted)
}

func redactCommand(command []string, s secrets) []string {
	redacted := scenario.RedactCommand(command)
	for i, word := range redacted {
		redacted[i] = s.redact(word)
	}
	return redacted
}

func environment(env map[string]string) []string {
	pairs := make([]string, 0, len(env))
	for name, value := range env {
		pairs = append(pairs, name+"="+value)
	}
	sort.Strings(pairs)
	return pairs
}
