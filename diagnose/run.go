package diagnose

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
)

// Run runs a suite on a record. a is nil without an anatomy. Causes whose data is missing
// are listed as not judged, with the reason, as are those of an analyzer that fails (on a
// profile that does not parse); the rest are judged. The error is non-nil only for an
// invalid suite or a nil record.
func Run(rec *record.Record, a *breakdown.Anatomy, suite []Analyzer) (findings.Findings, error) {
	if rec == nil {
		return findings.Findings{}, errors.New("diagnose: no record")
	}
	if err := Validate(suite); err != nil {
		return findings.Findings{}, fmt.Errorf("diagnose: %w", err)
	}
	sorted, err := order(suite)
	if err != nil {
		return findings.Findings{}, fmt.Errorf("diagnose: %w", err)
	}
	p := newPass(rec, a)
	out := findings.Findings{Findings: []findings.Finding{}, NotJudged: []findings.NotJudged{}}
	var found []Finding
	for _, analyzer := range sorted {
		if why := p.missing(analyzer.Needs); why != "" {
			for _, c := range analyzer.Causes {
				p.Unjudged(c.ID, "%s", why)
			}
			continue
		}
		findings, err := analyzer.Run(p)
		if err != nil {
			for _, c := range analyzer.Causes {
				p.Unjudged(c.ID, "%v", err)
			}
			continue
		}
		p.hedge(analyzer.Stage, findings)
		p.few(analyzer, findings)
		p.analyzers[analyzer.Name], p.results[analyzer.Name] = analyzer, findings
		found = append(found, findings...)
	}
	out.NotJudged = append(out.NotJudged, slices.DeleteFunc(p.unjudged, p.inapplicable)...)
	ranked, notes := apartNotes(p.rank(sorted, found), sorted)
	out.Findings, out.Notes = append(out.Findings, ranked...), notes
	p.spoil(out.Findings, notes)
	out.Unread = p.Unread()
	stages := stagesOf(sorted)
	p.reason(out.Findings, stages)
	p.loops(out.Findings, stages)
	p.exemplify(out.Findings)
	out.Rejected, out.CPU = p.rejected, cpuUse(p.CPU(), p.Peers())
	if out.Ledger = p.ledger(); out.Ledger != nil && len(out.Findings) == 0 {
		out.Ledger.Largest = p.largest()
	}
	return out, nil
}

// stagesOf returns the stage of each cause.
func stagesOf(suite []Analyzer) map[string]Stage {
	stages := map[string]Stage{}
	for _, a := range suite {
		for _, c := range a.Causes {
			stages[c.ID] = a.Stage
		}
	}
	return stages
}

// hedgeShare is the part of the request below which a wait may be a queue caused by
// busy CPUs; with more, most requests wait there whatever the CPUs do.
const hedgeShare = 0.5

// hedge lowers the confidence of waits if the run does not know how busy the CPUs
// were, because that distinguishes a cause from a symptom.
func (p *Pass) hedge(stage Stage, found []Finding) {
	if !math.IsNaN(p.CPU().HostUse()) || stage != Database && stage != Wait {
		return
	}
	for i := range found {
		switch f := &found[i]; {
		case f.Share < hedgeShare:
			f.Confidence = findings.Low
		case f.Confidence == findings.High:
			f.Confidence = findings.Medium
		}
	}
}
