package account

import (
	"testing"

	"github.com/redline-go/redline/record"
)

// TestChecksAreBounded: a summary lists the failed checks and loses no count.
func TestChecksAreBounded(t *testing.T) {
	all := make([]record.CheckResult, 5000)
	for i := range all {
		all[i] = record.CheckResult{Request: "request", Name: "check", Passed: 2}
	}
	all[4999].Failed = 1
	short := shortChecks(all)
	if len(short) != mostChecks+1 || short[0].Failed != 1 {
		t.Fatalf("%d checks, the first %+v", len(short), short[0])
	}
	passed, failed := int64(0), int64(0)
	for _, c := range short {
		passed, failed = passed+c.Passed, failed+c.Failed
	}
	if passed != 10_000 || failed != 1 {
		t.Errorf("%d passed and %d failed, want 10,000 and 1", passed, failed)
	}
	if few := shortChecks(all[:mostChecks]); len(few) != mostChecks {
		t.Errorf("%d checks of %d", len(few), mostChecks)
	}
}
