package diagnose

import (
	"fmt"
	"strings"

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

// remarkText formats a remark with the last step of its flow, the one that made the
// value escape.
func remarkText(r code.Remark) string {
	if len(r.Flow) == 0 {
		return r.Text
	}
	return fmt.Sprintf("%s (%s)", strings.TrimSuffix(r.Text, ":"), r.Flow[len(r.Flow)-1])
}
