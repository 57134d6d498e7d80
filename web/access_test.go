package web_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web"
	"github.com/redline-go/redline/web/webtest"
)

// TestPagesCanBeReadByAll: text has the contrast that WCAG 2 asks for (4.5:1, large text 3:1) in light and dark,
// the keyboard reaches controls in order and shows where it is, nothing moves where motion is not wanted, and headings
// leave out no level.
func TestPagesCanBeReadByAll(t *testing.T) {
	t.Parallel()
	dir := nodeModules(t)
	two := observed(t, "")
	var compared bytes.Buffer
	must(t, web.Compare(&compared, two[0], two[1]))
	for name, html := range map[string]string{
		"report": page(t, reporttest.Bundle(t, reporttest.Options{})), "decision": decisionPage(t, ""),
		"lab": labPage(t, ""), "compare": compared.String(),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name+".html")
			must(t, os.WriteFile(file, []byte(html), 0o644))
			var s struct {
				Faint, Unseen, Moving []string
				First                 string
				Focused               int
				Headings              []int
			}
			webtest.Walk(t, dir, "access.mjs", &s, file)
			if len(s.Faint) > 0 {
				t.Errorf("too faint: %s", strings.Join(s.Faint, "\n"))
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
		})
	}
}
