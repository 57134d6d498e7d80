package live

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/redline-go/redline/notation"
)

// Plain returns a view that writes lines: one for each second of load, change of
// phase and message. It is for logs and pipes. Errors of w are ignored: the lines
// are progress, and the run continues without.
func Plain(w io.Writer) View { return &plain{w: w, second: -1} }

type plain struct {
	mu     sync.Mutex
	w      io.Writer
	phase  string
	second int64
	// rate sums the windows' rates since the last line: a line stands for its
	// second, and one window of it would say little.
	rate    float64
	windows float64
	quiet   bool // no lines of figures, as behind a view that somebody left
}

func (p *plain) Event(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Message != "" {
		fmt.Fprintf(p.w, "%s\n", notation.Clean(e.Message))
	}
	changed := e.Phase != "" && e.Phase != p.phase
	if changed {
		p.phase = e.Phase
	}
	second := int64(e.Done / time.Second)
	if e.Done > 0 {
		p.rate += e.Rate
		p.windows++
	}
	switch {
	case e.Done > 0 && !p.quiet && (changed || second != p.second):
		p.second = second
		e.Rate = p.rate / p.windows
		p.rate, p.windows = 0, 0
		fmt.Fprintf(p.w, "%-10s %s\n", notation.Clean(p.phase), strings.Join(figures(e), "  "))
	case changed:
		fmt.Fprintf(p.w, "%s\n", notation.Clean(p.phase))
	}
}

func (p *plain) Feed() Feed { return nil }

func (p *plain) Close() {}

// figures are the words of a plain line.
func figures(e Event) []string {
	parts := []string{fmt.Sprintf("%3.0f s", e.Done.Seconds())}
	if e.Total > 0 {
		parts[0] = fmt.Sprintf("%3.0f of %.0f s", e.Done.Seconds(), e.Total.Seconds())
	}
	parts = append(parts, fmt.Sprintf("%8s/s", notation.Rate(e.Rate)))
	if e.Max > 0 {
		parts = append(parts, "p50 "+notation.Duration(int64(e.P50)), "p99 "+notation.Duration(int64(e.P99)))
	}
	if e.Errors > 0 {
		parts = append(parts, notation.Count(e.Errors)+" errors")
	}
	if e.Unhealthy != "" {
		parts = append(parts, "generator: "+notation.Clean(e.Unhealthy))
	}
	return parts
}
