package goruntime

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/record/operation"
)

// TestOthersAreCounted: calls of statements beyond the probe's bound are in the source's health; without any it says nothing.
func TestOthersAreCounted(t *testing.T) {
	for others, want := range map[int64]string{0: "", 152554: "152554 calls were of more statements and routes than"} {
		o := Operations{samples: 2, result: &operation.Operations{Others: others}}
		if h := o.Health(); !h.OK || !strings.HasPrefix(h.Why, want) || (h.Why == "") != (want == "") {
			t.Errorf("%d others: %+v", others, h)
		}
	}
}
