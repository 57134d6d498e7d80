package notation

import (
	"math"
	"testing"
)

func TestCounted(t *testing.T) {
	for _, c := range []struct {
		n            int64
		noun, plural string
		want         string
	}{
		{0, "call", "", "0 calls"},
		{1, "call", "", "1 call"},
		{2, "query", "queries", "2 queries"},
		{12000, "call", "", "12,000 calls"},
	} {
		if got := Counted(c.n, c.noun, c.plural); got != c.want {
			t.Errorf("Counted(%d, %q, %q) = %q, want %q", c.n, c.noun, c.plural, got, c.want)
		}
	}
}

// TestWholeAndBound: a count shows no digits of a mean, and what was set shows none that nobody set.
func TestWholeAndBound(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Whole(2.5), "3"}, {Whole(-0.4), "0"}, {Whole(12345.6), "12,346"}, {Whole(math.NaN()), Unknown},
		{Bound(0.05), "5 %"}, {Bound(0.025), "2.5 %"}, {Bound(0.1), "10 %"}, {Bound(0), "0 %"}, {Bound(10), "1,000 %"},
		{Bound(math.Inf(1)), "infinite"}, {Bound(math.NaN()), Unknown},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
