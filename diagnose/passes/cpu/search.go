package cpu

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// manyTimes is the number of objects allocated per request from which a line runs for each of many things.
const manyTimes = 200

// mostPerElement bounds the CPU of comparing one element, in ns. A search that takes manyTimes as long compares many.
const mostPerElement = 10e3

// lines are the lines of a function that decide which elements are wanted.
type lines struct {
	calls   usage.Calls
	cpu     map[code.Frame]float64
	filters bool // they keep all elements that are wanted
}

// scan is a function whose lines by their source look at elements one after another, for one or some of them.
type scan struct {
	lines
	line    code.Frame // that takes most
	share   float64    // of the service's CPU below them, 0 to 1, with the collection of what that allocates
	objects float64    // that are allocated below them per request
	spent   float64    // CPU of a request below them, ns
	through string     // the service's function that it calls for most of that; "" if there is none
}

// forNothing reports whether a filter takes more CPU than what requests send and receive can need: most elements that it looks at
// are not wanted.
func (s scan) forNothing(p *diagnose.Pass) bool {
	sent, got, ok := exchanged(p)
	return ok && s.spent > mostPerByte*(sent+got)
}

// compared is work that a search does to compare an element with what it looks for. A search whose CPU goes into
// something else, such as compiling an expression for each element, is named after that, which has a remedy of its own.
const compared = callstack.Format | callstack.RegexpMatch | callstack.Sort

// scanned returns the search that takes most of the service's CPU, if that is enough to be a hot function, it compares, and it looks
// at many elements. ok is false otherwise, and where the sources were not at hand.
func scanned(p *diagnose.Pass, use *usage.Table) (s scan, ok bool) {
	requests := p.Load().Requests
	allocs, err := p.Profile("allocs", "alloc_objects")
	if !(requests > 0) {
		return s, false
	}
	for function, found := range searches(p, use) {
		share := p.Spared(found.calls)
		if share >= usage.LeastHot && cmp.Or(cmp.Compare(share, s.share), cmp.Compare(s.line.Function, function)) > 0 {
			s = scan{lines: found, line: measured.Heaviest(found.cpu, measured.CompareFrames), share: share}
		}
	}
	if s.share == 0 {
		return s, false
	}
	if err == nil {
		for _, sample := range allocs.Samples {
			if s.at(sample.Stack) >= 0 {
				s.objects += float64(sample.Value) / requests
			}
		}
	}
	if rate := p.Load().Rate; rate > 0 {
		s.spent = s.share * p.Own() / rate * 1e9
	}
	return s, (s.objects >= manyTimes || s.spent >= manyTimes*mostPerElement) && (!s.filters || s.forNothing(p)) && s.compares(p, use)
}

// searches returns the lines on the stacks of the CPU profile that search by their source, by their function.
func searches(p *diagnose.Pass, use *usage.Table) map[string]lines {
	sources := p.Sources()
	one, all, by := callstack.LinesOf(sources.Searches), callstack.LinesOf(sources.Filters), map[string]lines{}
	if len(one)+len(all) == 0 {
		return nil
	}
	for b := range use.All {
		for _, f := range b.Stack {
			if !one.Has(f) && !all.Has(f) {
				continue
			}
			l, ok := by[f.Function]
			if !ok {
				l = lines{usage.Calls{}, map[code.Frame]float64{}, true}
			}
			l.calls[f] = 1
			l.cpu[f] += float64(b.Value)
			l.filters = l.filters && !one.Has(f)
			by[f.Function] = l
		}
	}
	return by
}

// at returns the index of the search's line on a stack; -1 if it has none.
func (s scan) at(stack []code.Frame) int {
	return slices.IndexFunc(stack, func(f code.Frame) bool { return s.calls[f] > 0 })
}

// compares reports whether most of the search's CPU goes into comparing, and notes through which function of the service.
func (s *scan) compares(p *diagnose.Pass, use *usage.Table) bool {
	all, other, parts := 0.0, 0.0, map[string]float64{}
	for b := range use.All {
		i := s.at(b.Stack)
		if i < 0 {
			continue
		}
		all += float64(b.Value)
		if b.Domain != 0 && !b.Domain.Has(compared) {
			other += float64(b.Value)
		}
		if i > 0 && p.Stacks.User(b.Stack[i-1]) {
			parts[b.Stack[i-1].Function] += float64(b.Value)
		}
	}
	if name := measured.Heaviest(parts, cmp.Compare[string]); parts[name] >= 0.5*all {
		s.through = name
	}
	return other < 0.5*all
}

// finding names the search, whatever kind of work it does for each element: an index needs none of it.
func (s scan) finding(p *diagnose.Pass, use *usage.Table) diagnose.Finding {
	name, at := callstack.Short(s.line.Function), diagnose.At(s.line)
	f := diagnose.Finding{
		Cause: "cpu-hot-function", Share: min(1, s.share), ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(s.line),
		Title: fmt.Sprintf("%s searches element by element and takes %s of the service's CPU, at %s", name,
			diagnose.Percent(s.share), at),
		Remedy: fmt.Sprintf("Index the elements by what the loop around %s looks for (a map, or a tree for prefixes or ranges), so that "+
			"each request looks at few of them. If it must look at all of them, store each in the form in which it is compared, and move "+
			"whatever does not depend on the element out of the loop.", at),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProfile, s.share, diagnose.Ratio, "%s of %s, including garbage collection of what it allocates",
				diagnose.Percent(s.share), samples(use)),
		},
	}
	if s.objects >= manyTimes {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, s.objects, diagnose.Count,
			"%s objects are allocated there per request", diagnose.Number(s.objects)))
	} else {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, s.spent, diagnose.Nanosec,
			"a request spends %s of CPU there", diagnose.Span(s.spent)))
	}
	if s.through != "" {
		f.Where.Detail = "through " + callstack.Short(s.through)
		f.Title += ", " + f.Where.Detail
		p.Cover(f, s.through)
	}
	called(&f, use, s.line.Function)
	f.Evidence = append(f.Evidence, saturation(p)...)
	diagnose.Promise(&f, p.Ran(evidence.Work{Share: f.Share, Function: s.line.Function}))
	// The source shows a search, not whether an index can replace it.
	if f.Confidence = confidence(p, max(f.GainCeiling, p.Alone(f.Share)), avoidable); f.Confidence == findings.High {
		f.Confidence = findings.Medium
	}
	return f
}
