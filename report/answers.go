package report

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
)

// mostUnexpected of the requests may fail, or be answered with a status that the
// scenario does not expect, before the headline says so.
const mostUnexpected = 0.01

// failed says, before any finding speaks of the service, that its figures are not
// those of a service at work: requests failed, answers were not as expected, or it
// panicked; "" when nothing of that kind was seen.
func failed(s *record.Summary) string {
	lines := []string{unanswered(&s.Load), unfinished(&s.Load), unexpected(&s.Load), unfit(&s.Load)}
	if s.Target.Panicked != "" {
		lines = append(lines, "The "+strings.TrimPrefix(s.Target.Panicked, "the ")+".")
	}
	return cleanJoin(lines, " ")
}

// unanswered says that requests failed otherwise than by their status.
func unanswered(l *record.LoadSummary) string {
	kinds, n := map[string]int64{}, int64(0)
	for kind, count := range l.ErrorKinds {
		if kind != record.UnexpectedStatus {
			kinds[kind], n = count, n+count
		}
	}
	share := ratio(n, l.Requests)
	if share <= mostUnexpected {
		return ""
	}
	return fmt.Sprintf("%s of the requests failed: %s.", notation.Percent(share), tally(kinds))
}

// mostUnfinished is the part of the requests that may be without an answer at the end unnoticed: more make the slowest of a thousand.
const mostUnfinished = 0.001

// unfinished says that requests had no answer when the grace time was over. No finding speaks of those: what they wait for never ended.
func unfinished(l *record.LoadSummary) string {
	share := ratio(l.InFlight, l.Requests+l.InFlight)
	if share <= mostUnfinished {
		return ""
	}
	return fmt.Sprintf("%s (%s) had no answer when the run ended.", notation.Counted(l.InFlight, "request", ""), notation.Percent(share))
}

// unexpected says that answers differ from the scenario's expectation.
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

// unfit says that answers failed a check, besides those whose status was unexpected.
func unfit(l *record.LoadSummary) string {
	var most record.CheckResult
	for _, c := range l.Checks {
		if c.Failed > most.Failed {
			most = c
		}
	}
	if ratio(most.Failed-l.Unexpected, l.Requests) <= mostUnexpected {
		return ""
	}
	return fmt.Sprintf("%s of the answers failed a check: %s.", notation.Percent(ratio(most.Failed, l.Requests)), most.Name)
}
