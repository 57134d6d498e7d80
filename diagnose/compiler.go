package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// FromCompiler is the source of evidence that the Go compiler gave.
const FromCompiler = "compiler"

// mostReasons bounds the compiler's remarks in a finding: the first ones are about
// the line that was named.
const mostReasons = 2

// reason adds what the compiler says about the lines that findings name: why a
// value is on the heap, to findings about memory; missed inlining and bounds
// checks, to findings about CPU. It adds nothing without remarks in the bundle,
// which exist only if redline built the target.
func (p *Pass) reason(found []findings.Finding, stages map[string]Stage) {
	lines := p.Sources().Lines
	for i := range found {
		f := &found[i]
		stage := stages[f.Cause]
		if stage != Memory && stage != CPUUse || f.Where.Function == "" {
			continue
		}
		reported := 0
		for _, line := range lines {
			if line.Function != f.Where.Function || line.Line != f.Where.Line {
				continue
			}
			for _, r := range line.Remarks {
				if reported == mostReasons || (r.Kind == code.Escapes) != (stage == Memory) {
					continue
				}
				f.Evidence = append(f.Evidence, Fact(FromCompiler, line.Cost(), Ratio, "the compiler at %s: %s",
					At(line.Frame), remarkText(r)))
				reported++
			}
		}
	}
}

// mostAround bounds the callers among which the loops around a place are looked for: from a leaf to
// the request's handler there are rarely more of the service's own functions.
const mostAround = 16

// loops names the loops around functions that take CPU or allocate, as the sources show them. A profile does not count calls, so a
// function that is called too often looks like a slow one, and its fix is in the loop that calls it. If there are several, the
// innermost and the outermost are named.
func (p *Pass) loops(found []findings.Finding, stages map[string]Stage) {
	use, err := p.Use()
	loops := callstack.LinesOf(p.Sources().Loops)
	if err != nil || len(loops) == 0 {
		return
	}
	for i := range found {
		f := &found[i]
		if stage := stages[f.Cause]; stage != Memory && stage != CPUUse || f.Where.Function == "" || f.Where.Detail != "" {
			continue
		}
		around := slices.DeleteFunc(use.Through(f.Where.Function, mostAround), func(at code.Frame) bool {
			// A worker's loop takes one request after another.
			return !loops.Has(at) || use.Starts(at.Function)
		})
		switch n := len(around); {
		case n == 1:
			f.Where.Detail = "in the loop of " + inFunction(around[0])
		case n > 1:
			f.Where.Detail = fmt.Sprintf("in the loops of %s and %s", inFunction(around[0]), inFunction(around[n-1]))
		}
	}
}

// inFunction names a function with its line: "shop.total at total.go:12".
func inFunction(f code.Frame) string { return callstack.Short(f.Function) + " at " + At(f) }

// remarkText formats a remark with the last step of its flow, the one that made the
// value escape.
func remarkText(r code.Remark) string {
	if len(r.Flow) == 0 {
		return r.Text
	}
	return fmt.Sprintf("%s (%s)", strings.TrimSuffix(r.Text, ":"), r.Flow[len(r.Flow)-1])
}
