package anatomy

import (
	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/goroutines"
)

// maxSamples bounds the samples of one request.
const maxSamples = 1 << 14

// sample keeps a CPU sample: of a goroutine that serves requests until it is known
// whether a request held it, of any in case that a request waited for it.
func (t *tracker) sample(ev trace.Event) {
	g := t.goroutines.ByID[ev.Goroutine()]
	h := ev.Stack()
	if g == nil || h == trace.NoStack {
		return
	}
	s := goroutines.CPUSample{At: ev.Time(), Stack: t.stacks.Intern(h)}
	if s.Stack == 0 {
		return
	}
	if t.stacks.Wraps(g.Entry) {
		g.Entry = t.stacks.Unwrap(g.Entry, t.stacks.Info(s.Stack))
	}
	g.RanAt(s)
	if g.Conn != nil && len(g.Conn.Samples) < maxSamples {
		g.Conn.Samples = append(g.Conn.Samples, s)
	}
}
