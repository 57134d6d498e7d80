package report

import (
	"testing"

	"github.com/redline-go/redline/record"
)

func TestFailedRequestsAreTheHeadline(t *testing.T) {
	lost := record.LoadSummary{Requests: 1000, Errors: 1, ErrorKinds: map[string]int64{"eof": 1}}
	slow := record.LoadSummary{Requests: 1000, Errors: 100, ErrorKinds: map[string]int64{"eof": 30, "timeout": 70}}
	refused := record.LoadSummary{
		Requests: 1000, Errors: 700, Unexpected: 500, Status: map[string]int64{"200": 300, "503": 500},
		ErrorKinds: map[string]int64{"eof": 200, record.UnexpectedStatus: 500},
	}
	check := func(failed int64) []record.CheckResult {
		return []record.CheckResult{{Name: "status is 200", Passed: 990, Failed: 10},
			{Name: "body contains ok", Passed: 1000 - failed, Failed: failed}}
	}
	for name, c := range map[string]struct {
		load     record.LoadSummary
		panicked string
		want     string
	}{
		"all well":                             {record.LoadSummary{Requests: 1000}, "", ""},
		"one connection in a thousand lost":    {lost, "", ""},
		"a tenth lost, most by timeouts":       {slow, "", "10 % of the requests failed: timeout 70, eof 30."},
		"one in a thousand is still under way": {record.LoadSummary{Requests: 999, InFlight: 1}, "", ""},
		"some never end":                       {record.LoadSummary{Requests: 990, InFlight: 10}, "", "10 requests (1.0 %) had no answer when the run ended."},
		"lost and refused": {refused, "",
			"20 % of the requests failed: eof 200. 50 % of the answers had a status that the scenario does not expect: 503 500."},
		"answers of another content": {record.LoadSummary{Requests: 1000, Checks: check(420)}, "",
			"42 % of the answers failed a check: body contains ok."},
		"a check fails for one in a hundred": {record.LoadSummary{Requests: 1000, Checks: check(10)}, "", ""},
		"errors fail the checks too": {record.LoadSummary{Requests: 1000, Unexpected: 420, Status: map[string]int64{"503": 420},
			Checks: check(425)}, "", "42 % of the answers had a status that the scenario does not expect: 503 420."},
		"one panic among many answers": {lost, "the service panicked in 1 request: no stock, in main.take (main.go:4)",
			"The service panicked in 1 request: no stock, in main.take (main.go:4)."},
	} {
		if got := failed(&record.Summary{Load: c.load, Target: record.Target{Panicked: c.panicked}}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
