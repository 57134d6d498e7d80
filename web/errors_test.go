package web_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web/webtest"
)

// sortedColumn is what a column shows after one click on its heading, and after another.
type sortedColumn struct{ Aria, Once, Twice []string }

// TestErrorsInBrowser follows a reader who asks what failed, how often, and what happened at that time.
func TestErrorsInBrowser(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "report.html")
	must(t, os.WriteFile(file, []byte(page(t, reporttest.Bundle(t, reporttest.Options{}))), 0o644))
	var s struct {
		Console, Torn, Without []string
		Failures               [][]string
		Sorted                 map[string]sortedColumn
		Hash, Bar, Instant     string
	}
	webtest.Walk(t, nodeModules(t), "errors.mjs", &s, file, webtest.Shots(t))
	if len(s.Console) > 0 {
		t.Errorf("console: %q", s.Console)
	}
	want := [][]string{
		{"status", "status 500", "order", "10", "0.02 %", "6.25 s to 27.4 s"},
		{"timeout", "no answer within the timeout", "query", "2", "< 0.01 %", "18.23 s"},
	}
	if !reflect.DeepEqual(s.Failures, want) {
		t.Errorf("errors by message %q, want %q", s.Failures, want)
	}
	// The click selects the windows in which it was seen; the run began at 04:20:00 UTC.
	if s.Hash != "#t=18.2,18.4" || !strings.Contains(s.Bar, "04:20:18.2 to 04:20:18.4") || !strings.Contains(s.Instant, "s · 04:20:18.") {
		t.Errorf("address %q, selection %q, instant %q", s.Hash, s.Bar, s.Instant)
	}
	for name, c := range s.Sorted {
		back := slices.Clone(c.Twice)
		slices.Reverse(back)
		if len(c.Aria) != 2 || c.Aria[0] == c.Aria[1] || slices.Contains(c.Aria, "none") || len(c.Once) < 2 ||
			reflect.DeepEqual(c.Once, c.Twice) {
			t.Errorf("%s: sorted %q, then %q", name, c.Once, c.Twice)
		}
		if name == "failures" && !reflect.DeepEqual(c.Once, back) {
			t.Errorf("%s: %q is not the reverse of %q", name, c.Once, c.Twice)
		}
	}
	if len(s.Torn) > 0 || len(s.Without) == 0 {
		t.Errorf("names broken within a word: %q; without places to break: %q", s.Torn, s.Without)
	}
}
