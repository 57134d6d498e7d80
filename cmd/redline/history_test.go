package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify/baseline"
)

// kept fills a history with CPU per request by commit, measured on a machine.
func kept(t *testing.T, path string, machine record.Host, cpu ...float64) {
	t.Helper()
	s, err := history.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, v := range cpu {
		at := time.Date(2026, 4, 1, i, 0, 0, 0, time.UTC)
		r := history.Result{
			Time: at, Commit: revision.Commit{Hash: fmt.Sprintf("%08x", 0xbeef0000+i),
				Subject: fmt.Sprintf("step %d", i), Branch: "main", Time: at},
			Scenario: "gateway", Hash: "00112233", Machine: machine, Kind: history.Gate,
			Figures: []history.Figure{{Metric: "cpu_per_request", Unit: "ns", Value: v, Low: math.NaN(), High: math.NaN()}},
		}
		if _, err := s.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	worse  = []float64{40e3, 40.2e3, 39.9e3, 40.1e3, 40e3, 44.1e3, 44e3, 44.2e3, 43.9e3}
	better = []float64{44.1e3, 44e3, 44.2e3, 43.9e3, 44e3, 40e3, 40.2e3, 39.9e3, 40.1e3}
)

func TestHistoryIsDrawn(t *testing.T) {
	dir := t.TempDir()
	this := record.HostInfo()
	other := this
	other.Kernel = "2.6.0-other"
	up, down, short, elsewhere := filepath.Join(dir, "up.db"), filepath.Join(dir, "down.db"), filepath.Join(dir,
		"short.db"), filepath.Join(dir, "elsewhere.db")
	kept(t, up, this, worse...)
	kept(t, down, this, better...)
	kept(t, short, this, worse[:3]...)
	kept(t, elsewhere, other, worse...)
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
		not            string
	}{
		"a change":              {args: []string{"--history", up, "--plain"}, stdout: "A  beef0005  2026-04-01  40.0 us -> 44.0 us  +10.0 %  worse", not: "│"},
		"failed by it":          {args: []string{"--history", up, "--fail-on-regression"}, code: cli.ExitFailed, stdout: "worse", stderr: "worse: cpu_per_request of gateway since beef0005 (+10.0 %)"},
		"long ago":              {args: []string{"--history", up, "--fail-on-regression=3"}},
		"for the better":        {args: []string{"--history", down, "--fail-on-regression"}, stdout: "better"},
		"too few":               {args: []string{"--history", short, "--fail-on-regression"}, code: cli.ExitUndecided, stdout: "too few commits", stderr: "4 commits"},
		"none":                  {args: []string{"--history", filepath.Join(dir, "none.db")}, stderr: "no history yet in"},
		"none to fail by":       {args: []string{"--history", filepath.Join(dir, "none.db"), "--fail-on-regression"}, code: cli.ExitUndecided, stderr: "no series"},
		"not named":             {code: cli.ExitUsage, stderr: "no history given"},
		"another metric":        {args: []string{"p99", "--history", up}, stderr: "no result in"},
		"another machine":       {args: []string{"--history", elsewhere}, stderr: `kernel: "` + this.Kernel + `" and "2.6.0-other"`, not: "beef0005"},
		"another machine asked": {args: []string{"--history", elsewhere, "--machine", "all"}, stdout: "another machine than this one"},
		"an unknown machine":    {args: []string{"--history", up, "--machine", "that"}, code: cli.ExitUsage, stderr: "must be this or all"},
		"since":                 {args: []string{"--history", up, "--since", "2026-04-02"}, stderr: "no result in"},
		"since never":           {args: []string{"--history", up, "--since", "yesterday"}, code: cli.ExitUsage, stderr: "90d"},
		"csv":                   {args: []string{"--history", up, "--csv"}, stdout: "beef0005,2026-04-01T05:00:00Z,step 5,main,false"},
		"a secret":              {args: []string{"--history", "postgres://u:s3cr3t@127.0.0.1:1/d"}, code: cli.ExitUsage, stderr: "database d on 127.0.0.1:1", not: "s3cr3t"},
	} {
		r := invoke(t, append([]string{"history"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stdout, c.stdout) || !strings.Contains(r.stderr, c.stderr) ||
			c.not != "" && strings.Contains(r.stdout+r.stderr, c.not) {
			t.Errorf("%s: exit %d\n%s\n%s", name, r.code, r.stdout, r.stderr)
		}
	}
	r := invoke(t, "history", "--history", up, "--json")
	var out struct {
		Schema string
		Series []struct{ Changes []struct{ Commit string } }
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil || out.Schema != history.Schema ||
		out.Series[0].Changes[0].Commit != "beef0005" {
		t.Errorf("%v: %s", err, r.stdout)
	}
}

// repository makes a folder a git repository and commits everything in it.
func repository(t *testing.T, dir string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "main.go", "go.mod"},
		{"-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "svc: begun"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
}

// TestResultsAreKept follows a CI job: a baseline is stored, the gate compares with it,
// both are kept by commit, and the kept results can be read back from the sessions'
// directories.
func TestResultsAreKept(t *testing.T) {
	// It takes longer than the generator waits for a CPU on a busy host.
	dir := service(t, `http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(5 * time.Millisecond)
		fmt.Fprintln(w, "hello")
	})`)
	repository(t, dir)
	path := scenarioFile(t, ".", freePort(t), "load: {connections: 2}\n")
	gate := func(args ...string) result {
		return invokeIn(t, dir, append([]string{"gate", path, "--block", "600ms", "--pairs", "8", "--history", "h.db"}, args...)...)
	}
	r := gate("--save-baseline", "base.json", "-o", "one")
	if r.code != cli.ExitOK || !strings.Contains(r.stdout, "cpu_per_request") ||
		!strings.Contains(r.stderr, "baseline of 8 launches saved") || !strings.Contains(r.stderr, "kept in the history h.db, commit") {
		t.Fatalf("exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	b, err := baseline.Read(filepath.Join(dir, "base.json"))
	if err != nil || b.Commit.Subject != "svc: begun" || b.Commit.Branch != "main" || b.Commit.Dirty || b.Go == "" ||
		b.Duration != 600*time.Millisecond {
		t.Errorf("%v: %+v, %+v", err, b.Commit, b.Circumstances)
	}

	main := filepath.Join(dir, "main.go")
	source, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	slower := strings.Replace(string(source), "5 * time.Millisecond", "20 * time.Millisecond", 1)
	if err := os.WriteFile(main, []byte(slower), 0o644); err != nil {
		t.Fatal(err)
	}
	r = gate("--baseline", "base.json", "-o", "two", "--save-baseline", "base.json")
	if r.code != cli.ExitFailed || !strings.Contains(r.stdout, "throughput") ||
		!strings.Contains(r.stdout, "8 launches against 8 of the baseline (base.json, commit") {
		t.Errorf("a handler that sleeps: exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	if !strings.Contains(r.stderr, "base.json is not written: the verdict is regression") ||
		!strings.Contains(r.stderr, "from a dirty tree at") {
		t.Errorf("%s", r.stderr)
	}
	r = gate("--baseline", "base.json", "-o", "three", "--block", "700ms")
	if r.code != cli.ExitUndecided || !strings.Contains(r.stderr, `length of a launch: "600ms" and "700ms"`) {
		t.Errorf("another length: exit %d\n%s", r.code, r.stderr)
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r = gate("--baseline", "bad.json"); r.code != cli.ExitUsage || !strings.Contains(r.stderr, "bad.json: its schema") {
		t.Errorf("no baseline: exit %d\n%s", r.code, r.stderr)
	}
	if r = gate("--baseline", "base.json", "--base", "main"); r.code != cli.ExitUsage {
		t.Errorf("both bases: exit %d", r.code)
	}

	r = invokeIn(t, dir, "history", "throughput", "--history", "h.db", "--csv")
	if lines := strings.Split(strings.TrimSpace(r.stdout), "\n"); len(lines) != 2 || !strings.Contains(lines[1], "svc: begun") {
		t.Errorf("kept\n%s", r.stdout)
	}
	if r = invokeIn(t, dir, "history", "add", "one", "two/ab.json", "--history", "h.db"); r.code != cli.ExitOK ||
		strings.Count(r.stdout, "already kept") != 2 {
		t.Errorf("added again: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r = invokeIn(t, dir, "history", "add", "one", "nothing", "--history", "new.db"); r.code != cli.ExitUsage ||
		!strings.Contains(r.stdout, "one: kept, commit") || !strings.Contains(r.stderr, "nothing: ") {
		t.Errorf("added elsewhere: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r = invokeIn(t, dir, "history", "add", "one", "--commit", "v9", "--history", "new.db"); r.code != cli.ExitUsage ||
		!strings.Contains(r.stderr, `no revision "v9"`) {
		t.Errorf("an unknown commit: exit %d\n%s", r.code, r.stderr)
	}
}

// TestRunIsKept: a run is kept in the given history, and a history that cannot be
// opened fails before anything is measured.
func TestRunIsKept(t *testing.T) {
	dir := service(t, healthy)
	repository(t, dir)
	path := scenarioFile(t, ".", freePort(t), "load: {connections: 2, duration: 1s, warmup: 200ms}\n")
	r := invokeIn(t, dir, "run", path, "-o", "bundle", "--history", "h.db")
	if !ran(r) || !strings.Contains(r.stderr, "kept in the history h.db, commit") {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	r = invokeIn(t, dir, "history", "--history", "h.db", "--csv")
	for _, want := range []string{"cpu_per_request,ns,", "throughput,1/s,", "p99,ns,", "svc: begun"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %s in\n%s", want, r.stdout)
		}
	}
	r = invokeIn(t, dir, "run", path, "-o", "unmeasured", "--history", "postgres://u:s3cr3t@127.0.0.1:1/d")
	if _, err := os.Stat(filepath.Join(dir, "unmeasured")); r.code != cli.ExitUsage || err == nil || strings.Contains(r.stderr, "s3cr3t") {
		t.Errorf("an unreachable history: exit %d, %v\n%s", r.code, err, r.stderr)
	}
}
