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
	for name, c := range map[string]struct {
		load     record.LoadSummary
		panicked string
		want     string
	}{
		"all well":                          {record.LoadSummary{Requests: 1000}, "", ""},
		"one connection in a thousand lost": {lost, "", ""},
		"a tenth lost, most by timeouts":    {slow, "", "10 % of the requests failed: timeout 70, eof 30."},
		"lost and refused": {refused, "",
			"20 % of the requests failed: eof 200. 50 % of the answers had a status that the scenario does not expect: 503 500."},
		"one panic among many answers": {lost, "the service panicked in 1 request: no stock, in main.take (main.go:4)",
			"The service panicked in 1 request: no stock, in main.take (main.go:4)."},
	} {
		if got := failed(&record.Summary{Load: c.load, Target: record.Target{Panicked: c.panicked}}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
