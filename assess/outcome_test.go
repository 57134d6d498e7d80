package assess

import (
	"testing"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
)

func TestUnexpectedAnswersWarn(t *testing.T) {
	for name, c := range map[string]struct {
		requests, unexpected int64
		want                 int
	}{"most": {1000, 770, 1}, "one in 100": {1000, 10, 0}, "eleven in 1000": {1000, 11, 1}, "no load": {0, 0, 0}} {
		if got := unexpected(&record.LoadSummary{Requests: c.requests, Unexpected: c.unexpected}); len(got) != c.want {
			t.Errorf("%s: warnings %q, want %d", name, got, c.want)
		}
	}
}

// TestBusyHostIsACaution: every note warns, and one that takes a third of the CPUs is said first.
func TestBusyHostIsACaution(t *testing.T) {
	for share, want := range map[float64]string{0.3: "", 0.4: "Busy. Wait."} {
		var s record.Summary
		noted(&s, []findings.Finding{{Title: "Busy", Remedy: "Wait.", Share: share}})
		if s.Caution != want || len(s.Warnings) != 1 || s.Warnings[0] != "Busy. Wait." {
			t.Errorf("%v: caution %q, warnings %q", share, s.Caution, s.Warnings)
		}
	}
}
