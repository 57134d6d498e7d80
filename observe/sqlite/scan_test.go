package sqlite

import "testing"

// TestRunsAgain: a table is read again for each row of the table before it in the same loop, or of the query around
// it, but not for a co-routine's.
func TestRunsAgain(t *testing.T) {
	plan := []step{
		{2, 0, "CO-ROUTINE subquery"}, {5, 2, "SCAN releases"}, {9, 0, "SCAN subquery"}, {12, 0, "SEARCH users USING INDEX u (id=?)"},
		{20, 0, "CORRELATED SCALAR SUBQUERY 2"}, {23, 20, "SCAN notes"}, {30, 0, "USE TEMP B-TREE FOR ORDER BY"},
	}
	want := map[string]bool{"SCAN releases": false, "SCAN subquery": false, "SEARCH users USING INDEX u (id=?)": true, "SCAN notes": true}
	for at, s := range plan {
		if again, ok := want[s.detail]; ok && runsAgain(plan, at) != again {
			t.Errorf("%s runs again: %v", s.detail, !again)
		}
	}
}
