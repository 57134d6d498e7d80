package laws

import "math"

// wide is the ratio of a gain's ends from which it is claimed as a range: then chance alone may put one figure
// off by more than the factor of 1.5 within which a claim counts as right (docs/diagnosis.md).
const wide = 1.5

// farBelow is how many times the lower end of a gain lies below Most from which it is no matter of the cut's
// error: what remains is not known.
const farBelow = 5

// Claim returns the ends of a gain as it is printed: equal for a single figure, and +Inf as the upper end of a
// floor. Beyond Most the cut's own error decides, so nothing is claimed of it.
func (g Gain) Claim() (from, to float64) {
	known := g.Low > 1
	switch unsure := known && g.High >= wide*g.Low; {
	case g.Factor >= Most && known && g.Low < Most/farBelow:
		return g.Low, math.Inf(1)
	case g.Factor >= Most:
		return Most, math.Inf(1)
	case unsure && (g.AtLeast || g.High >= Most):
		return g.Low, math.Inf(1)
	case unsure:
		return g.Low, g.High
	case g.AtLeast:
		return g.Factor, math.Inf(1)
	}
	return g.Factor, g.Factor
}
