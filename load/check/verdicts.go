package check

import (
	"fmt"

	"github.com/redline-go/redline/load/failure"
)

// Verdicts map HTTP statuses to errors, for requests that expect the same status. The
// errors are allocated once, so a target that fails every request costs no memory per
// failure.
type Verdicts struct {
	expect   int // zero takes 200 to 399
	failures [1000]failure.Error
}

// NewVerdicts returns the verdicts of requests that expect a status; zero is
// any from 200 to 399.
func NewVerdicts(expect int) *Verdicts {
	v := &Verdicts{expect: expect}
	for status := range v.failures {
		v.failures[status] = failure.Error{Kind: failure.Status, Err: unexpected{status, expect}}
	}
	return v
}

// Of returns nil for a status that counts as success, else a *failure.Error of kind
// failure.Status. Statuses have three digits.
func (v *Verdicts) Of(status int) error {
	if v.expect > 0 && status != v.expect || v.expect == 0 && (status < 200 || status > 399) {
		return &v.failures[status]
	}
	return nil
}

// unexpected is a status that the plan does not take as success.
type unexpected struct{ status, expect int }

func (u unexpected) Error() string {
	if u.expect > 0 {
		return fmt.Sprintf("status %d where %d is expected", u.status, u.expect)
	}
	return fmt.Sprintf("status %d", u.status)
}
