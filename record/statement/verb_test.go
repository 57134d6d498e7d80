package statement

import "testing"

func TestVerb(t *testing.T) {
	for _, c := range []struct {
		text, verb      string
		writes, utility bool
	}{
		{"insert into orders values (?)", "INSERT", true, false},
		{" \n(SELECT 1) UNION (SELECT 2)", "SELECT", false, false},
		{"DELETE\nFROM orders", "DELETE", true, false},
		{"BEGIN", "BEGIN", false, true},
		{"begin;", "BEGIN", false, true},
		{"-- a comment\nUPDATE orders SET n = 1", "", false, true},
		{"", "", false, true},
	} {
		if got := Verb(c.text); got != c.verb || Writes(c.text) != c.writes || Utility(c.text) != c.utility {
			t.Errorf("%q: verb %q, writes %v, utility %v", c.text, got, Writes(c.text), Utility(c.text))
		}
	}
}
