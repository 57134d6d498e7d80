package measured

import (
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

// LeastDials is the number of connections opened per request from which a client does not keep them: one that does
// opens a few in a run, not one in twenty requests.
const LeastDials = 0.05

// keeps reports whether the target's clients are known to keep their connections: the kernel counts hardly any that it
// opens, and the hooks, which also see those that are no sockets, not either.
func (p *Run) keeps() bool {
	opens, counted := p.Rate(series.TCPOpens, series.Labels("dir", "out"))
	load := p.Load()
	if !counted || !(load.Rate > 0) || opens/load.Rate >= LeastDials {
		return false
	}
	var ops operation.Operations
	if p.Record.ReadJSON(operation.File, &ops) != nil {
		return true
	}
	dialled := 0.0
	for _, o := range ops.Operations {
		if o.Kind == operation.Dial {
			dialled += float64(o.Opened)
		}
	}
	return dialled < LeastDials*load.Requests
}
