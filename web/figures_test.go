package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web/live"
	"github.com/redline-go/redline/web/webtest"
)

// TestOneBundleHasOneSetOfFigures renders a bundle as the live page at the run's end, the command line, JSON and
// the report file. TestPageWritesTheSameFigures tests what the figures of pages look like.
func TestOneBundleHasOneSetOfFigures(t *testing.T) {
	t.Parallel()
	rec := reporttest.Bundle(t, reporttest.Options{})
	s := &record.Summary{}
	must(t, rec.ReadJSON(record.SummaryFile, s))

	p, err := live.Open(t.Context(), live.Options{Address: "127.0.0.1:0"})
	must(t, err)
	defer p.Close()
	p.Finish(rec, s, "")
	answer, err := http.Get(p.URL() + "report.json?viewer=none")
	must(t, err)
	defer answer.Body.Close()
	var shown map[string]any
	must(t, json.NewDecoder(answer.Body).Decode(&shown))
	file := payload(t, page(t, rec))
	var text, asJSON bytes.Buffer
	must(t, report.Text(&text, s, report.TextOptions{All: true, Width: 100}))
	must(t, report.JSON(&asJSON, s))
	var summary map[string]any
	must(t, json.Unmarshal(asJSON.Bytes(), &summary))

	if !reflect.DeepEqual(shown, file) {
		t.Error("the live page's report is not that of the file")
	}
	for _, key := range []string{"load", "generator", "thresholds", "findings"} {
		got, want := figures("", file["summary"].(map[string]any)[key]), figures("", summary[key])
		if len(want) == 0 || !maps.Equal(got, want) {
			t.Errorf("%s: the file has %v, summary.json %v", key, got, want)
		}
	}
	shownFigures(t, page(t, rec), p.URL(), s, text.String())
}

// shownFigures compares what a browser shows of the file and of the live page with the command line's text and with the
// summary's numbers, to the digit.
func shownFigures(t *testing.T, html, url string, s *record.Summary, text string) {
	t.Helper()
	l := s.Load
	head := []string{notation.Rate(l.Rate), notation.Duration(l.Latency.P50), notation.Duration(l.Latency.P95),
		notation.Duration(l.Latency.P99), notation.Duration(l.Latency.Max), notation.Percent(float64(l.Errors) / float64(l.Requests))}
	table := []string{notation.Duration(l.Latency.P50), notation.Duration(l.Latency.P90), notation.Duration(l.Latency.P95),
		notation.Duration(l.Latency.P99), notation.Duration(l.Latency.P999), notation.Duration(l.Latency.Max)}
	thresholds := []string{}
	for _, judged := range s.Thresholds {
		thresholds = append(thresholds, report.ThresholdValue(judged))
	}
	want := map[string][]string{".figures dd": head, ".quantiles tr:not(:last-child) td:nth-child(2)": table,
		".threshold-table td:nth-child(3)": thresholds}
	file := filepath.Join(t.TempDir(), "report.html")
	must(t, os.WriteFile(file, []byte(html), 0o644))
	var seen struct {
		Errors     []string
		File, Live map[string][]string
	}
	webtest.Walk(t, nodeModules(t), "figures.mjs", &seen, append([]string{file, url}, slices.Collect(maps.Keys(want))...)...)
	if len(seen.Errors) > 0 {
		t.Errorf("errors %q", seen.Errors)
	}
	for _, shown := range []map[string][]string{want, seen.File, seen.Live} {
		slices.Sort(shown[".threshold-table td:nth-child(3)"]) // the page has those that failed first
	}
	for selector, figures := range want {
		if got := seen.File[selector]; !slices.Equal(got, figures) {
			t.Errorf("%s: the file shows %q, summary.json holds %q", selector, got, figures)
		}
		if got := seen.Live[selector]; !slices.Equal(got, figures) {
			t.Errorf("%s: the live page shows %q, summary.json holds %q", selector, got, figures)
		}
		for _, figure := range figures {
			if !strings.Contains(text, figure) {
				t.Errorf("%s: the command line does not say %q", selector, figure)
			}
		}
	}
}

// figures are all texts and numbers of a JSON value, by their path.
func figures(at string, v any) map[string]any {
	all := map[string]any{}
	switch v := v.(type) {
	case map[string]any:
		for key, part := range v {
			maps.Copy(all, figures(at+"."+key, part))
		}
	case []any:
		for i, part := range v {
			maps.Copy(all, figures(fmt.Sprint(at, "[", i, "]"), part))
		}
	case nil: // a list without elements
	default:
		all[at] = v
	}
	return all
}

// TestPageWritesTheSameFigures tests the page's TypeScript with the same table as package
// notation.
func TestPageWritesTheSameFigures(t *testing.T) {
	t.Parallel()
	dir := nodeModules(t)
	path, err := filepath.Abs("../notation/testdata/cases.json")
	must(t, err)
	text, err := os.ReadFile(path)
	must(t, err)
	var cases []struct {
		Form, Want string
		Value      *float64
	}
	must(t, json.Unmarshal(text, &cases))
	out, err := webtest.Command(t, dir, "node", "test/format.mjs", path)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []*string
	must(t, json.Unmarshal([]byte(out), &got))
	if len(got) != len(cases) || len(cases) == 0 {
		t.Fatalf("%d figures of %d cases", len(got), len(cases))
	}
	for i, c := range cases {
		switch {
		case got[i] == nil:
			t.Errorf("the page has no %s", c.Form)
		case *got[i] != c.Want:
			t.Errorf("case %d, %s: the page writes %q, want %q", i, c.Form, *got[i], c.Want)
		}
	}
}
