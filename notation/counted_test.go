package notation

import "testing"

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
