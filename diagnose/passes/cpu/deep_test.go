package cpu_test

import (
	"slices"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/cpu"
)

// A recursive parser that each request runs is deeper than the runtime keeps of a stack: most of
// its samples show neither the handler nor the server. It is the request's work all the same.
func TestDeepRecursionOfRequests(t *testing.T) {
	const query = "shop/rules.ParseQuery@query.go:40"
	deep := func(n int) []string {
		frames := []string{"shop/rules.(*parser).read@parser.go:90"}
		for len(frames) < n {
			frames = append(frames, "shop/rules.(*parser).expr@parser.go:60", "shop/rules.(*parser).sequence@parser.go:75")
		}
		return frames
	}
	parses := func(cut time.Duration, whole ...string) *Builder {
		b := Healthy().Background(cut, deep(64)[:64]...) // as the runtime leaves it
		for range 10 {
			b.Sample(s/10, append(deep(20), whole...)...)
		}
		return b
	}
	Expect(t, cpu.Background, parses(4*s, query, "shop/web.decide@web.go:12"))
	// Without a whole stack its owner is unknown, and it is no background work either.
	Expect(t, cpu.Background, Healthy().Background(4*s, deep(64)[:64]...))
	// Shallower stacks begin where they say.
	Expect(t, cpu.Background, Healthy().Background(4*s, slices.Concat(deep(30), []string{"shop/rules.(*watch).run@watch.go:9"})...),
		"background-work at parser.go:90")
}
