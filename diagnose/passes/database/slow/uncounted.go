package slow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/index"
	"github.com/redline-go/redline/record/statement"
)

// uncounted judges a statement that the hooks counted, by the plan of a server that counts none. What it costs the server is
// then the service's wait without the round trip. saves is the part of the wait that an index saves; ok is false, and saves 1, if
// none would help or there is no plan.
func uncounted(p *diagnose.Pass, a evidence.Asked) (c cost, saves float64, ok bool) {
	if a.Server == nil || len(a.Server.Plan) == 0 || !(a.Calls > 0) {
		return c, 1, false
	}
	wait := a.Waiting / max(1e-9, demand.AskedPerRequest(p, a.Calls))
	if !p.Has(diagnose.NeedAnatomy) {
		wait = a.NS / a.Calls
	}
	from := p.Operations().Postgres
	c = cost{mean: max(0, wait-float64(from.Trip)), rows: a.Rows / a.Calls, blocks: -1, planSource: "EXPLAIN", confidence: findings.Medium}
	c = c.assess(database.Statement{Text: a.Text, Calls: int64(a.Calls), Time: time.Duration(c.mean * a.Calls), Rows: int64(a.Rows),
		Plan: a.Server.Plan}, index.Catalogue{Tables: from.Tables, Planner: from.Planner})
	if !c.wasteful || !c.planned {
		return c, 1, false
	}
	return c, c.saved() * c.mean / max(1, wait), true
}

// word writes title, remedy and evidence of a statement that lacks an index.
func (c cost) word(f *diagnose.Finding, a evidence.Asked) {
	s := database.Statement{Text: a.Text}
	f.Confidence, f.Title, f.Remedy = c.confidence, c.title(f.Share, "request time", s), c.remedy(a.Text)
	f.Evidence = append(f.Evidence, c.evidence(a.Text)...)
}

// sameRows returns a statement's page instead of the count of its rows, if that takes half as long and more, and those that read the
// same rows by their texts: what makes one of them cheaper serves the others. part is the lead's part of the time within statements,
// and times how many times as long as the lead all take.
func sameRows(p *diagnose.Pass, lead evidence.Asked, part float64) (evidence.Asked, float64, []evidence.Asked, float64) {
	rows, whole := statement.Rows(lead.Text), took(p, lead)/max(part, 1e-9)
	if rows == "" || !(whole > 0) {
		return lead, part, nil, 1
	}
	same, all := []evidence.Asked{}, 0.0
	for _, a := range p.Asked() {
		if statement.Rows(a.Text) == rows {
			same, all = append(same, a), all+took(p, a)
		}
	}
	for _, a := range same {
		if statement.Counts(lead.Text) && !statement.Counts(a.Text) && 2*took(p, a) >= took(p, lead) {
			lead = a
		}
	}
	others := slices.DeleteFunc(same, func(a evidence.Asked) bool { return a.Text == lead.Text })
	return lead, took(p, lead) / whole, others, all / max(1, took(p, lead))
}

// mayLack begins a remedy with the index that a statement of an unknown plan would have, if its text says which.
func mayLack(lead evidence.Asked) string {
	if statement.Matches(lead.Text) {
		return "no index serves LIKE with a pattern that begins with %: search by words (FULLTEXT and MATCH ... AGAINST in MySQL) or " +
			"trigrams (pg_trgm in PostgreSQL) then; otherwise "
	}
	table, columns, ok := statement.Keys(lead.Text)
	if !ok {
		return ""
	}
	return fmt.Sprintf("if no index of %s begins with (%s), create one; otherwise ", table, strings.Join(columns, ", "))
}

// lacking returns the other statements that lack the index which the lead lacks, and how many times as long as the lead all
// take. If a server planned the lead, it makes c advise the index that serves all.
func lacking(p *diagnose.Pass, lead evidence.Asked, c *cost, planned bool) (others []evidence.Asked, times float64) {
	if !planned {
		return alike(p, lead)
	}
	own := took(p, lead)
	if c.advice.Create == "" || !(own > 0) {
		return nil, 1
	}
	all := own
	for _, a := range p.Asked() {
		o, _, ok := uncounted(p, a)
		longer, serves := longerIndex(c.advice.Create, o.advice.Create)
		if !ok || !serves || a.Text == lead.Text {
			continue
		}
		if longer != c.advice.Create {
			c.advice = o.advice
		}
		others, all = append(others, a), all+took(p, a)
	}
	return others, all / own
}
