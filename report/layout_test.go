package report

import "testing"

// TestFit: what is cut ends between words, and leaves no parenthesis open nor a comma before the dots.
func TestFit(t *testing.T) {
	for text, want := range map[string]string{
		"short enough":                                    "short enough",
		"waiting for a database connection":               "waiting for a database ...",
		"behind 10 others (6.4 % of the time)":            "behind 10 others ...",
		"a lock (held) by reloads of the whole":           "a lock (held) by reloads ...",
		"30 % waiting for a lock, 13 % for a goroutine":   "30 % waiting for a lock ...",
		"(all of this is in one single pair of brackets)": "(all of this is in one ...",
		"main.aVeryLongFunctionNameWithoutAnyBreak":       "main.aVeryLongFunctionName ...",
	} {
		if got := fit(text, 30); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
