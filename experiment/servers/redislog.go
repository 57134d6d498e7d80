package servers

import (
	"bytes"
	"sync"
)

// redisLog announces readiness and keeps the last line of a Redis's log. It is an io.Writer for its standard output and
// standard error.
type redisLog struct {
	mu    sync.Mutex
	line  []byte        // the last one that is not empty, at most lineLimit bytes
	ended bool          // it is whole: what comes begins another
	ready chan struct{} // closed at the line that says so
	open  bool          // ready is closed
}

// lineLimit bounds what is kept of a line.
const lineLimit = 1 << 10

func (l *redisLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		if l.ended && len(part) > 0 {
			l.line, l.ended = l.line[:0], false
		}
		l.line = append(l.line, part[:min(len(part), lineLimit-len(l.line))]...)
		l.ended, rest = l.ended || ended, after
		if !l.open && bytes.Contains(bytes.ToLower(l.line), []byte("ready to accept connections")) {
			l.open = true
			close(l.ready)
		}
	}
	return len(p), nil
}

// end returns the last line that is not empty.
func (l *redisLog) end() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.line)
}
