package experiment

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		strings.Repeat(" ", maxResults+1): "larger than"} {
		if err := os.WriteFile(filepath.Join(dir, ResultsFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestTableHoldsAllClaims: each claim has its line, decided or not, and nothing from a
// file of results gets out of its cell.
func TestTableHoldsAllClaims(t *testing.T) {
	var table, html bytes.Buffer
	if err := Markdown(&table, Suite(), results()); err != nil {
		t.Fatal(err)
	}
	if err := Page(&html, Suite(), results()); err != nil {
		t.Fatal(err)
	}
	for _, c := range Claims() {
		if !strings.Contains(table.String(), "| "+c.ID) || !strings.Contains(html.String(), `id="`+c.ID) {
			t.Errorf("%s is missing", c.ID)
		}
	}
	for _, want := range []string{"| 3.10x (2.90x to 3.40x) | sec/op | confirmed |", "not run",
		"see redline gate ([verify.md](verify.md))", "(quick)"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
	for name, text := range map[string]string{"table": table.String(), "page": html.String()} {
		if strings.Contains(text, "\x1b") && name == "table" || strings.Contains(text, "<script>owned") &&
			name == "page" || strings.Contains(text, "\n::error") && name == "table" {
			t.Errorf("%s: what a result says acts:\n%s", name, text)
		}
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
		if err := Page(&out, Suite(), r); err != nil {
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
