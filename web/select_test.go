package web_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web/webtest"
)

// followed is what the sections of a page show under a selection.
type followed struct {
	Hash, Covers, P50, Requests, Anatomy, Flame, Bar string
	Rows                                             [][]string
	Statement                                        []string
	Slow, Outside, Marks                             int
}

// selectedPage is what page/test/select.mjs returns.
type selectedPage struct {
	Console, Errors                                  []string
	Whole, Dragged, Undivided, Linked, Cleared, Keys followed
	Section, Escaped, Marked, Found                  string
	Files                                            map[string]string
	Detail, Columns, Named, Bands, Fewer             []string
}

func selectIn(t *testing.T, rec *record.Record) selectedPage {
	t.Helper()
	dir := nodeModules(t)
	file := filepath.Join(t.TempDir(), "report.html")
	must(t, os.WriteFile(file, []byte(page(t, rec)), 0o644))
	var s selectedPage
	webtest.Walk(t, dir, "select.mjs", &s, file, webtest.Shots(t))
	if len(s.Console)+len(s.Errors) > 0 {
		t.Errorf("console: %q, errors: %q", s.Console, s.Errors)
	}
	return s
}

// TestSelectionFiltersThePage drags, follows a link and uses keys, and compares the figures with those that the
// record gives for the same spans.
func TestSelectionFiltersThePage(t *testing.T) {
	t.Parallel()
	rec := reporttest.Bundle(t, reporttest.Options{})
	s := selectIn(t, rec)
	if s.Whole.Hash != "" || s.Whole.P50 != "28.4 ms" || s.Whole.Slow != 10 || s.Whole.Marks == 0 || s.Whole.Bar != "" {
		t.Errorf("without a selection: %+v", s.Whole)
	}
	if !strings.HasPrefix(s.Dragged.Hash, "#t=") || s.Dragged.Covers != "requests that ended from 9 s to 15 s" {
		t.Errorf("dragged: %+v", s.Dragged)
	}
	p50 := func(from, to time.Duration) string {
		h, err := rec.Histogram("", histogram.Latency, timebase.Span{From: from, To: to})
		must(t, err)
		return notation.Duration(h.ValueAtPercentile(50))
	}
	if want := p50(9*time.Second, 15*time.Second); s.Dragged.P50 != want {
		t.Errorf("p50 of the drag: %s, want %s", s.Dragged.P50, want)
	}
	if want := p50(20*time.Second, 25*time.Second); s.Linked.P50 != want || s.Linked.Requests != "4,000" {
		t.Errorf("p50 of the link: %s of %s requests, want %s of 4,000", s.Linked.P50, s.Linked.Requests, want)
	}
	if want := []string{"query", "3,000", "600.0", "0 %"}; len(s.Linked.Rows) != 2 ||
		!slices.Equal(s.Linked.Rows[0][:4], want) {
		t.Errorf("requests of the mix from 20 s to 25 s: %q", s.Linked.Rows)
	}
	if want := "3,500"; len(s.Linked.Statement) != 5 || s.Linked.Statement[1] != want { // 70 calls per window
		t.Errorf("statement from 20 s to 25 s: %q", s.Linked.Statement)
	}
	if s.Linked.Slow >= 10 || !strings.Contains(s.Linked.Anatomy, "The selection contains no execution trace") {
		t.Errorf("slow requests %d, anatomy %q", s.Linked.Slow, s.Linked.Anatomy)
	}
	if !strings.HasPrefix(s.Linked.Flame, "From the profiles of 17.45 s to 29.9 s. 300 ms") ||
		!strings.HasPrefix(s.Dragged.Flame, "From the profiles of 5 s to 17.45 s. 700 ms") ||
		!strings.HasPrefix(s.Undivided.Flame, "Not divided by time") {
		t.Errorf("flame graphs: %q, %q, %q", s.Dragged.Flame, s.Linked.Flame, s.Undivided.Flame)
	}
	if s.Linked.Outside == 0 {
		t.Error("no finding says that it rests on nothing in the selection")
	}
	if s.Section != "#load&t=20,25" || s.Cleared.Hash != "#load" || s.Cleared.P50 != s.Whole.P50 {
		t.Errorf("section %q; cleared: %+v", s.Section, s.Cleared)
	}
	if s.Keys.Hash != "#load&t=2.25,3.75" || s.Escaped != "#load" {
		t.Errorf("keys: %q, escape: %q", s.Keys.Hash, s.Escaped)
	}
	if !strings.Contains(s.Marked, "t=") {
		t.Errorf("a finding's mark selects %q", s.Marked)
	}
}

