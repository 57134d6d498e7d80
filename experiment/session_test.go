package experiment

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSession runs the experiment whose metric no busy host moves: sizes. Its result is
// kept, and not measured again where the session is resumed.
func TestSession(t *testing.T) {
	chosen, err := Find(Suite(), []string{"E-struct-layout"})
	if err != nil {
		t.Fatal(err)
	}
	measured := 0
	s := Session{Checkout: "..", Dir: t.TempDir(), Quick: true, Seed: 1, OnResult: func(int, int, Result) { measured++ }}
	all, err := s.Run(t.Context(), chosen)
	if err != nil {
		t.Fatal(err)
	}
	// Whether the host lets it make enough rounds in its time is not for this test.
	r, ok := all.Of("E-struct-layout")
	if !ok || r.Verdict != Confirmed && r.Verdict != Inconclusive || math.Abs(r.A/(24*8192)-1) > 0.01 ||
		math.Abs(r.B/(16*8192)-1) > 0.01 || r.Rounds == 0 || !r.Quick || all.Go == "" || measured != 1 {
		t.Errorf("%+v", r)
	}
	s.Resume = true
	if again, err := s.Run(t.Context(), chosen); err != nil || measured != 1 || len(again.Results) != 1 {
		t.Errorf("resumed: %d measured, %v", measured, err)
	}
}

// TestItself: a baseline against itself is no gain, and its result is not kept.
func TestItself(t *testing.T) {
	chosen, err := Find(Suite(), []string{"E-struct-layout"})
	if err != nil {
		t.Fatal(err)
	}
	s := Session{Checkout: "..", Dir: t.TempDir(), Quick: true, Seed: 1}
	r, err := s.Itself(t.Context(), chosen[0])
	if err != nil || math.Abs(r.B/r.A-1) > 0.001 || math.Abs(r.A/(24*8192)-1) > 0.01 || r.Verdict != NoEffect && r.Verdict != Inconclusive {
		t.Errorf("%v, %+v", err, r)
	}
	if kept, err := os.ReadDir(s.Dir); err != nil || len(kept) > 0 {
		t.Errorf("%v, %v", kept, err)
	}
}

