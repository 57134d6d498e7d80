// Package similarity says how alike two spellings are.
package similarity

import "fmt"

// Metric compares spellings: 1 of equal ones, 0 of those that share nothing.
type Metric interface {
	Compare(a, b string) float64
}

// ByName returns the metric of a name.
func ByName(name string) (Metric, error) {
	switch name {
	case "jaro-winkler":
		return JaroWinkler{Prefix: 4, Scale: 0.1}, nil
	case "dice":
		return Dice{}, nil
	}
	return nil, fmt.Errorf("similarity: no metric is called %q", name)
}

const longest = 64

// JaroWinkler weighs a common prefix (Winkler 1990).
type JaroWinkler struct {
	Prefix int
	Scale  float64
}

// Compare implements Metric for ASCII texts of up to 64 letters.
func (m JaroWinkler) Compare(a, b string) float64 {
	j := jaro(a, b)
	same := 0
	for same < min(m.Prefix, len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return j + float64(same)*m.Scale*(1-j)
}

func jaro(a, b string) float64 {
	if len(a) == 0 || len(b) == 0 || len(a) > longest || len(b) > longest {
		return 0
	}
	var inA, inB [longest]bool
	window := max(0, max(len(a), len(b))/2-1)
	matches := 0
	for i := range len(a) {
		for k := max(0, i-window); k < min(len(b), i+window+1); k++ {
			if !inB[k] && a[i] == b[k] {
				inA[i], inB[k] = true, true
				matches++
				break
			}
		}
	}
	if matches == 0 {
		return 0
	}
	swapped, k := 0, 0
	for i := range len(a) {
		if !inA[i] {
			continue
		}
		for !inB[k] {
			k++
		}
		if a[i] != b[k] {
			swapped++
		}
		k++
	}
	n := float64(matches)
	return (n/float64(len(a)) + n/float64(len(b)) + (n-float64(swapped)/2)/n) / 3
}

// Dice counts the pairs of letters that both have.
type Dice struct{}

// Compare implements Metric.
func (Dice) Compare(a, b string) float64 {
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	pairs := map[[2]byte]int{}
	for i := range len(a) - 1 {
		pairs[[2]byte{a[i], a[i+1]}]++
	}
	both := 0
	for i := range len(b) - 1 {
		p := [2]byte{b[i], b[i+1]}
		if pairs[p] > 0 {
			pairs[p]--
			both++
		}
	}
	return 2 * float64(both) / float64(len(a)+len(b)-2)
}
