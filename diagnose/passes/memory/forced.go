package memory

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// forced reports cycles that the program demands. runtime.GC blocks its caller
// until a whole cycle is done, and debug.FreeOSMemory also returns memory to the
// system, so a request that calls either waits until the whole heap is marked.
func forced(p *diagnose.Pass, c collecting) (diagnose.Finding, bool) {
	if math.IsNaN(c.Cycles) || c.Forced < leastForcedRate || c.ForcedPart() < leastForcedPart {
		return diagnose.Finding{}, false
	}
	cpu, waits := c.CPU*c.ForcedPart(), demanded(p)
	if max(cpu, waits.share) < leastForced {
		p.Reject(gcForced.ID, "%s cycles per second are forced, but they take only %s of the service's CPU and %s of request time",
			diagnose.Times(c.Forced), diagnose.Percent(cpu), diagnose.Percent(waits.share))
		return diagnose.Finding{}, false
	}
	f := diagnose.Finding{
		Cause: gcForced.ID, Share: cpu, ShareOf: diagnose.OfCPU, Confidence: findings.High,
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProbe, c.Forced, diagnose.Hertz, "%s of %s cycles per second are forced",
				diagnose.Times(c.Forced), diagnose.Times(c.Cycles)),
		},
	}
	// Requests wait for the collector's own CPU time, which is saved as well.
	diagnose.Promise(&f, p.Freed(waits.share, cpu*p.Own(), cpu*p.Own()), p.Ran(evidence.Work{Share: cpu}))
	place, call := waits.place, waits.call
	if waits.share > cpu {
		f.Share, f.ShareOf = waits.share, diagnose.OfRequest
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, waits.ns, diagnose.Nanosec,
			"the mean request spends %s of %s waiting for them", diagnose.Span(waits.ns), diagnose.Span(p.Waits().MeanNS())))
	}
	if call == "" {
		place, call = caller(p)
	}
	at := "in the program"
	if call == "" {
		call = "runtime.GC"
	} else if place.Function != "" {
		f.Where, at = diagnose.WhereOf(place), "at "+diagnose.At(place)
		f.Where.Detail = call
	}
	f.Title = fmt.Sprintf("%s %s forces %s collections per second: %s of %s", call, at, diagnose.Number(c.Forced),
		diagnose.Percent(f.Share), diagnose.OfWhat(f.ShareOf))
	// Memory that was given back is faulted in again while other code runs, and no profile separates that cost from the code's own.
	f.GainAtLeast = f.GainAtLeast || call == freed
	return c.finish(p, f, fmt.Sprintf("Remove %s %s; to bound memory set GOMEMLIMIT, with which "+
		"the runtime collects only when it must.", call, at)), true
}

// waiting is the time that requests wait for collections that they force. ns is per
// request.
type waiting struct {
	share, ns float64
	place     code.Frame
	call      string // "runtime.GC"
}

// demanded sums it over the mean request; the place is that of the longest wait.
func demanded(p *diagnose.Pass) (w waiting) {
	if p.Anatomy == nil || p.Anatomy.MeanNS <= 0 {
		return w
	}
	var most int64
	for _, part := range p.Anatomy.All {
		i, call := demand(part.Stack)
		if i < 0 {
			continue
		}
		w.ns += float64(part.NS)
		if part.NS > most {
			most, w.call = part.NS, call
			w.place, _ = p.Stacks.Place(part.Stack[i+1:])
		}
	}
	w.share = min(1, w.ns/float64(p.Anatomy.MeanNS))
	return w
}

// freed is the call that collects and gives the memory back, as a report names it.
const freed = "debug.FreeOSMemory"

// demand returns the outermost frame that forces a collection, and its name; -1 if
// none does.
func demand(stack []code.Frame) (int, string) {
	for i := len(stack) - 1; i >= 0; i-- {
		switch stack[i].Function {
		case "runtime.GC", "runtime/debug.FreeOSMemory":
			return i, callstack.Short(stack[i].Function)
		}
	}
	return -1, ""
}

// caller finds in the profiles who forces collections: by CPU first (the caller
// sweeps), then by goroutines blocked in one. A timer's goroutine is in none of the
// requests' waits.
func caller(p *diagnose.Pass) (code.Frame, string) {
	for _, from := range [][2]string{{"cpu", "cpu"}, {"block", "delay"}, {"goroutine", "goroutine"}} {
		prof, err := p.Profile(from[0], from[1])
		if err != nil {
			continue
		}
		weights, calls := map[code.Frame]int64{}, map[code.Frame]string{}
		var best code.Frame
		for _, s := range prof.Samples {
			if i, call := demand(s.Stack); i >= 0 && i+1 < len(s.Stack) {
				place, _ := p.Stacks.Place(s.Stack[i+1:])
				weights[place] += s.Value
				calls[place] = call
				if weights[place] > weights[best] {
					best = place
				}
			}
		}
		if best.Function != "" {
			return best, calls[best]
		}
	}
	return code.Frame{}, ""
}
