package cpu_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

// withSources returns what is found, at least one, where the sources say this of the service's lines.
func withSources(t *testing.T, b *Builder, lines code.Compiler) []findings.Finding {
	t.Helper()
	rec, body := b.Open(t)
	if err := disk.WriteJSON(rec.Dir, code.File, lines); err != nil {
		t.Fatal(err)
	}
	out, err := diagnose.Run(rec, body, suite.All())
	if err != nil || len(out.Findings) == 0 {
		t.Fatalf("%+v, %v", out.Findings, err)
	}
	return out.Findings
}

// TestForLog: what requests compute only for a logger's arguments is logging, with the lines that pass it; what runs in such a call
// without a request, such as the server itself, is not, nor is the logger's own work there.
func TestForLog(t *testing.T) {
	const dump = "shop/web.dump@dump.go:59"
	first := func(b *Builder, lines code.Compiler) findings.Finding { return withSources(t, b, lines)[0] }
	logs := code.Compiler{Logged: []code.Frame{{Function: "shop/web.(*stream).ServeHTTP", File: "stream.go", Line: 85},
		{Function: "shop/web.run", File: "run.go", Line: 9}}}
	json := []string{"encoding/json.Marshal", dump, "shop/web.(*stream).ServeHTTP@stream.go:85"}
	if f := first(Healthy().Sample(6*time.Second, json...), logs); f.Cause != "cpu-logging" || f.Where.Function != "shop/web.dump" ||
		!strings.HasPrefix(f.Title, "Computing log arguments takes") || !strings.Contains(f.Remedy, "stream.go:85") {
		t.Errorf("%s at %s: %s %s", f.Cause, f.Where.Function, f.Title, f.Remedy)
	}
	if f := first(Healthy().Sample(6*time.Second, json...), code.Compiler{}); f.Cause != "cpu-json" {
		t.Errorf("without sources: %s", f.Cause)
	}
	if f := first(Healthy().Background(6*time.Second, json[0], dump, "shop/web.run@run.go:9"), logs); f.Cause != "background-work" {
		t.Errorf("in no request: %s", f.Cause)
	}
	own := Healthy().Sample(6*time.Second, "log/slog.(*Logger).Debug", "shop/web.(*stream).ServeHTTP@stream.go:85")
	if f := first(own, logs); f.Cause != "cpu-logging" || !strings.HasPrefix(f.Title, "Writing log lines takes") {
		t.Errorf("the logger's own work: %s, %s", f.Cause, f.Title)
	}
}

// TestSearch: by its source, a line looks at one rule after another, and formats text to compare each. The search is named, and the
// formatting follows from it. What compiles an expression for each rule, allocates too little for many rules, or is in no such
// loop is named for what it does; so is a filter whose answers are as large as what it looks at.
func TestSearch(t *testing.T) {
	const find, match = "shop/rules.(*Repository).Find@rules.go:66", "shop/rules.(*Rule).Matches@rule.go:113"
	first := func(b *Builder, lines code.Compiler) string {
		t.Helper()
		found := withSources(t, b, lines)
		f := found[0]
		if f.Cause != "cpu-hot-function" {
			return f.Cause
		}
		for _, f := range found[1:] {
			t.Errorf("%s beside the search", f.Cause)
		}
		return fmt.Sprintf("%s at %s:%d %s", f.Cause, f.Where.Function, f.Where.Line, f.Where.Detail)
	}
	many := func(doing string, objects int64) *Builder {
		b := Healthy()
		n := objects * int64(b.Requests())
		return b.Sample(5*time.Second, doing, match, find).Sample(2*time.Second, "strings.HasPrefix", match, find).
			Alloc(n, 48*n, doing, match, find)
	}
	line := code.Frame{Function: "shop/rules.(*Repository).Find", File: "rules.go", Line: 66}
	searches, filters := code.Compiler{Searches: []code.Frame{line}}, code.Compiler{Filters: []code.Frame{line}}
	answers := func(b *Builder, bytes float64) *Builder {
		return b.Counter(series.LoadBytesOut, "", 100*b.Requests()).Counter(series.LoadBytesIn, "", bytes*b.Requests())
	}
	const search = "cpu-hot-function at shop/rules.(*Repository).Find:66 through rules.(*Rule).Matches"
	for name, c := range map[string]struct {
		b     *Builder
		lines code.Compiler
		want  string
	}{
		"search":  {many("fmt.Sprintf", 1800), searches, search},
		"no loop": {many("fmt.Sprintf", 1800), code.Compiler{}, "cpu-format"},
		"few":     {many("fmt.Sprintf", 20), searches, "cpu-format"},
		"filter":  {answers(many("fmt.Sprintf", 1800), 200), filters, search},
		"list":    {answers(many("fmt.Sprintf", 1800), 2e6), filters, "cpu-format"},
		"long": {New(4, 40*time.Millisecond).CPU(2, 1.9, 1.8, 0.05, -1).Sample(9*time.Second, "strings.HasPrefix", match, find).
			Sample(time.Second, "shop/web.total@web.go:80"), searches, search},
		"compiles": {many("regexp.MustCompile", 1800), searches, "cpu-regexp-compile"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := first(c.b, c.lines); got != c.want {
				t.Errorf("first is %s, want %s", got, c.want)
			}
		})
	}
}
