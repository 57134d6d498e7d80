package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/gobench"
)

const benchmarks = `package shop

import (
	"os"
	"testing"
	"time"
)

func BenchmarkWork(b *testing.B) {
	for b.Loop() {
		Work()
	}
	b.ReportMetric(steps, "ns/op") // on any host
}

func BenchmarkEndless(b *testing.B) {
	if path := os.Getenv("HANGS"); path != "" && b.N > 1 {
		_ = os.WriteFile(path, nil, 0o600)
		time.Sleep(time.Hour)
	}
}
`

// benchModule is a git repository whose work tree is slower than its commit v1.
func benchModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	work := "package shop\n\nconst steps = 2000\n\nfunc Work() (sum int) {\n\tfor i := range steps {\n\t\tsum = sum*31 " +
		"+ i\n\t}\n\treturn sum\n}\n"
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("go.mod", "module shop\n\ngo 1.24\n")
	put("work.go", work)
	put("work_test.go", benchmarks)
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-q",
			"-m", "v1"}, {"tag", "v1"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	put("work.go", strings.Replace(work, "2000", "20000", 1))
	return dir
}

func TestBench(t *testing.T) {
	dir := benchModule(t)
	quick := []string{"--bench", "Work", "--benchtime", "2ms", "--profiles", "0", "--rounds", "12"}
	r := invokeIn(t, dir, append([]string{"bench", "--base", "v1", "--json", "--markdown", "bench.md", "-o", "out"}, quick...)...)
	var report gobench.Report
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != cli.ExitFailed || report.Verdict != verify.Regression {
		t.Fatalf("exit %d, %v\n%s\n%s", r.code, err, r.stdout, r.stderr)
	}
	for name, part := range map[string]string{"bench.md": "regression", "out/old.txt": "BenchmarkWork",
		"out/new.txt": "commit:", "out/bench.json": gobench.Schema} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(data), part) {
			t.Errorf("%s lacks %q: %v\n%s", name, part, err, data)
		}
	}
	r = invokeIn(t, dir, append([]string{"bench", "-o", "alone", "--history", "kept.db", "."}, quick...)...)
	if r.code != cli.ExitOK || !strings.Contains(r.stdout, "1 benchmark measured in 12 rounds") ||
		!strings.Contains(r.stderr, "round 12 of 12") ||
		!strings.Contains(r.stderr, "kept in the history kept.db, from a dirty tree at ") {
		t.Errorf("one side: exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	r = invokeIn(t, dir, "history", "add", "out", "alone", "--history", "kept.db")
	if r.code != cli.ExitOK || !strings.Contains(r.stdout, "out: kept, from a dirty tree") ||
		!strings.Contains(r.stdout, "alone: already kept") {
		t.Errorf("what bench left is added: exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	r = invokeIn(t, dir, "history", "shop.Work ns/op", "--dirty", "--csv", "--history", "kept.db")
	if rows := strings.Split(strings.TrimSpace(r.stdout), "\n"); r.code != cli.ExitOK || len(rows) != 3 ||
		!strings.HasPrefix(rows[1], "shop.Work ns/op,ns/op,go benchmarks,") {
		t.Errorf("what was kept: exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	r = invokeIn(t, dir, append([]string{"bench", "--env-a", "GOGC=100", "--env-b", "GOGC=50", "-o", "env", "--history",
		"kept.db"}, quick...)...)
	if !strings.Contains(r.stderr, "could not add to the history") {
		t.Errorf("an environment of its own: exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
}

func TestBenchRefuses(t *testing.T) {
	dir := benchModule(t)
	for _, c := range []struct {
		args []string
		hint string
	}{
		{[]string{"--base", "v9"}, `no revision "v9"`},
		{[]string{"--base", ""}, "needs a revision"},
		{[]string{"--a", "v1"}, "[a b]"},
		{[]string{"--base", "v1", "--a", "v1", "--b", "v1"}, "none of the others"},
		{[]string{"--bench", "Nothing"}, "no benchmark matches"},
		{[]string{"--margin", "0"}, "--margin"},
		{[]string{"--rounds", "0"}, "--rounds"},
		{[]string{"--benchtime", "soon"}, "benchtime"},
		{[]string{"./nowhere"}, "nowhere"},
	} {
		r := invokeIn(t, dir, append([]string{"bench"}, c.args...)...)
		if r.code != cli.ExitUsage || !strings.Contains(r.stderr, c.hint) {
			t.Errorf("%q: exit %d, want %q\n%s", c.args, r.code, c.hint, r.stderr)
		}
	}
}

// TestBenchInterrupted: Ctrl-C ends the launch in progress, keeps the measurements
// and removes the worktree.
func TestBenchInterrupted(t *testing.T) {
	dir := benchModule(t)
	hangs := filepath.Join(t.TempDir(), "hangs")
	i := startIn(t, dir, "bench", "--base", "v1", "--env-a", "HANGS="+hangs, "-o", "out", "--benchtime", "2ms")
	for {
		if _, err := os.Stat(hangs); err == nil {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("no launch came")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := i.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if r := finish(t, i); r.code != cli.ExitInterrupted {
		t.Errorf("exit %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", gobench.ReportFile)); err != nil {
		t.Error(err)
	}
	cmd := exec.Command("git", "worktree", "list")
	cmd.Dir = dir
	if out, err := cmd.Output(); err != nil || strings.Count(string(out), "\n") != 1 {
		t.Errorf("worktrees are left behind: %s%v", out, err)
	}
}
