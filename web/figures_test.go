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
// the report file. What the figures of pages look like is TestPageWritesTheSameFigures' subject.
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
	l := s.Load
	for name, figure := range map[string]string{
		"rate": notation.Rate(l.Rate), "requests": notation.Count(l.Requests),
		"p50": notation.Duration(l.Latency.P50), "p90": notation.Duration(l.Latency.P90),
		"p95": notation.Duration(l.Latency.P95), "p99": notation.Duration(l.Latency.P99), "p99.9": notation.Duration(l.Latency.P999),
		"max": notation.Duration(l.Latency.Max), "errors": notation.Percent(float64(l.Errors) / float64(l.Requests)),
	} {
		if !strings.Contains(text.String(), figure) {
			t.Errorf("%s: the command line does not say %q", name, figure)
		}
	}
}

// figures are all texts and numbers of a JSON value, by where they stand.
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

// TestPageWritesTheSameFigures holds the page's TypeScript to the table that package
// notation is held to.
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
