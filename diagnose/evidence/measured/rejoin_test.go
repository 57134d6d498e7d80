package measured

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/record/code"
)

// A cut stack is completed by the path that nearly all whole ones have, and where these
// differ, by their common part.
func TestCutStacksAreRejoined(t *testing.T) {
	sample := func(value int64, cut bool, frames string) Sample {
		s := Sample{Value: value, Cut: cut}
		for f := range strings.FieldsSeq(frames) {
			s.Stack = append(s.Stack, code.Frame{Function: f})
		}
		return s
	}
	for _, c := range []struct {
		cut, want string
		known     bool
		whole     []Sample
	}{
		{"leaf expr", "leaf expr parse handler serve", true, []Sample{
			sample(90, false, "x expr expr parse handler serve"), sample(10, false, "expr other handler serve")}},
		{"leaf expr", "leaf expr handler serve", true, []Sample{
			sample(50, false, "expr parse handler serve"), sample(50, false, "expr other handler serve")}},
		{"leaf expr", "leaf expr", false, []Sample{
			sample(50, false, "expr parse handler serve"), sample(50, false, "expr refresh")}},
		{"leaf expr", "leaf expr", true, []Sample{sample(50, false, "leaf expr"), sample(5, false, "expr serve")}},
		{"leaf expr", "leaf expr", false, []Sample{sample(50, false, "handler serve"), sample(9, true, "expr parse")}},
		// A completed stack does not count as whole: otherwise the order would decide.
		{"leaf expr", "leaf expr", false, []Sample{sample(9, true, "expr parse"), sample(50, false, "parse handler serve")}},
	} {
		prof := &Profile{Samples: append(c.whole, sample(100, true, c.cut))}
		rejoin(prof)
		last := prof.Samples[len(prof.Samples)-1]
		var got []string
		for _, f := range last.Stack {
			got = append(got, f.Function)
		}
		if text := strings.Join(got, " "); text != c.want || last.Cut == c.known {
			t.Errorf("%s: got %s, cut %v; want %s, known %v", c.cut, text, last.Cut, c.want, c.known)
		}
	}
}
