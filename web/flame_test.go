package web_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web/webtest"
)

// largeFlame is what page/test/flame.mjs returns.
type largeFlame struct {
	Console, Errors         []string
	Opened, First, Unpacked float64 // ms
	Zooms                   []float64
	Functions               int
	Found, Strip, InStrip   string
}

// TestLargeFlameGraph: a profile of many stacks is shown whole, and each of its functions can be found. How long it
// takes is logged. REDLINE_STACKS=100000 makes it as large as it may become.
func TestLargeFlameGraph(t *testing.T) {
	t.Parallel()
	dir, stacks := nodeModules(t), 10_000
	if asked, err := strconv.Atoi(os.Getenv("REDLINE_STACKS")); err == nil {
		stacks = asked
	}
	html := page(t, reporttest.Profiled(t, stacks))
	file := filepath.Join(t.TempDir(), "report.html")
	must(t, os.WriteFile(file, []byte(html), 0o644))
	var s largeFlame
	webtest.Walk(t, dir, "flame.mjs", &s, file, webtest.Shots(t))
	if len(s.Console)+len(s.Errors) > 0 {
		t.Errorf("console: %q, errors: %q", s.Console, s.Errors)
	}
	t.Logf("%d stacks: a page of %d bytes, ready after %.0f ms; unpacked in %.1f ms, first painted in %.1f ms, "+
		"zooms in %.1f ms", stacks, len(html), s.Opened,
		s.Unpacked, s.First, s.Zooms)
	want := map[string]bool{}
	for _, one := range reporttest.Grown(stacks) {
		for _, f := range one.Functions {
			want[f] = true
		}
	}
	if s.Functions != len(want) {
		t.Errorf("%d functions in the table, want %d", s.Functions, len(want))
	}
	if !strings.Contains(s.Strip, "leaf.call") || s.InStrip != s.Strip {
		t.Errorf("the pointer found %q in the strip of narrow boxes, a click %q", s.Strip, s.InStrip)
	}
	if !strings.HasSuffix(s.Found, " functions") || strings.Contains(s.Found, "no match") {
		t.Errorf("found %q", s.Found)
	}
}
