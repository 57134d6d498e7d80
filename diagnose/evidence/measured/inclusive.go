package measured

import (
	"cmp"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
)

// Inclusive sums a profile's values by function: what each takes itself and in all that it calls. A closure
// counts as the function that it is written in, a recursive function once. The zero value is ready.
type Inclusive struct {
	sums, depths map[string]float64 // depths: the sum of value times calls below the function
	lines        map[string]map[code.Frame]float64
}

// Add adds a stack, innermost frame first, for those of its functions that counts accepts.
func (c *Inclusive) Add(stack []code.Frame, value float64, counts func(name string, f code.Frame) bool) {
	if c.sums == nil {
		c.sums, c.depths, c.lines = map[string]float64{}, map[string]float64{}, map[string]map[code.Frame]float64{}
	}
	seen := map[string]bool{}
	for i, f := range stack {
		name := callstack.Enclosing(f.Function)
		if seen[name] || !counts(name, f) {
			continue
		}
		seen[name] = true
		c.sums[name] += value
		c.depths[name] += value * float64(i)
		if c.lines[name] == nil {
			c.lines[name] = map[code.Frame]float64{}
		}
		c.lines[name][f] += value
	}
}

// Deepest returns the innermost function with more than least, at its line with most, and its sum: a function
// has no more than the one that calls it. ok is false if there is none.
func (c *Inclusive) Deepest(least float64) (at code.Frame, sum float64, ok bool) {
	var deepest string
	for name, sum := range c.sums {
		if sum > least && (deepest == "" || cmp.Or(cmp.Compare(sum, c.sums[deepest]), cmp.Compare(c.depths[name], c.depths[deepest]),
			cmp.Compare(name, deepest)) < 0) {
			deepest = name
		}
	}
	if deepest == "" {
		return code.Frame{}, 0, false
	}
	return Heaviest(c.lines[deepest], CompareFrames), c.sums[deepest], true
}