// TestAnatomyAndInstantsFollowTheSelection: bars, the graph of requests and those of an instant show the trace or the
// snapshot of the selection, and say which.
func TestAnatomyAndInstantsFollowTheSelection(t *testing.T) {
	t.Parallel()
	dir := nodeModules(t)
	file := filepath.Join(t.TempDir(), "report.html")
	must(t, os.WriteFile(file, []byte(page(t, reporttest.Bundle(t, reporttest.Options{Timed: true}))), 0o644))
	type graph struct{ Note, Found string }
	var s struct {
		Console, Errors []string
		Moments         []struct {
			Covers       string
			Bands, First []string
			Flames       map[string]graph
		}
	}
	webtest.Walk(t, dir, "moments.mjs", &s, file, "-", "5,10", "5,20", "20,25", "29,31")
	if len(s.Console)+len(s.Errors) > 0 || len(s.Moments) != 5 {
		t.Fatalf("console %q, errors %q, %d moments", s.Console, s.Errors, len(s.Moments))
	}
	whole, early, both, none, end := s.Moments[0], s.Moments[1], s.Moments[2], s.Moments[3], s.Moments[4]
	for name, got := range map[string][2]string{
		"all":        {whole.Covers + whole.Bands[0], "30.6 ms"},
		"early":      {early.Covers, "1,000 requests of the trace of 6 s to 7 s. The goroutines that requests waited for are not divided by time."},
		"its median": {early.Bands[0], "3.06 ms"},
		"both":       {both.Bands[0], "30.6 ms"}, // (1,000 x 0.1 + 3,102 x 1.29) / 4,102 = 1.00
		"none":       {none.Bands[0], "30.6 ms"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %q, want %q", name, got[0], got[1])
		}
	}
	if !strings.HasPrefix(both.Covers, "4,102 requests of the traces of 6 s to 7 s; 17.45 s to 19.45 s, each") ||
		!strings.HasPrefix(none.Covers, "The selection contains no execution trace: the bars cover 6 s to 7 s; 17.45 s") {
		t.Errorf("both: %q; none: %q", both.Covers, none.Covers)
	}
	if whole.First[2] != "24.7 ms" || early.First[2] != "2.47 ms" {
		t.Errorf("the first part: %q of all, %q in the early trace", whole.First, early.First)
	}
	for name, c := range map[string]struct {
		got  graph
		want string
	}{
		"requests, all":    {whole.Flames["requests"], "33.4 ms, mean of all"},
		"requests, early":  {early.Flames["requests"], "From the traces of 6 s to 7 s; the goroutines that requests waited for are not divided by time. 3.34 ms"},
		"requests, none":   {none.Flames["requests"], "No trace was taken in the selection; this is the whole run. 33.4 ms"},
		"goroutines, all":  {whole.Flames["goroutine"], "1,000,000,000, goroutines. As it was 29.9 s into the run."},
		"goroutines, then": {early.Flames["goroutine"], "As it was 5 s into the run. 117,000,000, goroutines. "},
		"goroutines, far":  {none.Flames["goroutine"], "As it was 29.9 s into the run, the recorded instant nearest to the selection. 1,000,000,000"},
		"goroutines, end":  {end.Flames["goroutine"], "As it was 29.9 s into the run. 1,000,000,000"},
	} {
		if !strings.HasPrefix(c.got.Note, c.want) {
			t.Errorf("%s: %q, want %q", name, c.got.Note, c.want)
		}
	}
	if got := whole.Flames["goroutine"].Found; got != "no match" {
		t.Errorf("what is no longer there at the end: %q", got)
	}
	if got := early.Flames["goroutine"].Found; got != "6.0 % in 1 function" {
		t.Errorf("what was there at the begin: %q", got)
	}
}

// TestPageHandsOutItsFigures reads the files that the page's buttons make.
func TestPageHandsOutItsFigures(t *testing.T) {
	t.Parallel()
	s := selectIn(t, reporttest.Bundle(t, reporttest.Options{}))
	rows := func(name string) [][]string {
		all, err := csv.NewReader(strings.NewReader(s.Files[name])).ReadAll()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return all
	}
	if all := rows("throughput.csv"); len(all) != 301 || !slices.Equal(all[0], []string{"from_s",
		"successes (1/s)", "errors (1/s)", "sent (1/s)"}) {
		t.Errorf("throughput: %d lines, the first %q", len(all), all[0])
	}
	var points []map[string]any
	must(t, json.Unmarshal([]byte(s.Files["throughput.json"]), &points))
	if len(points) != 300 || points[10]["from_s"] != 1.0 {
		t.Errorf("%d points, one at %v", len(points), points[10]["from_s"])
	}
	var thresholds []map[string]any
	must(t, json.Unmarshal([]byte(s.Files["thresholds.json"]), &thresholds))
	if len(thresholds) != 4 || thresholds[0]["kept"] != "false" || thresholds[1]["value"] != "91.0 ms" ||
		thresholds[1]["limit"] != "42.0 ms" || thresholds[3]["threshold"] != "rate > 1000/s" {
		t.Errorf("thresholds, those that failed first: %v", thresholds)
	}
	for _, name := range []string{"requests.csv", "spectrum.csv", "anatomy.csv", "slow-requests.csv",
		"statements.csv", "thresholds.csv"} {
		if len(rows(name)) < 3 {
			t.Errorf("%s: %q", name, s.Files[name])
		}
	}
	if len(s.Detail) != 10 || s.Found != "order" || slices.Contains(s.Columns, "99.9 %") ||
		!slices.Contains(s.Columns, "99 %") {
		t.Errorf("detail %q, found %q, columns %q", s.Detail, s.Found, s.Columns)
	}
	// What each request of the mix did, nine tenths of what all did; a hundredth of forty is the slowest.
	want := []string{"Median request p40 to p60 27.5 ms", "Tail p99 and above 81.3 ms", "Mean  30.1 ms"}
	if !slices.Equal(s.Bands, want) {
		t.Errorf("bands %q, want %q", s.Bands, want)
	}
	if len(s.Fewer) != 2 || !strings.HasPrefix(s.Fewer[1], "Slowest") {
		t.Errorf("bands of few requests: %q", s.Fewer)
	}
	if len(s.Named) != 5 || !strings.HasPrefix(s.Named[0], "select database/sql.(*DB).conn") ||
		!strings.Contains(s.Named[4], "smaller parts") {
		t.Errorf("parts of the tail %q", s.Named)
	}
}
