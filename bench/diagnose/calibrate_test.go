//go:build linux

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/record/findings"
)

func TestCalibrationCountsClaimsThatAreNear(t *testing.T) {
	page := calibration([]calibrated{
		{Case: "sick/a", Cause: "x", Claimed: 3, Measured: 2.1, Pairs: 1, Of: "throughput", Then: "the pool"},
		{Case: "sick/b", Cause: "x", Claimed: 2, Measured: 3.1, Pairs: 1},
		{Case: "sick/c", Why: "the cause\nwas not found"},
	})
	for _, want := range []string{"1 of 2 claims", "MISSED",
		"| sick/a | x | 3.00x | 2.10x | 1.43 | throughput | the pool |", "1.55", "the cause was not found"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in:\n%s", want, page)
		}
	}
	for _, floor := range []struct{ claimed, measured, off float64 }{{14, 92, 1}, {14, 7, 2}} {
		c := calibrated{Claimed: floor.claimed, Measured: floor.measured, AtLeast: true}
		if off := c.off(); off != floor.off || !strings.Contains(c.line(), "at least 14.00x") {
			t.Errorf("at least 14x, measured %.0fx: off by %.2f, want %.2f: %s", floor.measured, off, floor.off, c.line())
		}
	}
	if calibration(nil) != "" {
		t.Error("a section without figures")
	}
}

func TestTwinIsAServiceThatReadsTheVariable(t *testing.T) {
	b := &bench{options: options{root: filepath.Join("..", "..", "corpus")}}
	if c := (corpus.Case{Kind: corpus.Sick, Name: "recipe-box"}); !b.twin(c) {
		t.Error("recipe-box has one")
	}
	if c := (corpus.Case{Kind: corpus.Sick, Name: "map-tiles"}); b.twin(c) {
		t.Error("map-tiles has none")
	}
}

func TestMedianAndTheExpectedFinding(t *testing.T) {
	if m := median([]float64{3, 1, 2, 10}); m != 2.5 {
		t.Errorf("median %v", m)
	}
	s := side{found: findings.Findings{Findings: []findings.Finding{{Cause: "y"}, {Cause: "x", GainCeiling: 2}}}}
	if f, ok := s.expected(corpus.Case{Findings: []corpus.Expect{{Cause: "x"}}}); !ok || f.GainCeiling != 2 {
		t.Errorf("%+v %v", f, ok)
	}
}

// TestCalibrationGoesOn: figures of claims alone are stored, and a later session
// measures what they lack or could not compare.
func TestCalibrationGoesOn(t *testing.T) {
	o := options{json: filepath.Join(t.TempDir(), "results.json"), add: true}
	first := newBench(o, nil, io.Discard)
	first.results.Calibration = []calibrated{
		{Case: "sick/shop", Claimed: 2, Measured: 3}, {Case: "sick/desk", Why: "the cause was not found"},
	}
	if err := first.writeFigures(); err != nil {
		t.Fatal(err)
	}
	second := newBench(o, nil, io.Discard)
	if err := second.keepOld(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"shop": true, "desk": false, "new": false} {
		if got := second.compared(corpus.Case{Kind: "sick", Name: name}); got != want {
			t.Errorf("%s: compared before %v, want %v", name, got, want)
		}
	}
	if left := second.results.Calibration; len(left) != 1 || left[0].Case != "sick/shop" {
		t.Errorf("left are %+v", left)
	}
}

// TestCalibrationKeepsOnlyItsOwn: a file that is torn or of another machine is an error, and is not overwritten.
func TestCalibrationKeepsOnlyItsOwn(t *testing.T) {
	root, redline := fake(t)
	file := filepath.Join(root, "results.json")
	for name, text := range map[string]string{
		"torn": `{"schema": "redline.diagn`, "of another machine": `{"schema": "redline.diagnosis/1", "host": {"cpu_model": "another"}}`,
		"of another schema": `{"schema": "redline.diagnosis/0"}`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		err := command(t.Context(), []string{"-corpus", root, "-redline", redline, "-calibrate", "-o", file}, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("a file that is %s: %v", name, err)
		}
		if left, err := os.ReadFile(file); err != nil || string(left) != text {
			t.Errorf("a file that is %s became %q, %v", name, left, err)
		}
	}
}

// TestCalibrationKeepsBundles: -keep names a folder of this process's directory, wherever the corpus is.
func TestCalibrationKeepsBundles(t *testing.T) {
	root, redline := fake(t)
	for path, text := range map[string]string{
		"sick/shop/main.go": "package main\n\nimport \"os\"\n\nfunc main() { os.Getenv(\"FIXED\") }\n",
		"sick.json":         `{"findings":[{"rank":1,"cause":"sleep","gain_ceiling":2}]}`,
		"summary.json":      `{"load":{"rate":1,"latency_ns":{"mean":1}}}`,
	} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	script, err := os.ReadFile(redline)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(redline, append(script, "cp \"$(dirname \"$0\")/summary.json\" \"$2\"\n"...), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var out strings.Builder
	err = command(t.Context(), []string{"-corpus", root, "-redline", redline, "-calibrate", "-keep", "kept"}, &out, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join("kept", "shop.0.0", "summary.json"))
	if err != nil || !strings.Contains(out.String(), "2.00x | 1.00x") {
		t.Errorf("%v\n%s", err, &out)
	}
}
