package database

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record/findings"
)

// leastDatabaseCPU is the database's part of all CPU in use, but for the generator's, at
// which the host works mainly for the database.
const leastDatabaseCPU = 0.70

// Saturated finds databases at their limit that no statement explains. It is a
// hint, not a defect, hence low confidence: this may simply be the service's job.
var Saturated = diagnose.Analyzer{
	Name:  "db-saturated",
	Stage: diagnose.Database,
	Doc: "On a saturated host, names the database if it uses at least 70 % of the CPU in use (without the load generator's), " +
		"and redline found no slow statement, repetition, locks or connection churn.",
	Causes: []diagnose.Cause{saturated},
	Needs:  []diagnose.Need{diagnose.NeedLoad, diagnose.NeedStatements},
	After:  atFault(),
	Run: func(p *diagnose.Pass) ([]diagnose.Finding, error) {
		c := p.CPU()
		if !(c.Database >= 0) {
			p.Unjudged("db-saturated", "the CPU of the database's processes is not known (it does not run on this host)")
			return nil, nil
		}
		part := c.Database / c.Used()
		if !c.Saturated() || c.Database < leastDatabaseCPU*(c.Used()-c.Generator) || p.Found(atFault()) {
			return nil, nil
		}
		return []diagnose.Finding{{
			Cause: "db-saturated", Share: part, ShareOf: diagnose.OfCapacity, GainCeiling: diagnose.Ceiling(part), Confidence: findings.Low,
			Title: fmt.Sprintf("The database takes %s of the CPU in use; no single statement is the "+
				"reason", diagnose.Percent(part)),
			Where: findings.Where{Detail: "PostgreSQL"},
			Evidence: []findings.Evidence{
				diagnose.Fact(diagnose.FromPostgres, c.Database, "CPUs", "the database uses %s of %s CPUs", diagnose.Times(c.Database), diagnose.Number(c.CPUs)),
				diagnose.Fact(diagnose.FromProcess, c.HostUse(), diagnose.Ratio, "the host's CPUs are %s busy", diagnose.Percent(min(1, c.HostUse()))),
			},
			Remedy: "Send the database less work (cache frequent reads, make fewer round trips per request), or give it its " +
				"own CPUs.",
		}}, nil
	},
}

// atFault lists the analyzers that find bad use of the database. Each explains a
// busy database, so Saturated stays silent after them.
func atFault() []string {
	return []string{"slow-query", "n-plus-one", "lock-wait", "pool-churn", "unprepared"}
}
