package assess

import (
	"testing"

	"github.com/redline-go/redline/record"
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
