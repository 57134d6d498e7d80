package waits

import (
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/breakdown"
)

// Delegated is what the goroutines do that a request waits for, in place of the request.
type Delegated struct {
	// Chains lead to what they do. Their time and counts, multiplied by Scale, are those of
	// the work for one request.
	Chains []breakdown.Chain
	Scale  float64
	// Worker is set if they live on between requests.
	Worker bool
}

// Delegated returns what goroutines do for the request alone while it waits in a part; no
// chains if the wait is for something else, such as a queue or another request's computation.
//
// A wait for a worker also holds its work for requests that came before. By the utilisation law
// it is busy for the part of the time that is the rate times its work per request, so that its
// work for one request is known, and the rest of the wait is a queue.
func (w *Table) Delegated(part breakdown.Part) Delegated {
	if w.by == nil {
		return Delegated{}
	}
	whole, only := w.by.whole(part)
	if only == nil || whole.kind == callstack.FlightWait {
		return Delegated{}
	}
	d := Delegated{Scale: scaleOf(whole.part)}
	for _, c := range whole.part.Behind {
		if i, lock := w.by.p.Locked(c); lock != "" {
			c.Links = c.Links[:i+1]
		}
		d.Chains = append(d.Chains, c)
	}
	if e := w.by.p.Ender(whole.part); e.By == ByWorker {
		d.Worker = true
		if one, ok := w.by.p.Path().Serial(e.Entry); ok && one.WaitNS > 0 {
			d.Scale *= min(1, float64(one.ServiceNS)/float64(one.WaitNS))
		}
	}
	return d
}
