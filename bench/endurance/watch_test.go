//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/record"
)

func TestTell(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"windows.parquet": 3 << 20, "traces/a.trace": 20 << 20, "traces/b.trace": 30 << 20} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(int64(size)); err != nil { // a file with holes has its size
			t.Fatal(err)
		}
		_ = f.Close()
	}
	s := &seen{memory: []int64{80 << 20, 90 << 20}, peak: 95 << 20, bundle: sizes(dir),
		run: record.Run{State: record.Complete, Sources: []record.SourceHealth{{Name: "spans", Why: "full"}}}}
	s.largest = total(s.bundle)
	var out strings.Builder
	err := options{}.describe(s, &out)
	if err == nil || !strings.Contains(err.Error(), "bundle") || strings.Contains(err.Error(), "memory") {
		t.Errorf("%v: want the bundle of 53 MB alone to be missed", err)
	}
	for _, want := range []string{"95.0 MB", "53.0 MB", "traces", "full"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not told:\n%s", want, out.String())
		}
	}
	if text := out.String(); strings.Index(text, "traces") > strings.Index(text, "windows.parquet") {
		t.Errorf("the largest is not first:\n%s", text)
	}
	s.bundle, s.largest = map[string]int64{"run.json": 1}, 1
	if err := (options{}).describe(s, &out); err != nil {
		t.Errorf("a small run fails: %v", err)
	}
}
