package diagnose

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/record"
)

type statementsResult struct{ value *record.Statements }

// Statements returns statements.json with the statements sorted by execution
// time, longest first; nil when the run saw none.
func (p *Pass) Statements() *record.Statements {
	if p.statements == nil {
		p.statements = &statementsResult{}
		var s record.Statements
		if p.Record.ReadJSON(record.StatementsFile, &s) == nil {
			slices.SortStableFunc(s.Statements, func(a, b record.Statement) int { return cmp.Compare(b.Time, a.Time) })
			p.statements.value = &s
		}
	}
	return p.statements.value
}

// StatementShare returns a statement's part of the execution time of all
// statements, 0 to 1.
func StatementShare(all *record.Statements, s record.Statement) float64 {
	total := 0.0
	for _, other := range all.Statements {
		total += float64(other.Time)
	}
	if total <= 0 {
		return 0
	}
	return float64(s.Time) / total
}
