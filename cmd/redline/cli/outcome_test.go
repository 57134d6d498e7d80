package cli

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redline-go/redline/record"
)

// TestOutcome: which code a run ends with, and which reason comes first if there
// are several.
func TestOutcome(t *testing.T) {
	well := func(change func(s *record.Summary)) *record.Summary {
		s := &record.Summary{
			Load: record.LoadSummary{Requests: 10}, Generator: record.Generator{Valid: true,
				Validity: record.ValidityValid, WhyInvalid: []string{}},
			Thresholds: []record.ThresholdResult{{Expr: "p99 < 1s", OK: true}},
		}
		change(s)
		return s
	}
	failed := func(s *record.Summary) {
		s.Thresholds = append(s.Thresholds, record.ThresholdResult{Expr: "p99 < 1us"})
	}
	invalid := func(s *record.Summary) {
		s.Generator = record.Generator{Validity: record.ValidityInvalid, WhyInvalid: []string{"late", "full"}}
	}
	for name, c := range map[string]struct {
		change func(s *record.Summary)
		run    error
		code   int
		why    string
	}{
		"well":                   {func(*record.Summary) {}, nil, ExitOK, ""},
		"a threshold":            {failed, nil, ExitFailed, "threshold failed: p99 < 1us"},
		"invalid":                {invalid, nil, ExitUndecided, "the measurement is invalid: late; full"},
		"invalid, and a failure": {func(s *record.Summary) { failed(s); invalid(s) }, nil, ExitUndecided, "the measurement is invalid"},
		"not judged": {func(s *record.Summary) { failed(s); s.Generator = record.Generator{Validity: record.ValidityUnknown} }, nil,
			ExitUndecided, "its validity is unknown"},
		"nothing ended":   {func(s *record.Summary) { failed(s); invalid(s); s.Load.Requests = 0 }, nil, ExitUndecided, "no request finished"},
		"all failed":      {func(s *record.Summary) { failed(s); invalid(s); s.Load.Errors = 10 }, nil, ExitUndecided, "every request failed"},
		"an error":        {failed, errors.New("the target ended"), ExitUndecided, "the target ended"},
		"an interruption": {func(s *record.Summary) { failed(s); invalid(s) }, context.Canceled, ExitInterrupted, "interrupted"},
	} {
		code, text := ExitOK, ""
		if err := Outcome(well(c.change), c.run); err != nil {
			code, text = ExitOf(err)
		}
		if code != c.code || !strings.Contains(text, c.why) || (text == "") != (c.why == "") {
			t.Errorf("%s: exit %d, %q, want %d, %q", name, code, text, c.code, c.why)
		}
	}
}
