package mutations

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/compare"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/web"
)

// FuzzBundle puts bytes in the place of one file of a whole bundle, and opens,
// reports, judges and compares it. Whatever they are, it ends without a panic, in
// bounds, and prints nothing that acts.
func FuzzBundle(f *testing.F) {
	root, err := repository()
	if err != nil {
		f.Fatal(err)
	}
	all, err := newSeeds(root, f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	// A small bundle has something of every kind of file.
	seed := all[0]
	var names []string
	for _, pattern := range []string{"*.*", "profiles/cpu*", "profiles/goroutine*", "traces/*"} {
		files, err := filepath.Glob(filepath.Join(seed, pattern))
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			name, _ := filepath.Rel(seed, file)
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		data, err := os.ReadFile(filepath.Join(seed, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), data)
	}
	good, err := record.Open(all[1])
	if err != nil {
		f.Fatal(err)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, file uint8, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		bundle, err := os.MkdirTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(bundle)
		if err := os.CopyFS(bundle, os.DirFS(seed)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bundle, names[int(file)%len(names)]), data, 0o644); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read(t, bundle, good)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 2<<30 {
			t.Errorf("%d MB were allocated", grown>>20)
		}
	})
}

// read does with a bundle what every verb that takes one does.
func read(t *testing.T, bundle string, good *record.Record) {
	var b bytes.Buffer
	text := inert.NewWriter(&b, false)
	rec, err := record.Open(bundle)
	if err != nil {
		inert.Fprintf(text, "%v\n", err)
	} else {
		var stored record.Summary
		if rec.ReadJSON(record.SummaryFile, &stored) == nil {
			render(t, text, rec, &stored)
		}
		s := compare.Runs(rec, good)
		if err := compare.Text(text, s); err != nil {
			t.Error(err)
		}
		var page bytes.Buffer
		compare.WriteFlame(&page, good, rec)
		if strings.Contains(page.String(), "<script>"+mark) {
			t.Error("a function became a script")
		}
	}
	if rec, summary, err := assess.Bundle(bundle); err == nil {
		render(t, text, rec, summary)
	}
	out := outcome{name: "bundle"}
	out.inspect("output", b.String())
	if recovered(b.String()) {
		out.fail("a rule panicked: %.600s", b.String())
	}
	for _, failure := range out.failures {
		t.Error(failure)
	}
}

func render(t *testing.T, text *inert.Writer, rec *record.Record, s *record.Summary) {
	if err := report.Text(text, s, report.TextOptions{All: true, Width: 100, Record: rec}); err != nil {
		t.Error(err)
	}
	if err := report.Markdown(text, s); err != nil {
		t.Error(err)
	}
	report.JSON(text, s)
	var page bytes.Buffer
	web.Report(&page, rec, s)
	if strings.Contains(page.String(), "<script>"+mark) {
		t.Error("a name became a script")
	}
}
