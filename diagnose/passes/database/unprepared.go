package database

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

const (
	// leastPrepareShare of request time spent on having statements prepared.
	leastPrepareShare = 0.15
	// leastPrepares per request: a statement cache prepares once per connection.
	leastPrepares = 0.3
	// leastPlanShare of planning in planning and execution together; a planned
	// once statement spends next to nothing on it.
	leastPlanShare = 0.5
)

// Unprepared finds statements that are prepared or planned for every use.
var Unprepared = diagnose.Analyzer{
	Name:  "unprepared",
	Stage: diagnose.Database,
	Doc: "Looks for waits in the driver's prepare (15 % of request time, 0.3 per request), and for planning time at " +
		"half of planning and execution together, where the server tracks it.",
	Causes: []diagnose.Cause{{
		ID:     "db-unprepared",
		Title:  "Statements are prepared for every use",
		Doc:    "The driver prepares a statement each time it runs it, or the server plans it anew each time.",
		Remedy: "Prepared statements kept per connection: the driver's statement cache, db.Prepare at start, no literals in the text.",
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad, diagnose.NeedAnatomy},
	Run:   runUnprepared,
}

func runUnprepared(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	share, times := w.Share(callstack.PrepareWait), w.Times(callstack.PrepareWait)
	planning, planned := planShare(p)
	database := w.Share(callstack.DatabaseWait, callstack.PrepareWait)
	f := diagnose.Finding{
		Cause: "db-unprepared", ShareOf: diagnose.OfRequest, Confidence: record.Medium,
		Remedy: "Keep prepared statements: pgx's default exec mode with its statement cache, db.Prepare once at start, or GORM's PrepareStmt; pass values as parameters.",
	}
	switch {
	case share >= leastPrepareShare && times >= leastPrepares:
		site := w.Sites(callstack.PrepareWait)[0]
		f.Share, f.Where = share, diagnose.WhereOf(site.Place)
		f.Title = fmt.Sprintf("Requests wait %s of their time for statements to be prepared at %s", diagnose.Percent(share), diagnose.At(site.Place))
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, times, diagnose.Ratio, "%.1f waits per request are for a statement being prepared", times))
	case planned && planning >= leastPlanShare && database*planning >= leastPrepareShare:
		f.Share = database * planning
		f.Title = fmt.Sprintf("The database spends %s of its time on planning statements", diagnose.Percent(planning))
	default:
		return nil, nil
	}
	if planned {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromPostgres, planning, diagnose.Ratio, "planning is %s of planning and execution", diagnose.Percent(planning)))
	}
	f.GainCeiling = gain(p, f.Share, 1)
	return []diagnose.Finding{f}, nil
}

// planShare returns planning over planning and execution, where it is tracked.
func planShare(p *diagnose.Pass) (share float64, ok bool) {
	var planning, execution float64
	for _, labels := range p.Record.Labels(record.StatementPlan) {
		t, present := p.Sum(record.StatementPlan, labels)
		planning, ok = planning+t, ok || present
	}
	for _, labels := range p.Record.Labels(record.StatementTime) {
		t, _ := p.Sum(record.StatementTime, labels)
		execution += t
	}
	if !ok || planning+execution <= 0 {
		return 0, false
	}
	return planning / (planning + execution), true
}
