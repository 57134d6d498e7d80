package stat

import "math"

// Change is one lasting change of level in a history.
type Change struct {
	At int // values[At] is the first of the new level
	// Before and After are the means of the levels on either side, up to the next
	// change points.
	Before, After float64
	// P is the two-sided p-value of Student's t test between those levels.
	P float64
}

// leastSegment is the shortest level: with two values the t test has a variance.
const leastSegment = 2

// ChangePoints returns where the level of a history shifts, in order: energy
// statistics divide it in two again and again (E-divisive, Matteson and James
// 2014, with the distance |x-y|), and a division stays when Student's t test
// between the adjacent levels has a p-value of at most maxP, in place of the
// original's permutations (Hunter: Fleming et al., ICPE 2023, section 3).
// Divisions that fail only because a later one is too near are tried again
// after the weakest is taken out, as there. Variances have n-1.
//
// Values must be in order of time; the result is nil for fewer than four of
// them, or when one is not finite. Time grows with the square of their number.
func ChangePoints(values []float64, maxP float64) []Change {
	if len(values) < 2*leastSegment || !finite(values) {
		return nil
	}
	var at []int
	divide(values, 0, maxP, &at)
	return prune(values, at, maxP)
}

// loose is the factor by which p may exceed maxP while the search continues: a real change
// next to another one looks weak until its neighbour is cut off.
const loose = 10

func divide(values []float64, offset int, maxP float64, at *[]int) {
	cut := energyCut(values)
	if cut == 0 || studentT(values[:cut], values[cut:]) > math.Min(1, loose*maxP) {
		return
	}
	divide(values[:cut], offset, maxP, at)
	*at = append(*at, offset+cut)
	divide(values[cut:], offset+cut, maxP, at)
}

// prune removes the weakest change until all that are left hold.
func prune(values []float64, at []int, maxP float64) []Change {
	for {
		changes := levels(values, at)
		weakest := -1
		for i, c := range changes {
			if c.P > maxP && (weakest < 0 || c.P > changes[weakest].P) {
				weakest = i
			}
		}
		if weakest < 0 {
			return changes
		}
		at = append(at[:weakest], at[weakest+1:]...)
	}
}

func levels(values []float64, at []int) []Change {
	var changes []Change
	for i, cut := range at {
		from, to := 0, len(values)
		if i > 0 {
			from = at[i-1]
		}
		if i+1 < len(at) {
			to = at[i+1]
		}
		before, after := values[from:cut], values[cut:to]
		changes = append(changes, Change{At: cut, Before: mean(before), After: mean(after), P: studentT(before, after)})
	}
	return changes
}

// energyCut returns where dividing values gives the largest scaled energy
// distance between the parts (Matteson and James, equations 5 and 6), 0 when
// they are too few or all alike. Moving the cut by one value changes the sums by
// that value's distances to both parts, so all cuts together cost n^2.
func energyCut(values []float64) int {
	n := len(values)
	if n < 2*leastSegment {
		return 0
	}
	// Start with everything on the right.
	var between, left, right float64
	for i := range values {
		for j := i + 1; j < n; j++ {
			right += math.Abs(values[i] - values[j])
		}
	}
	best, cut := 0.0, 0
	for k := 1; k <= n-leastSegment; k++ {
		moved := values[k-1]
		toLeft, toRight := 0.0, 0.0
		for _, v := range values[:k-1] {
			toLeft += math.Abs(moved - v)
		}
		for _, v := range values[k:] {
			toRight += math.Abs(moved - v)
		}
		left, right = left+toLeft, right-toRight
		between += toRight - toLeft
		if k < leastSegment {
			continue
		}
		m, r := float64(k), float64(n-k)
		energy := 2*between/(m*r) - left/(m*(m-1)/2) - right/(r*(r-1)/2)
		if q := m * r / (m + r) * energy; q > best {
			best, cut = q, k
		}
	}
	return cut
}
