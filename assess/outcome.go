package assess

import (
	"fmt"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
)

// mostUnexpected is the part of answers that may have a status other than expected
// without a warning: with so few, the figures still describe the service at work.
const mostUnexpected = 0.01

// unexpected warns of a run whose answers differ from the scenario's expectation.
func unexpected(l *record.LoadSummary) []string {
	if l.Requests == 0 || float64(l.Unexpected) <= mostUnexpected*float64(l.Requests) {
		return nil
	}
	return []string{fmt.Sprintf("%s of the answers had a status that the scenario does not expect; the findings "+
		"include those answers. "+
		"Correct the requests, or expect the status (checks: [{status: ...}]).",
		notation.Percent(float64(l.Unexpected)/float64(l.Requests)))}
}
