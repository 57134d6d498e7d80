package account

import (
	"slices"

	"github.com/redline-go/redline/record"
)

// mostChecks bounds the checks that a summary lists: a mix of 10,000 requests may have 10 times as many.
const mostChecks = 100

// shortChecks keeps all checks, or if there are too many the first ones, failed ones before others, and
// adds the rest up in one more.
func shortChecks(all []record.CheckResult) []record.CheckResult {
	if len(all) <= mostChecks {
		return all
	}
	slices.SortStableFunc(all, func(a, b record.CheckResult) int {
		switch {
		case (a.Failed > 0) == (b.Failed > 0):
			return 0
		case a.Failed > 0:
			return -1
		}
		return 1
	})
	rest := record.CheckResult{Request: otherSteps, Name: "(other checks)"}
	for _, c := range all[mostChecks:] {
		rest.Passed += c.Passed
		rest.Failed += c.Failed
	}
	return append(all[:mostChecks:mostChecks], rest)
}
