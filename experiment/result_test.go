package experiment

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/gobench"
)

const hostile = "x\x1b]0;owned\x07</td><script>owned()</script>|`\n::error::owned"

func results() Results {
	return Results{Schema: Schema, Go: "go1.26.8", Results: []Result{
		{ID: "E-atomic", Claim: "E-atomic", Metric: "sec/op", Gain: Gain{3.1, 2.9, 3.4}, Verdict: Confirmed, Why: "at least 80 % of the claimed 2.95x"},
		{ID: "A-ring", Claim: "A-ring", Metric: "sec/op", Gain: Gain{0.9, 0.8, 1.1}, Verdict: Inconclusive, Why: hostile, Quick: true},
	}}
}

func TestResultsAreKept(t *testing.T) {
	dir := t.TempDir()
	if r, err := Read(dir); err != nil || len(r.Results) != 0 {
		t.Errorf("of nothing: %+v, %v", r, err)
	}
	all := results()
	for _, one := range []Result{{ID: "D-router", Verdict: Smaller}, {ID: "A-ring", Verdict: Reversed}} {
		if err := all.keep(dir, one); err != nil {
			t.Fatal(err)
		}
	}
	back, err := Read(dir)
	if err != nil || len(back.Results) != 3 {
		t.Fatalf("%+v, %v", back, err)
	}
	if r, ok := back.Of("A-ring"); !ok || r.Verdict != Reversed {
		t.Errorf("a later result stands beside the earlier: %+v", r)
	}
	for text, want := range map[string]string{`{"schema":"redline.bench/1"}`: "schema", "{": "lab.json",
		strings.Repeat(" ", maxResults+1): "at most"} {
		if err := os.WriteFile(filepath.Join(dir, ResultsFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestOtherMachines: a result keeps the host and the Go version that it was measured with, and the table marks those that differ
// from most.
func TestOtherMachines(t *testing.T) {
	dir := t.TempDir()
	old := `{"schema":"redline.lab/1","host":{"cpu_model":"EPYC","cpus":2},"go":"go1.26.8","results":[` +
		`{"id":"E-atomic","verdict":"confirmed"},{"id":"A-ring","verdict":"confirmed"}]}`
	if err := os.WriteFile(filepath.Join(dir, ResultsFile), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := all.keep(dir, Result{ID: "D-router", Verdict: Smaller, Host: all.Host, Go: "go1.27.0"}); err != nil {
		t.Fatal(err)
	}
	if all, err = Read(dir); err != nil || all.Go != "go1.26.8" || all.Host.CPUModel != "EPYC" {
		t.Fatalf("%+v, %v", all, err)
	}
	said := map[string]string{}
	for _, row := range Rows(Suite(), all) {
		said[row.ID()] = row.Why()
	}
	if said["D-router"] != " (go1.27.0)" || said["A-ring"] != "" {
		t.Errorf("%q and %q", said["D-router"], said["A-ring"])
	}
	for _, id := range []string{"E-atomic", "A-ring"} {
		if err := all.keep(dir, Result{ID: id, Host: all.Host, Go: "go1.27.0"}); err != nil {
			t.Fatal(err)
		}
	}
	if all.Go != "go1.27.0" || all.elsewhere(all.Results[0]) != "" {
		t.Errorf("all anew with another Go: %+v", all)
	}
}

// TestWidenedByItsOwnMetric: only where the deciding metric itself differed is the interval wider, and by what is
// detectable in it.
func TestWidenedByItsOwnMetric(t *testing.T) {
	report := &gobench.Report{Benchmarks: []gobench.Benchmark{{Metrics: []gobench.Metric{
		{MetricResult: verify.MetricResult{Name: "p99-sec/op", Estimate: -0.1, Low: -0.2, High: -0.05, MDE: 0.5}},
		{MetricResult: verify.MetricResult{Name: "sec/op", Estimate: -0.5, Low: -0.55, High: -0.45, MDE: 0.02}},
	}}}}
	report.AA.MDE = 0.5
	e := Experiment{ID: "E-atomic", Claim: "E-atomic", Metric: "sec/op"}
	for name, want := range map[string]float64{"lab/micro.Atomic p99-sec/op": 1 / 0.55, "lab/micro.Atomic sec/op": 1 / 0.55 / 1.02} {
		report.AA.Different = []string{name}
		if r, err := resultOf(e, report, false); err != nil || math.Abs(r.Low-want) > 1e-9 {
			t.Errorf("%s differed: at least %.4fx (%s), want %.4fx, %v", name, r.Low, r.Why, want, err)
		}
	}
}

// TestTableHoldsAllClaims: each claim has its line, decided or not, and nothing from a
// file of results gets out of its cell.
func TestTableHoldsAllClaims(t *testing.T) {
	var table bytes.Buffer
	if err := Markdown(&table, Suite(), results()); err != nil {
		t.Fatal(err)
	}
	for _, c := range Claims() {
		if !strings.Contains(table.String(), "| "+c.ID) {
			t.Errorf("%s is missing", c.ID)
		}
	}
	for _, want := range []string{"| 3.10x (2.90x to 3.40x) | sec/op | confirmed |", "not run",
		"see redline gate ([verify.md](verify.md))", "(quick)"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
	if text := table.String(); strings.Contains(text, "\x1b") || strings.Contains(text, "\n::error") {
		t.Errorf("what a result says acts:\n%s", text)
	}
	for line := range strings.Lines(table.String()) {
		if strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 8 {
			t.Errorf("a line of another form: %s", line)
		}
	}
}

// FuzzResults reads and shows what may stand in a directory.
func FuzzResults(f *testing.F) {
	f.Add([]byte(`{"schema":"redline.lab/1","results":[{"id":"E-atomic","estimate":3,"low":2,"high":4,"verdict":"confirmed"}]}`))
	f.Add([]byte(`{"schema":"redline.lab/1","results":[{"id":"E-atomic","estimate":1e308,"low":-1,"verdict":"<b>"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ResultsFile), data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Read(dir)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Markdown(&out, Suite(), r); err != nil {
			t.Fatal(err)
		}
	})
}

// TestClaimsAreDocumented: docs/claims.md has a line for each claim and each experiment.
func TestClaimsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "claims.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rows(Suite(), Results{}) {
		if !strings.Contains(string(text), "\n| "+r.ID()+" | ") {
			t.Errorf("docs/claims.md has no line for %s (hint: redline lab report --format md)", r.ID())
		}
	}
}
