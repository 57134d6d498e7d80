package mistake

import (
	"fmt"
	"slices"
	"strings"
)

// Nearest returns the known name that a misspelt one probably meant, or "" where
// none is near: up to a third of its letters may differ, and two of a short one.
func Nearest(written string, known []string) string {
	best, distance := "", max(2, len(written)/3)+1
	for _, name := range known {
		if d := editDistance(strings.ToLower(written), strings.ToLower(name)); d < distance {
			best, distance = name, d
		}
	}
	return best
}

// DidYouMean is the hint for an unknown name: the nearest known one, else the
// known names if they are few, else nothing.
func DidYouMean(written string, known []string) string {
	switch best := Nearest(written, known); {
	case best != "":
		return fmt.Sprintf("did you mean %q?", best)
	case len(known) == 0:
		return ""
	case len(known) <= 16:
		sorted := slices.Sorted(slices.Values(known))
		return "known here: " + strings.Join(sorted, ", ")
	}
	return ""
}

// editDistance is the optimal string alignment distance: insertions,
// deletions, substitutions and swaps of neighbours cost 1 each. Long input is
// cut: a name that long is no typing error.
func editDistance(a, b string) int {
	const longest = 64
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	var rows [3][longest + 1]int
	for j := range len(b) + 1 {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		current, previous, before := &rows[i%3], &rows[(i+2)%3], &rows[(i+1)%3]
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}
