package slow

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/passes/database/demand"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/statement"
)

// summed returns the table of which a statement reads all rows to sum them up in a few: it has no condition that an index could
// serve, so reading less means to keep the sums.
func summed(a evidence.Asked) (s operation.SQLiteScan, ok bool) {
	if a.Plan == nil || !(a.Calls > 0) || len(a.Plan.Scans) != 1 || !statement.Sums(a.Text) {
		return s, false
	}
	s = a.Plan.Scans[0]
	return s, !s.Virtual && s.Rows >= scannedRows && float64(s.Rows) >= scannedPerRow*a.Rows/a.Calls
}

// summedToo returns the other statements that sum up the same table, and how many times as long as the lead all take. Each of them
// must be slow by itself.
func summedToo(p *diagnose.Pass, lead evidence.Asked, part float64) (others []evidence.Asked, times float64, ok bool) {
	of, ok := summed(lead)
	if !ok || !slowAlone(p, lead, part) {
		return nil, 1, false
	}
	own := took(p, lead)
	all := own
	for _, a := range p.Asked() {
		if s, ok := summed(a); ok && s.Table == of.Table && a.Text != lead.Text && slowAlone(p, a, part*took(p, a)/max(1, own)) {
			others, all = append(others, a), all+took(p, a)
		}
	}
	return others, all / max(1, own), true
}

// slowAlone reports whether a statement with a part of the time within statements is slow by itself. Time queued for a CPU is not
// the statement's. A write is never slow by itself: it may wait for its commit, that is for the disk or the writer lock.
func slowAlone(p *diagnose.Pass, a evidence.Asked, part float64) bool {
	if statement.Writes(a.Text) || !(demand.AskedPerRequest(p, a.Calls) > 0) {
		return false
	}
	took, least := alone(p, a, part)
	return took >= least
}

// wordSums writes title and remedy of statements that sum up a table.
func wordSums(f *diagnose.Finding, lead evidence.Asked, place string) {
	s, _ := summed(lead)
	f.Title = fmt.Sprintf("Summing up all %s rows of %s takes %s of request time%s", thousands(s.Rows), s.Table,
		diagnose.Percent(f.Share), place)
	f.Remedy = fmt.Sprintf("It reads every row of %s each time, and returns %s: keep the sums in a table that writes "+
		"update, or cache the result for as long as it may be stale.", s.Table, diagnose.Mean(lead.Rows/lead.Calls, "row", "rows"))
}
