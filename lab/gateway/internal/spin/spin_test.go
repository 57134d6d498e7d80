package spin

import "testing"

func TestRoundsAreDone(t *testing.T) {
	seen := map[uint64]bool{}
	for _, n := range []Rounds{-1, 0, 1, 2, 1000} {
		seen[n.Do()] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d results, want one of no rounds and one of each number of rounds", len(seen))
	}
}
