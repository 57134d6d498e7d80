package report

import (
	"fmt"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
)

// mostUnexpected of the answers may have a status that the scenario does not
// expect before the headline says so.
const mostUnexpected = 0.01

// unexpected says that the answers differ from the scenario's expectation, before any
// finding speaks of the service that gave them; "" where they agree.
func unexpected(l *record.LoadSummary) string {
	share := ratio(l.Unexpected, l.Requests)
	if share <= mostUnexpected {
		return ""
	}
	failed := map[string]int64{}
	for status, n := range l.Status {
		if status == "" || status[0] != '2' && status[0] != '3' {
			failed[status] = n
		}
	}
	if len(failed) == 0 {
		failed = l.Status // a status that others take as success
	}
	text := fmt.Sprintf("%s of the answers had a status that the scenario does not expect", notation.Percent(share))
	if len(failed) > 0 {
		text += ": " + tally(failed)
	}
	return text + "."
}
