package web_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/compare"
	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web"
	"github.com/redline-go/redline/web/webtest"
)

// recorded opens the bundle of a real run of a service of the corpus.
func recorded(t *testing.T, name string) (*record.Record, *record.Summary) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	must(t, corpus.Unpack("../corpus/fixtures/"+name+corpus.PackExt, dir))
	rec, s, err := assess.Bundle(dir)
	must(t, err)
	return rec, s
}

// TestRealReportInBrowser clicks through the report of a real run: headline, findings and figures are those of its
// summary, and every section that its bundle fills is there.
func TestRealReportInBrowser(t *testing.T) {
	t.Parallel()
	rec, s := recorded(t, "feed-shelf")
	var html, text bytes.Buffer
	must(t, web.Report(&html, rec, s))
	must(t, report.Text(&text, s, report.TextOptions{All: true, Width: 100}))
	seen := browse(t, html.String())
	if want := report.HeadlineOf(s).Title; seen.Headline != want || seen.Findings != len(s.Findings) {
		t.Errorf("headline %q, want %q; %d findings, want %d", seen.Headline, want, seen.Findings, len(s.Findings))
	}
	if len(seen.Canvases) < 10 || seen.Flames == nil || len(seen.Flames.Tabs) == 0 || !seen.Zoomed {
		t.Errorf("%d charts, flame graphs %+v, zoomed %v", len(seen.Canvases), seen.Flames, seen.Zoomed)
	}
	for _, c := range seen.Canvases {
		if c.Pixels < 1000 {
			t.Errorf("%s drew %d pixels", c.Chart, c.Pixels)
		}
	}
	unwrapped := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	selectors := []string{".quantiles tr:not(:last-child) td:nth-child(2)", ".weigh span"}
	shown := show(t, "real", html.String(), selectors...)
	for _, selector := range selectors {
		if len(shown.Texts[selector]) == 0 {
			t.Errorf("nothing at %s", selector)
		}
		for _, figure := range shown.Texts[selector] {
			if !strings.Contains(unwrapped(text.String()), unwrapped(figure)) {
				t.Errorf("%s: the command line does not say %q", selector, figure)
			}
		}
	}
}

// TestRealComparisonInBrowser compares two real runs, which are too short for intervals: the page says so, and shows
// where they differ.
func TestRealComparisonInBrowser(t *testing.T) {
	t.Parallel()
	a, sa := recorded(t, "feed-shelf")
	b, sb := recorded(t, "tenant-gateway")
	var html bytes.Buffer
	must(t, web.Compare(&html, web.Observed{Record: a, Summary: sa}, web.Observed{Record: b, Summary: sb}))
	seen := show(t, "real", html.String(), "h1", ".metrics tbody tr", ".warning li", "canvas")
	if want := []string{"No figure could be compared"}; !slices.Equal(seen.Texts["h1"], want) {
		t.Errorf("answer %q, want %q", seen.Texts["h1"], want)
	}
	rows := seen.Texts[".metrics tbody tr"]
	if len(rows) < 5 || !strings.Contains(rows[0], "the runs are too short") || len(seen.Texts["canvas"]) < 2 {
		t.Errorf("figures %q, %d canvases", seen.Texts[".metrics tbody tr"], len(seen.Texts["canvas"]))
	}
}

// TestComparisonInBrowser: where b serves twice as many requests, its throughput is 100 % better, as the command line says.
func TestComparisonInBrowser(t *testing.T) {
	t.Parallel()
	var sides [2]web.Observed
	for i := range sides {
		sides[i] = web.Observed{Record: reporttest.Bundle(t, reporttest.Options{Windows: 2000, Twice: i == 1}), Summary: &record.Summary{}}
		must(t, sides[i].Record.ReadJSON(record.SummaryFile, sides[i].Summary))
	}
	var html, text bytes.Buffer
	must(t, web.Compare(&html, sides[0], sides[1]))
	must(t, compare.Text(&text, compare.Runs(sides[0].Record, sides[1].Record)))
	seen := show(t, "comparison", html.String(), "h1", ".metrics tbody th", ".metrics .interval > span:first-of-type")
	if !strings.Contains(seen.Texts["h1"][0], "throughput 100\u00a0% better") {
		t.Errorf("answer %q", seen.Texts["h1"])
	}
	for _, words := range seen.Texts[".metrics .interval > span:first-of-type"] {
		if !strings.Contains(text.String(), words) {
			t.Errorf("the command line does not say %q:\n%s", words, text.String())
		}
	}
}

// TestCompilersRemarksInBrowser: the compiler's remark on a hot line is shown with the line in a flame graph.
func TestCompilersRemarksInBrowser(t *testing.T) {
	t.Parallel()
	rec, s := recorded(t, "feed-shelf")
	var said code.Compiler
	must(t, rec.ReadJSON(code.File, &said))
	i := slices.IndexFunc(said.Lines, func(l code.HotLine) bool { return len(l.Remarks) > 0 })
	if i < 0 {
		t.Fatal("the compiler said nothing")
	}
	hot := said.Lines[i]
	var html bytes.Buffer
	must(t, web.Report(&html, rec, s))
	file := filepath.Join(t.TempDir(), "report.html")
	must(t, os.WriteFile(file, html.Bytes(), 0o644))
	var seen struct {
		Errors []string
		Lines  map[string][][2]string
	}
	webtest.Walk(t, nodeModules(t), "remarks.mjs", &seen, file, hot.Function)
	shown := func(lines [][2]string) bool {
		return slices.ContainsFunc(lines, func(l [2]string) bool {
			return l[0] == strconv.Itoa(hot.Line) && strings.Contains(l[1], hot.Remarks[0].Text)
		})
	}
	if len(seen.Errors) > 0 || !slices.ContainsFunc(slices.Collect(maps.Values(seen.Lines)), shown) {
		t.Errorf("errors %q, lines of %s %q, want %q at line %d", seen.Errors, hot.Function, seen.Lines, hot.Remarks[0].Text, hot.Line)
	}
}
