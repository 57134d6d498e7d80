package shelf

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web/webtest"
)

// seen is what page/test/shelf.mjs returns.
type seen struct {
	Console, Errors, Foreign, Marks, Searched, Sides, Fates, Graphs []string
	Address, Title, Card, Report                                    string
	Opened, Drawn, Injected                                         int
	Overflow                                                        map[string]float64
}

func walk(t *testing.T, dir string) seen {
	t.Helper()
	var s seen
	webtest.Walk(t, "../page", "shelf.mjs", &s, serve(t, dir, "127.0.0.1:0", "").URL(), webtest.Shots(t))
	if len(s.Console)+len(s.Errors)+len(s.Foreign)+s.Injected > 0 {
		t.Errorf(
			"console %q, errors %q, asked %q, %d elements that the page does not make",
			s.Console,
			s.Errors,
			s.Foreign,
			s.Injected,
		)
	}
	for where, pixels := range s.Overflow {
		if pixels > 0 {
			t.Errorf("%s is %v px wider than the screen", where, pixels)
		}
	}
	return s
}

func TestShelfInBrowser(t *testing.T) {
	t.Parallel()
	s := walk(t, stock(t, reporttest.Options{}))
	if s.Title != "7 runs" || s.Drawn != 7 || !slices.Equal(s.Searched, []string{"compared-a"}) {
		t.Errorf("title %q, %d rows, found %q", s.Title, s.Drawn, s.Searched)
	}
	slices.Sort(s.Marks)
	if want := []string{"aborted", damaged, damaged, unfinished, "threshold failed", "threshold failed", older}; fmt.Sprint(
		s.Marks,
	) != fmt.Sprint(
		want,
	) {
		t.Errorf("marks %q", s.Marks)
	}
	if !slices.Equal(s.Sides, []string{"compared-b", "compared-a"}) &&
		!slices.Equal(s.Sides, []string{"compared-a", "compared-b"}) {
		t.Errorf("compared %q", s.Sides)
	}
	if !slices.Equal(s.Fates, []string{"stayed", "stayed", "stayed", "stayed"}) ||
		!slices.Equal(s.Graphs, []string{"cpu", "requests"}) {
		t.Errorf("findings %q, graphs %q", s.Fates, s.Graphs)
	}
	if !strings.Contains(s.Card, "within noise") || s.Report != "Requests wait for a database connection" {
		t.Errorf("card %q, report %q", s.Card, s.Report)
	}
}

// TestRunsThatAreNotWholeInBrowser: each has a page that says what is wrong with it, and the list follows its folder.
func TestRunsThatAreNotWholeInBrowser(t *testing.T) {
	t.Parallel()
	dir := stock(t, reporttest.Options{})
	want := map[string][2]string{ // heading, and a part of the text
		"running": {"Bottleneck unknown.", "has not been judged"},
		"killed":  {"Bottleneck unknown.", "aborted"},
		"damaged": {"This run cannot be read", "invalid character"},
		"older":   {"This run cannot be read", "redline.run/0"},
		"torn":    {"This run cannot be read", "windows.parquet is missing"},
	}
	args := []string{serve(t, dir, "127.0.0.1:0", "").URL(), dir, webtest.Shots(t)}
	var s struct {
		Errors, Renamed []string
		Runs            map[string]struct{ Heading, Text string }
		Overflow        map[string]float64
	}
	webtest.Walk(t, "../page", "states.mjs", &s, append(args, slices.Sorted(maps.Keys(want))...)...)
	if len(s.Errors) > 0 {
		t.Errorf("errors %q", s.Errors)
	}
	for run, says := range want {
		if got := s.Runs[run]; got.Heading != says[0] || !strings.Contains(got.Text, says[1]) {
			t.Errorf("%s: %q, want %q with %q:\n%s", run, got.Heading, says[0], says[1], got.Text)
		}
	}
	for where, pixels := range s.Overflow {
		if pixels > 0 {
			t.Errorf("%s is %v px wider than the screen", where, pixels)
		}
	}
	if !slices.Equal(s.Renamed, []string{"7 runs", "7 runs", "0"}) {
		t.Errorf("a run was renamed: %q", s.Renamed)
	}
}

func TestHostileShelfInBrowser(t *testing.T) {
	t.Parallel()
	evil := `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'">` + "\u202e"
	walk(t, stock(t, reporttest.Options{Evil: evil}))
}

// TestThousandRunsInBrowser: only the rows in sight are drawn.
func TestThousandRunsInBrowser(t *testing.T) {
	t.Parallel()
	dir := stock(t, reporttest.Options{})
	for i := range 1000 {
		name := filepath.Join(dir, fmt.Sprintf("2026-%04d", i))
		must(t, os.Mkdir(name, 0o700))
		must(
			t,
			os.WriteFile(
				filepath.Join(name, "run.json"),
				[]byte(`{"schema": "redline.run/1", "state": "complete", "window_ns": 100000000}`),
				0o600,
			),
		)
	}
	s := walk(t, dir)
	t.Logf("1,007 runs were on the screen %d ms after the navigation began", s.Opened)
	if s.Title != "1,007 runs" || s.Drawn > 40 {
		t.Errorf("title %q, %d rows drawn", s.Title, s.Drawn)
	}
}

// TestRealRunsInBrowser: among runs of real services, a user opens one and compares two; all are there afterwards.
func TestRealRunsInBrowser(t *testing.T) {
	t.Parallel()
	dir, names := t.TempDir(), []string{"address-rules", "feed-shelf", "tenant-gateway"}
	var opened *record.Summary
	for _, name := range names {
		must(t, corpus.Unpack("../../corpus/fixtures/"+name+corpus.PackExt, filepath.Join(dir, name)))
		_, summary, err := assess.Bundle(filepath.Join(dir, name))
		must(t, err)
		if name == "feed-shelf" {
			opened = summary
		}
	}
	var s struct {
		Console, Errors, Names, Marks, Sides []string
		Title, Report                        string
		Findings, Charts, Fates, Cut         int
		Overflow                             map[string]float64
	}
	url := serve(t, dir, "127.0.0.1:0", "").URL()
	webtest.Walk(t, "../page", "real-shelf.mjs", &s, url, "feed-shelf", "tenant-gateway", webtest.Shots(t))
	slices.Sort(s.Names)
	if len(s.Console)+len(s.Errors)+len(s.Marks) > 0 || s.Title != "3 runs" || !slices.Equal(s.Names, names) {
		t.Errorf("console %q, errors %q, marks %q, title %q, runs %q", s.Console, s.Errors, s.Marks, s.Title, s.Names)
	}
	if want := report.HeadlineOf(opened).Title; s.Report != want || s.Findings != len(opened.Findings) || s.Charts < 10 {
		t.Errorf("report %q, want %q; %d findings, want %d; %d charts", s.Report, want, s.Findings, len(opened.Findings), s.Charts)
	}
	if s.Cut > 0 {
		t.Errorf("%d rows hold more than they show", s.Cut)
	}
	if !slices.Equal(s.Sides, []string{"feed-shelf", "tenant-gateway"}) || s.Fates == 0 {
		t.Errorf("compared %q, %d findings", s.Sides, s.Fates)
	}
	for where, pixels := range s.Overflow {
		if pixels > 0 {
			t.Errorf("%s is %v px wider than the screen", where, pixels)
		}
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != len(names) {
		t.Errorf("%d runs are left of %d", len(left), len(names))
	}
}
