package slow

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/passes/database/asker"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/index"
	"github.com/redline-go/redline/record/statement"
)

// shared are the statements that one remedy serves, the leading one first.
type shared struct {
	statements []database.Statement
	saved      float64 // the part of their execution that the remedy saves, 0 to 1
}

// sharing finds the statements that lack the index which the lead lacks, and makes c advise the one with most keys:
// what an index begins with, it serves too. Where no index is advised, they are those that read the same table under the same
// condition, as a page and the count of its rows do.
func sharing(p *diagnose.Pass, all *database.Statements, lead database.Statement, c *cost) shared {
	s := shared{[]database.Statement{lead}, c.saved()}
	if !c.wasteful || !c.planned {
		return s
	}
	saved, total := s.saved*float64(lead.Time), float64(lead.Time)
	for _, other := range all.Statements {
		if other.Text == lead.Text || other.Calls <= 0 || len(other.Plan) == 0 {
			continue
		}
		if c.advice.Create == "" {
			if readsSame(p, c.scan.Scan, other) {
				s.statements = append(s.statements, other)
				saved, total = saved+c.saved()*float64(other.Time), total+float64(other.Time)
			}
			continue
		}
		o := costOf(p, other)
		longer, ok := longerIndex(c.advice.Create, o.advice.Create)
		if !ok || !o.wasteful || !o.planned {
			continue
		}
		if longer != c.advice.Create {
			c.advice = o.advice
		}
		s.statements = append(s.statements, other)
		saved, total = saved+o.saved()*float64(other.Time), total+float64(other.Time)
	}
	s.saved = saved / max(1, total)
	return s
}

// readsSame reports whether a statement reads the table of a scan in full under the same condition, whatever its values.
func readsSame(p *diagnose.Pass, scan index.Scan, other database.Statement) bool {
	root, err := index.Parse(other.Plan)
	if err != nil || scan.Node == nil || scan.Filter == "" {
		return false
	}
	all, condition := p.Statements(), statement.Normal(scan.Filter)
	rows := float64(other.Rows) / float64(max(1, other.Calls))
	return slices.ContainsFunc(index.Scans(root, rows, index.Catalogue{Tables: all.Tables, Planner: all.Planner}), func(s index.Scan) bool {
		return s.Node.Relation == scan.Node.Relation && s.Node.Type == scan.Node.Type && statement.Normal(s.Filter) == condition
	})
}

// longerIndex returns the index of two whose keys begin with all the keys of the other; false if neither does, or one is partial.
func longerIndex(a, b string) (string, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	keys, ok := strings.CutSuffix(b, ")")
	if !ok || !strings.HasSuffix(a, ")") {
		return "", false
	}
	rest, begins := strings.CutPrefix(a, keys)
	return a, begins && (strings.HasPrefix(rest, ",") || rest == ")")
}

// executes is their part of all execution time, 0 to 1.
func (s shared) executes(all *database.Statements) (part float64) {
	for _, one := range s.statements {
		part += evidence.StatementShare(all, one)
	}
	return part
}

// waits is their part of the waits for the database, 0 to 1: as the hooks counted it, or else as the trace shows it.
func (s shared) waits(p *diagnose.Pass, all *database.Statements, d databasePart) (part float64) {
	for _, one := range s.statements {
		own, exact := asker.Held(p, one.Text)
		switch {
		case exact:
		case d.source == diagnose.FromTrace:
			own = demand.WaitPart(p, all, one)
		default:
			own = evidence.StatementShare(all, one)
		}
		part += own
	}
	return min(1, part)
}

// held returns their part of the time that requests spend within statements, 0 to 1; false if the hooks did not count one.
func (s shared) held(p *diagnose.Pass) (part float64, ok bool) {
	for _, one := range s.statements {
		own, exact := asker.Held(p, one.Text)
		if !exact {
			return 0, false
		}
		part += own
	}
	return min(1, part), true
}

// others says where the other statements run.
func (s shared) others(p *diagnose.Pass, advised bool) (facts []findings.Evidence) {
	lacks := "reads the same rows"
	if advised {
		lacks = "lacks the index"
	}
	for _, one := range s.statements[1:] {
		place := ""
		if at, known := asker.Of(p, one); known && !at.Inferred {
			place = ", at " + diagnose.At(at.Place)
		}
		facts = append(facts, diagnose.Fact(diagnose.FromPostgres, float64(one.Calls), diagnose.Count,
			"another statement %s%s: %s", lacks, place, statement.Brief(one.Text)))
	}
	return facts
}

// alike returns the other statements that read the same table in full for the same column, which one index serves, and how many
// times as long as the lead they and the lead take.
func alike(p *diagnose.Pass, lead evidence.Asked) (others []evidence.Asked, times float64) {
	s, ok := wastefulScan(lead)
	own := took(p, lead)
	if !ok || !(own > 0) || len(s.Equal) == 0 {
		return nil, 1
	}
	all := own
	for _, a := range p.Asked() {
		if o, ok := wastefulScan(a); ok && a.Text != lead.Text && o.Table == s.Table && len(o.Equal) > 0 && o.Equal[0] == s.Equal[0] {
			others, all = append(others, a), all+took(p, a)
		}
	}
	return others, all / own
}
