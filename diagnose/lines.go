package diagnose

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
)

const (
	// leastHot is the share of CPU or of allocated bytes at which a line is hot: a
	// dozen lines of a service reach it, and below it no change to a line could be
	// measured.
	leastHot = 0.02
	// mostHot bounds the lines that are reported.
	mostHot = 64
)

// HotLines returns the lines of the service's own code that take most of its CPU or
// allocate most, by the CPU and allocs profiles of a record; costliest first, 64 at
// most, each with at least 2 %. Shares are 0 to 1. Empty if neither profile was taken.
func HotLines(rec *record.Record) []code.HotLine {
	p := evidence.New(rec, nil)
	lines := map[code.Frame]*code.HotLine{}
	book := func(typ, value string, add func(h *code.HotLine, share float64, self bool)) {
		prof, err := p.Profile(typ, value)
		if err != nil || prof.Total <= 0 {
			return
		}
		for _, s := range prof.Samples {
			i := p.Stacks.Innermost(s.Stack)
			if i < 0 {
				continue
			}
			h := lines[s.Stack[i]]
			if h == nil {
				h = &code.HotLine{Frame: s.Stack[i]}
				lines[s.Stack[i]] = h
			}
			add(h, float64(s.Value)/float64(prof.Total), i == 0)
		}
	}
	book("cpu", "cpu", func(h *code.HotLine, share float64, self bool) {
		h.CPU += share
		if self {
			h.Self += share
		}
	})
	book("allocs", "alloc_space", func(h *code.HotLine, share float64, _ bool) { h.Bytes += share })
	book("allocs", "alloc_objects", func(h *code.HotLine, share float64, _ bool) { h.Objects += share })
	var hot []code.HotLine
	for _, h := range lines {
		if max(h.Cost(), h.Objects) >= leastHot {
			hot = append(hot, *h)
		}
	}
	slices.SortFunc(hot, func(a, b code.HotLine) int {
		return cmp.Or(cmp.Compare(b.Cost(), a.Cost()), measured.CompareFrames(a.Frame, b.Frame))
	})
	return hot[:min(len(hot), mostHot)]
}

const (
	// leastBusy is the share of CPU at which a line is looked up in the service's sources. A search is named from
	// usage.LeastHot, which includes the collector's part.
	leastBusy = 0.1
	// leastTouched is the share of CPU at which a line may be one of several that do the same, as each middleware that logs does.
	leastTouched = 0.005
	// mostTouched bounds the lines that are compared with the sources, which are read once.
	mostTouched = 1024
)

// BusyLines returns the lines of the service's own code with at least a tenth of its CPU in themselves and in all that they call,
// 64 at most, and those with at least a two-hundredth, 1,024 at most; both sorted. Empty if no CPU profile was taken.
func BusyLines(rec *record.Record) (busy, touched []code.Frame) {
	p := evidence.New(rec, nil)
	prof, err := p.Profile("cpu", "cpu")
	if err != nil || prof.Total <= 0 {
		return nil, nil
	}
	shares := map[code.Frame]float64{}
	for _, s := range prof.Samples {
		for i, f := range s.Stack {
			if p.Stacks.User(f) && !slices.Contains(s.Stack[:i], f) {
				shares[f] += float64(s.Value) / float64(prof.Total)
			}
		}
	}
	for f, share := range shares {
		if share >= leastBusy {
			busy = append(busy, f)
		}
		if share >= leastTouched {
			touched = append(touched, f)
		}
	}
	slices.SortFunc(busy, measured.CompareFrames)
	slices.SortFunc(touched, measured.CompareFrames)
	return busy[:min(len(busy), mostHot)], touched[:min(len(touched), mostTouched)]
}

// mostCallLines bounds the lines that are looked up in the service's sources.
const mostCallLines = 256

// CallLines returns the lines of the service's own code on the way to the calls of databases and
// other services that the hooks counted, sorted, 256 at most.
func CallLines(rec *record.Record) []code.Frame {
	p := evidence.New(rec, nil)
	ops := p.Operations()
	if ops == nil {
		return nil
	}
	var lines []code.Frame
	for _, o := range ops.Operations { // those that take most time first
		for _, by := range o.Callers {
			for _, f := range by.Stack {
				if len(lines) < mostCallLines && p.Stacks.User(f) && !slices.Contains(lines, f) {
					lines = append(lines, f)
				}
			}
		}
	}
	slices.SortFunc(lines, measured.CompareFrames)
	return lines
}

// Asker is the user's part of a stack on which a statement was run or another service called, innermost
// first. One of its functions called for it; those further in may only have passed it on.
type Asker struct {
	Call   bool // of another service over HTTP, rather than a statement
	Frames []AskingFrame
}

// AskingFrame is one of the user's functions on the way.
type AskingFrame struct {
	Frame code.Frame
	// Text is set if the frame calls what takes a statement as text: a database handle, or a function of
	// the user's own.
	Text bool
}

// mostAskers bounds the stacks that are looked up in the service's sources.
const mostAskers = 256

// Askers returns the stacks on which the service ran statements or called other services over HTTP, those that
// take most time first, 256 at most; none without the hooks of redline's build.
func Askers(rec *record.Record) (list []Asker) {
	p := evidence.New(rec, nil)
	ops := p.Operations()
	if ops == nil {
		return nil
	}
	for _, o := range ops.Operations {
		if !o.Kind.Statement() && o.Kind != operation.HTTP {
			continue
		}
		for _, c := range o.Callers[:min(len(o.Callers), mostAskers-len(list))] {
			asker := Asker{Call: o.Kind == operation.HTTP}
			for i, f := range c.Stack {
				if p.Stacks.User(f) {
					text := i > 0 && (p.Stacks.User(c.Stack[i-1]) || callstack.TakesText(c.Stack[i-1].Function))
					asker.Frames = append(asker.Frames, AskingFrame{f, text})
				}
			}
			list = append(list, asker)
		}
	}
	return list
}