// checkout is a folder with a lab/ that holds one package of benchmarks.
func checkout(t *testing.T, benchmarks string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module lab\n\ngo 1.24\n", "micro/x_test.go": "package micro\n" + benchmarks} {
		path := filepath.Join(dir, "lab", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestNotHere: an experiment whose benchmark skips, on either side, is not applicable, and
// its reason is kept.
func TestNotHere(t *testing.T) {
	t.Setenv("GOWORK", "off")
	dir := checkout(t, `
import ("os"; "testing")
func BenchmarkNodes(b *testing.B) { b.Skip("one NUMA node (hint: a host with two)") }
func BenchmarkRing(b *testing.B) {
	if os.Getenv("REDLINE_LAB_SIDE") == "tuned" {
		b.Skipf("io_uring: %s", "operation not permitted")
	}
	for b.Loop() {
	}
}`)
	s := Session{Checkout: dir, Dir: t.TempDir(), Quick: true, Seed: 1}
	all, err := s.Run(t.Context(), []Experiment{
		{ID: "C-numa", Claim: "C-numa", Folder: "micro", Benchmark: "Nodes", Metric: "sec/op"},
		{ID: "C-iouring", Claim: "C-iouring", Folder: "micro", Benchmark: "Ring", Metric: "sec/op"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, why := range map[string]string{"C-numa": "one NUMA node (hint: a host with two)",
		"C-iouring": "io_uring: operation not permitted"} {
		r, ok := all.Of(id)
		if !ok || r.Verdict != NotHere || r.Why != why || r.Estimate != 0 || r.Rounds != 0 {
			t.Errorf("%s: %+v", id, r)
		}
	}
}

// TestQuickIsNotFull: a quick verdict is enough to resume a quick session, and not a full one.
func TestQuickIsNotFull(t *testing.T) {
	t.Setenv("GOWORK", "off")
	measured := 0
	s := Session{Checkout: checkout(t, "import \"testing\"\nfunc BenchmarkNodes(b *testing.B) { b.Skip(\"one NUMA node\") }"),
		Dir: t.TempDir(), Seed: 1, Resume: true, OnResult: func(int, int, Result) { measured++ }}
	chosen := []Experiment{{ID: "C-numa", Claim: "C-numa", Folder: "micro", Benchmark: "Nodes", Metric: "sec/op"}}
	for _, c := range []struct {
		quick bool
		want  int // measured until then
	}{{true, 1}, {true, 1}, {false, 2}, {false, 2}, {true, 2}} {
		s.Quick = c.quick
		all, err := s.Run(t.Context(), chosen)
		if r, ok := all.Of("C-numa"); err != nil || measured != c.want || !ok || r.Go == "" || r.Host.CPUs == 0 {
			t.Errorf("quick %v: %d measured, want %d; %+v, %v", c.quick, measured, c.want, r, err)
		}
	}
}

// TestOtherAnswersFail: a side whose answers differ fails its experiment rather than
// winning it, and the others still run.
func TestOtherAnswersFail(t *testing.T) {
	t.Setenv("GOWORK", "off")
	dir := checkout(t, `
import ("os"; "testing")
func BenchmarkWrong(b *testing.B) {
	for b.Loop() {
		if os.Getenv("REDLINE_LAB_SIDE") == "tuned" {
			b.Fatal("another body")
		}
	}
}
func BenchmarkSilent(b *testing.B) { b.SkipNow() }
func BenchmarkNodes(b *testing.B) { b.Skip("one NUMA node") }`)
	s := Session{Checkout: dir, Dir: t.TempDir(), Quick: true, Seed: 1}
	all, err := s.Run(t.Context(), []Experiment{
		{ID: "A-wire", Claim: "A-wire", Folder: "micro", Benchmark: "Wrong", Metric: "sec/op"},
		{ID: "A-affinity", Claim: "A-affinity", Folder: "micro", Benchmark: "Silent", Metric: "sec/op"},
		{ID: "C-numa", Claim: "C-numa", Folder: "micro", Benchmark: "Nodes", Metric: "sec/op"},
	})
	if err == nil || !strings.Contains(err.Error(), "A-wire: Wrong of side b: --- FAIL: BenchmarkWrong") ||
		!strings.Contains(err.Error(), "another body") {
		t.Error(err)
	}
	if err == nil || !strings.Contains(err.Error(), "A-affinity: Silent is skipped without a reason") {
		t.Error(err)
	}
	if len(all.Results) != 1 || all.Results[0].ID != "C-numa" {
		t.Errorf("%+v", all.Results)
	}
}

// TestSessionFails: an experiment that cannot run is an error of its own, and an end of the
// session keeps what there is.
func TestSessionFails(t *testing.T) {
	missing := Experiment{ID: "E-none", Claim: "E-none", Benchmark: "NoSuchBenchmark", Metric: "sec/op"}
	s := Session{Checkout: "..", Dir: t.TempDir(), Quick: true}
	if _, err := s.Run(t.Context(), []Experiment{missing}); err == nil || !strings.Contains(err.Error(), "E-none: ") {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := s.Run(ended, Suite()[:1]); !errors.Is(err, context.Canceled) || len(all.Results) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestInterruptedKeepsFailures ends a session while its second experiment runs: that the first
// failed is reported beside the interrupt, and the second is no failure.
func TestInterruptedKeepsFailures(t *testing.T) {
	t.Setenv("GOWORK", "off")
	dir := checkout(t, `
import "testing"
func BenchmarkWrong(b *testing.B) { b.Fatal("another body") }
func BenchmarkNodes(b *testing.B) { for b.Loop() {} }`)
	ctx, interrupt := context.WithCancelCause(t.Context())
	why := errors.New("Ctrl-C")
	s := Session{Checkout: dir, Dir: t.TempDir(), Quick: true, Seed: 1, OnLine: func(e Experiment, line string) {
		if e.ID == "C-numa" && strings.Contains(line, "round") {
			interrupt(why)
		}
	}}
	all, err := s.Run(ctx, []Experiment{
		{ID: "A-wire", Claim: "A-wire", Folder: "micro", Benchmark: "Wrong", Metric: "sec/op"},
		{ID: "C-numa", Claim: "C-numa", Folder: "micro", Benchmark: "Nodes", Metric: "sec/op"},
	})
	var failed FailedError
	if !errors.Is(err, why) || !errors.As(err, &failed) || len(failed) != 1 ||
		!strings.Contains(failed.Error(), "A-wire: Wrong of side") || len(all.Results) != 0 {
		t.Errorf("%v, %+v", err, all.Results)
	}
}

// TestLastFailureIsNotTheInterrupt: a benchmark that fails as the session is interrupted has
// failed; that it was interrupted as well takes nothing from that.
func TestLastFailureIsNotTheInterrupt(t *testing.T) {
	t.Setenv("GOWORK", "off")
	dir := checkout(t, `
import "testing"
func BenchmarkWrong(b *testing.B) { b.Fatal("another body") }`)
	wrong := Experiment{ID: "A-wire", Claim: "A-wire", Folder: "micro", Benchmark: "Wrong", Metric: "sec/op"}
	ctx, interrupt := context.WithCancel(t.Context())
	s := Session{Checkout: dir, Dir: t.TempDir(), Quick: true, Seed: 1}
	one, err := s.Itself(ctx, wrong)
	interrupt()
	if err == nil || Interrupted(ctx, err) || !strings.Contains(err.Error(), "another body") || one.Verdict != "" {
		t.Errorf("%v, %+v", err, one)
	}
	if _, err := s.Itself(ctx, wrong); !Interrupted(ctx, err) {
		t.Errorf("after the end: %v", err)
	}
}
