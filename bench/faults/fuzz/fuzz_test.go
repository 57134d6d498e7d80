package fuzz

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/bench/faults/part"
)

// TestTargetsAreFound: every module's are, and each parser that reads a bundle has
// one.
func TestTargetsAreFound(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	targets, err := targetsBelow(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, target := range targets {
		rel, err := filepath.Rel(root, filepath.Join(target.Module, target.Package))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(rel)+" "+target.Name)
	}
	for _, want := range []string{
		"anatomy FuzzAnalyze", "bench/faults/mutations FuzzBundle", "diagnose FuzzProfile",
		"record/index FuzzAdvice", "lab/gateway/internal/reply FuzzAppendString",
		"probe/control FuzzParse", "record/histogram FuzzReadHlog", "record/windows FuzzReadJournal",
		"record/windows FuzzReadParquet", "notation/inert FuzzWriter",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %d targets", want, len(names))
		}
	}
	if slices.Contains(names, "bench/faults/fuzz FuzzBreaks") {
		t.Error("a function in the text of a test counts as a target")
	}
}

// cancelling ends a context when something is logged.
type cancelling context.CancelFunc

func (c cancelling) Write(p []byte) (int, error) { c(); return len(p), nil }

// TestAnInterruptIsNoFailure: targets that an interrupt ends have broken nothing.
func TestAnInterruptIsNoFailure(t *testing.T) {
	dir := t.TempDir()
	module(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "go.work"), []byte("go 1.26\n\nuse .\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result, err := run(ctx, part.Options{Trials: 1, Log: cancelling(cancel)})
	if !errors.Is(err, context.Canceled) || len(result.Failures) > 0 {
		t.Errorf("%v, failures %q", err, result.Failures)
	}
}

// TestCrashesAreCounted fuzzes a target that breaks, in a module of its own.
func TestCrashesAreCounted(t *testing.T) {
	dir := t.TempDir()
	module(t, dir)
	t.Setenv("GOWORK", "off")
	targets, err := targetsBelow(dir)
	if err != nil || len(targets) != 1 {
		t.Fatalf("%v, %v", targets, err)
	}
	// It ends at the first input that breaks the target.
	if _, err := targets[0].fuzz(t.Context(), 5*time.Minute); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("a target that breaks: %v", err)
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, "testdata", "fuzz", "FuzzBreaks", "*")); len(kept) != 1 {
		t.Errorf("%d inputs are kept", len(kept))
	}
}

// module writes a module with a target that breaks.
func module(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.26\n",
		"m_test.go": `package m

import "testing"

func FuzzBreaks(f *testing.F) {
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 2 {
			t.Error("broken")
		}
	})
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
