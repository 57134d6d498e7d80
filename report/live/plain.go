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
// phase and message, and one for each half minute in which a phase, such as a build, shows
// nothing else. It is for logs and pipes. Errors of w are ignored: the lines
// are progress, and the run continues without.
func Plain(w io.Writer) View { return &plain{w: w, second: -1} }

// silence is how long a phase may last without a line.
const silence = 30 * time.Second

type plain struct {
	mu     sync.Mutex
	w      io.Writer
	phase  string
	second int64
	// rate sums the windows' rates since the last line: a line stands for its
	// second, and one window of it would say little.
	rate    float64
	windows float64
	quiet   bool        // no lines of figures, as behind a view that somebody left
	began   time.Time   // the phase
	late    *time.Timer // until silence is broken; nil before the first phase
	closed  bool        // nothing is written any more, also by a timer that has just fired
}

func (p *plain) Event(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if e.Message != "" {
		fmt.Fprintf(p.w, "%s\n", notation.Clean(e.Message))
	}
	changed := e.Phase != "" && e.Phase != p.phase
	if changed {
		p.phase, p.began = e.Phase, time.Now()
		if p.late == nil {
			p.late = time.AfterFunc(silence, p.goesOn)
		}
	}
	if p.late != nil {
		p.late.Reset(silence)
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

// goesOn says how long a silent phase has lasted.
func (p *plain) goesOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	fmt.Fprintf(p.w, "%s, for %s so far\n", notation.Clean(p.phase), time.Since(p.began).Round(time.Second))
	p.late.Reset(silence)
}

func (p *plain) Feed() Feed { return nil }

func (p *plain) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.late != nil {
		p.late.Stop()
	}
}

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
	return parts
}
