package diagnose

import (
	"errors"
	"fmt"

	"github.com/redline-go/redline/record"
)

// Run judges a record with a suite. a is nil when no trace was taken apart.
// Causes that could not be judged for want of data are listed with the reason;
// an analyzer that fails (a profile that does not parse) makes its causes not
// judged, and the others are judged all the same. The error is non-nil only for
// a suite that is not valid or a nil record.
func Run(rec *record.Record, a *record.Anatomy, suite []Analyzer) (record.Findings, error) {
	if rec == nil {
		return record.Findings{}, errors.New("diagnose: no record")
	}
	if err := Validate(suite); err != nil {
		return record.Findings{}, fmt.Errorf("diagnose: %w", err)
	}
	sorted, err := order(suite)
	if err != nil {
		return record.Findings{}, fmt.Errorf("diagnose: %w", err)
	}
	p := newPass(rec, a)
	out := record.Findings{Findings: []record.Finding{}, NotJudged: []record.NotJudged{}}
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
		p.results[analyzer.Name] = findings
		found = append(found, findings...)
	}
	out.NotJudged = append(out.NotJudged, p.unjudged...)
	out.Findings = append(out.Findings, p.rank(sorted, found)...)
	p.exemplify(out.Findings)
	out.Rejected = p.rejected
	return out, nil
}
