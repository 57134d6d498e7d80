package diagnose_test

import (
	"testing"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record/code"
)

// TestPerRequest: one is no plural, and for a rare event the text says how many requests have one.
func TestPerRequest(t *testing.T) {
	for n, want := range map[float64]string{1: "a call per request", 0.97: "a call per request",
		2.5: "2.5 calls per request", 12: "12 calls per request",
		0.05: "a call per 20 requests", 0: "0 calls per request", 0.7: "0.7 calls per request"} {
		if got := diagnose.PerRequest(n, "a call", "calls"); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}

// TestAtNoPlace: a title does not end in "at".
func TestAtNoPlace(t *testing.T) {
	for want, f := range map[string]code.Frame{"an unknown place": {}, "web.list": {Function: "shop/web.list"},
		"list.go:7": {Function: "shop/web.list", File: "/src/list.go", Line: 7}} {
		if got := diagnose.At(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
