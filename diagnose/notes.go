package diagnose

import (
	"slices"

	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

// apartNotes separates the notes on the measurement from the findings, in order.
// Both are ranked from 1; rejected causes stay with the first finding of all.
func apartNotes(all []Finding, suite []Analyzer) (findings, notes []Finding) {
	for _, f := range all {
		if cause, _ := Lookup(suite, f.Cause); cause.Note {
			f.Rank = len(notes) + 1
			notes = append(notes, f)
			continue
		}
		f.Rank = len(findings) + 1
		findings = append(findings, f)
	}
	return findings, notes
}

// spoiled are the wholes whose figures other programs or guests of the host change:
// how long requests take, and free CPU. The division of the service's own CPU and
// memory stays the same.
var spoiled = []string{OfRequest, OfTail, OfCapacity}

// mostOwnWait is the part of each second that the generator's threads may wait in
// the kernel's run queue. Responses that arrive in that time are read late, so beyond it
// most of the service time may be the generator's own wait.
const mostOwnWait = 0.5

// spoil lowers the confidence of findings that rest on figures which a note, or the
// generator's own wait for CPUs, spoils. It drops none: a noisy host hides causes
// but rarely invents them.
func (p *Pass) spoil(found, notes []Finding) {
	if delay, ok := p.Rate(series.GeneratorDelay, ""); ok && delay/1e9 > mostOwnWait {
		wait := Finding{Cause: "generator-saturated", Title: "up to " + Percent(min(1, delay/1e9)) +
			" of service time is the generator's own wait for a CPU"}
		notes = append(slices.Clone(notes), wait)
	}
	for _, note := range notes {
		for i := range found {
			f := &found[i]
			if f.Confidence != findings.High || !slices.Contains(spoiled, f.ShareOf) {
				continue
			}
			f.Confidence = findings.Medium
			f.Rejected = append(f.Rejected, findings.Rejected{Cause: note.Cause, Why: "it makes this finding less certain: " + note.Title})
		}
	}
}
