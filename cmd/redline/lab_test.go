package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/experiment"
)

func TestLabList(t *testing.T) {
	r := invoke(t, "lab", "list", "--json")
	var got struct {
		Schema string                `json:"schema"`
		Claims []struct{ ID string } `json:"claims"`
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != cli.ExitOK || got.Schema != experiment.Schema ||
		len(got.Claims) < 70 {
		t.Errorf("exit %d, %v, %+v", r.code, err, got)
	}
	r = invoke(t, "lab", "list")
	if r.code != cli.ExitOK || !strings.Contains(r.stdout, "C-fast-clock.random    math/rand/v2") ||
		!strings.Contains(r.stdout, " [see redline gate (docs/verify.md)]") {
		t.Errorf("exit %d\n%s", r.code, r.stdout)
	}
}

func TestLabThatMakesNoSense(t *testing.T) {
	empty, elsewhere := t.TempDir(), t.TempDir()
	for want, args := range map[string][]string{
		`no experiment "C-fastclock" (hint: did you mean C-fast-clock?)`: {"run", "C-fastclock"},
		"the claim B-debt has no experiment: see redline lint":           {"run", "B-debt"},
		"the claim B-gate has no experiment: see redline gate":           {"run", "B-gate"},
		`no experiment "C-fast" (hint: did you mean C-fast-clock?)`:      {"run", "C-fast"},
		"did you mean B-gate?":                               {"run", "B-gtae", "--aa", "2"},
		`redline lab has no "rnu" (hint: did you mean run?)`: {"rnu"},
		"it has ladder, list, report, run":                   {"everything"},
		`"x" (hint: it lists all claims`:                     {"list", "x"},
		`"x.html" (hint: it shows all claims`:                {"report", "x.html"},
		"inside a checkout":                                  {"run", "E-atomic", "--checkout", elsewhere},
		"no results in":                                      {"report", "--dir", empty},
		"[quick full]":                                       {"run", "--quick", "--full"},
		"did you mean --resume?":                             {"run", "--resme"},
	} {
		r := invoke(t, append([]string{"lab"}, args...)...)
		if r.code != cli.ExitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: exit %d\n%s", args, r.code, r.stderr)
		}
	}
}

// TestLabReport shows the results of a finished run, as a page and as a table.
func TestLabReport(t *testing.T) {
	dir := t.TempDir()
	text := `{"schema":"redline.lab/1","go":"go1.26.8","results":[` +
		`{"id":"E-atomic","claim":"E-atomic","metric":"sec/op","estimate":3.1,"low":2.9,"high":3.4,"verdict":"confirmed","why":"so"}]}`
	if err := os.WriteFile(filepath.Join(dir, experiment.ResultsFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := invoke(t, "lab", "report", "--dir", dir); r.code != cli.ExitOK || !strings.Contains(r.stdout, "<!doctype html>") ||
		!strings.Contains(r.stdout, "3.10x (2.90x to 3.40x)") {
		t.Errorf("exit %d\n%.2000s", r.code, r.stdout)
	}
	out := filepath.Join(dir, "claims.md")
	if r := invoke(t, "lab", "report", "--dir", dir, "--format", "md", "-o", out); r.code != cli.ExitOK || r.stdout != "" {
		t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if table, err := os.ReadFile(out); err != nil || !strings.Contains(string(table), "| E-atomic | an atomic counter") {
		t.Errorf("%v\n%s", err, table)
	}
	if r := invoke(t, "lab", "report", "--dir", dir, "--format", "pdf"); r.code != cli.ExitUsage ||
		!strings.Contains(r.stderr, "html or md") {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
}
