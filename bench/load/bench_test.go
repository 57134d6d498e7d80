//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/bench/load/process"
	"github.com/redline-go/redline/bench/load/serve"
	"github.com/redline-go/redline/benchmark"
)

// TestMain lets the harness start this test's binary as its servers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "serve-") {
		if err := command(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestShort runs the harness as make bench-load does, for a second a tool. Its
// figures say nothing; that all of them are there does.
func TestShort(t *testing.T) {
	if _, err := serve.FindNginx(); err != nil {
		t.Skip(err)
	}
	if _, err := process.ChooseCores(); err != nil {
		t.Skip(err)
	}
	binary := filepath.Join(t.TempDir(), "redline")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", binary, "../../cmd/redline").CombinedOutput(); err != nil {
		t.Fatalf("build redline: %v\n%s", err, out)
	}
	file := filepath.Join(t.TempDir(), "results", "out.json")
	var stdout, stderr bytes.Buffer
	err := command(t.Context(), []string{"-short", "-only", "http1,stall", "-peers", "wrk,ghz", "-redline", binary, "-o",
		file}, &stdout, &stderr)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	r, err := openResults(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sections) != 2 || r.section("http1") == nil || r.section("stall") == nil {
		t.Fatalf("sections: %+v\n%s", r.Sections, stderr.Bytes())
	}
	for _, m := range r.section("stall").Marks {
		if m.Verdict == notMeasured {
			t.Errorf("%+v", m)
		}
	}
	table := stdout.String()
	for _, want := range []string{"HTTP/1.1: requests per CPU second against floor", "| redline |", "| truth |",
		"k6 is skipped: not among -peers", "A smoke run"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table has no %q:\n%s", want, table)
		}
	}
}

func TestOldSectionsAndRemarksAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.json")
	r, err := openResults(file)
	if err != nil {
		t.Fatal(err)
	}
	r.put(&section{Name: "stall", Title: "Stalls", Raw: []byte("{}")})
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(benchmark.Table(file))
	if err != nil {
		t.Fatal(err)
	}
	const remark = "p50 misses because of the moon."
	if err := os.WriteFile(benchmark.Table(file), []byte(string(table)+remark+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err = openResults(file); err != nil {
		t.Fatal(err)
	}
	r.put(&section{Name: "http1", Title: "Plain", Raw: []byte("{}"), Marks: []mark{{What: "a|b", Verdict: missed}}})
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	if table, err = os.ReadFile(benchmark.Table(file)); err != nil {
		t.Fatal(err)
	}
	text := string(table)
	plain, stalls := strings.Index(text, "## Plain"), strings.Index(text, "## Stalls")
	if plain < 0 || stalls < plain || strings.Count(text, remark) != 1 || !strings.Contains(text, `a\|b`) {
		t.Errorf("plain at %d, stalls at %d:\n%s", plain, stalls, text)
	}
}

func TestFiguresAreBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "-", 1500: "1.50 µs", 87134: "87.1 µs", 999600: "1000 µs", 150 * time.Millisecond: "150 ms", 2500 * time.Millisecond: "2.50 s",
	} {
		if got := brief(d); got != want {
			t.Errorf("brief(%d) = %q, want %q", d, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567.4: "1,234,567", -1234: "-1,234"} {
		if got := thousands(v); got != want {
			t.Errorf("thousands(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestUnknownNamesAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-only", "http9"}, {"-peers", "curl"}, {"-rounds", "0"}, {"-seconds", "1500ms"}, {"extra"}} {
		if _, err := parse(args, &bytes.Buffer{}); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

// TestCostsArePaired: a round that only one of the two has says nothing of their difference.
func TestCostsArePaired(t *testing.T) {
	alone := entrant{Outings: []outing{{Round: 0, PerCPU: 100}, {Round: 1, PerCPU: 200}, {Round: 3, PerCPU: 50}}}
	observing := entrant{Outings: []outing{{Round: 1, PerCPU: 100}, {Round: 2, PerCPU: 1}, {Round: 3, PerCPU: 50}}}
	got := pairedCosts(alone, observing)
	if want := []float64{math.Ln2, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
