package diagnose

import (
	"slices"

	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/record/findings"
)

// hardlyAny: with fewer complete requests, a single one can decide, and a finding that
// rests on them is a hint.
const hardlyAny = 3

// few lowers the confidence of findings that rest on few requests, and says how
// many. A trace of a slow service holds few requests, but slow services are the
// ones that need a diagnosis, so their causes are not left unjudged.
func (p *Pass) few(a Analyzer, found []Finding) {
	if !slices.Contains(a.Needs, NeedAnatomy) || p.Anatomy == nil || p.Anatomy.Requests >= waits.FewRequests {
		return
	}
	most := findings.Medium
	if p.Anatomy.Requests < hardlyAny {
		most = findings.Low
	}
	for i := range found {
		f := &found[i]
		if trust(f.Confidence) > trust(most) {
			f.Confidence = most
		}
		text := "this rests on " + Counted(float64(p.Anatomy.Requests), "complete request", "complete requests")
		switch partial := Counted(float64(p.Anatomy.Partial), "incomplete one", "incomplete ones"); {
		case p.Anatomy.Requests == 0:
			text = "no trace contains a complete request; this rests on " + partial
		case p.Anatomy.Partial > 0:
			text += " and " + partial + " in the traces"
		}
		f.Evidence = append(f.Evidence, Fact(FromTrace, float64(p.Anatomy.Requests), "requests", "%s", text))
	}
}
