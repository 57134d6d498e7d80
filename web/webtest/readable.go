package webtest

import (
	"strings"
	"testing"
)

// Readable holds a page, a file or an address, to what readers need who have other eyes or no mouse: text has the contrast
// that WCAG 2 asks for (4.5:1, large text 3:1) in light and dark, the keyboard reaches controls in order and shows where
// it is, nothing moves where motion is not wanted, headings leave out no level, and controls have names. It looks once
// the page shows selector.
func Readable(t *testing.T, dir, page, selector string) {
	t.Helper()
	var s struct {
		Faint, Unseen, Moving, Unnamed []string
		First                          string
		Focused                        int
		Headings                       []int
	}
	Walk(t, dir, "access.mjs", &s, page, selector)
	if len(s.Faint) > 0 {
		t.Errorf("too faint: %s", strings.Join(s.Faint, "\n"))
	}
	if len(s.Unnamed) > 0 {
		t.Errorf("without a name: %s", strings.Join(s.Unnamed, "\n"))
	}
	if !strings.HasPrefix(s.First, "Skip to") || s.Focused < 5 || len(s.Unseen) > 0 {
		t.Errorf("the keyboard begins at %q and reaches %d controls, of which it does not show %q", s.First, s.Focused, s.Unseen)
	}
	if len(s.Moving) > 0 {
		t.Errorf("moves: %q", s.Moving)
	}
	for i, level := range s.Headings {
		if i == 0 && level != 1 || i > 0 && (level == 1 || level > s.Headings[i-1]+1) {
			t.Errorf("headings of levels %v", s.Headings)
			break
		}
	}
}
