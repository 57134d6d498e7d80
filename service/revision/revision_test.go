package revision

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a git repository whose service prints its version: v1, v2 and v3 are
// tagged, v2 does not compile, v3 is the head.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"} {
		t.Setenv(name, "test")
	}
	for _, name := range []string{"GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "test@example.com")
	}
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	run("init", "-q")
	for _, version := range []string{"v1", "v2", "v3"} {
		body := "func main() { println(\"" + version + "\") }\n"
		if version == "v2" {
			body = "func main() { undefined() }\n"
		}
		write(t, "go.mod", "module shop\n\ngo 1.24\n")
		write(t, "svc/main.go", "package main\n\n"+body)
		run("add", ".")
		run("commit", "-q", "-m", version)
		run("tag", version)
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestBuildRevisions(t *testing.T) {
	repository(t)
	scratch := t.TempDir()
	build := func(text string) (Built, string, error) {
		b, err := Build(context.Background(), ParseSources(text), scratch, filepath.Join(scratch, "svc"))
		if err != nil {
			return b, "", err
		}
		out, err := exec.Command(b.Binary).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		return b, strings.TrimSpace(string(out)), nil
	}
	if b, out, err := build("./svc@v1"); err != nil || out != "v1" || len(b.Commit) != 40 || b.Dirty {
		t.Errorf("v1 prints %q: %+v, %v", out, b, err)
	}
	write(t, "svc/main.go", "package main\n\nfunc main() { println(\"edited\") }\n")
	if b, out, err := build("./svc"); err != nil || out != "edited" || !b.Dirty {
		t.Errorf("the work tree prints %q: %+v, %v", out, b, err)
	}
	if b, out, err := build("./svc@v3"); err != nil || out != "v3" {
		t.Errorf("v3 prints %q: %+v, %v", out, b, err)
	}
	for text, hint := range map[string]string{
		"./svc@v9":      `no revision "v9"`,
		"./svc@--force": `no revision "--force"`,
		"./svc@v2":      "undefined",
		"./other@v1":    "no folder other",
		"/tmp@v1":       "by its path in the repository",
	} {
		if _, _, err := build(text); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v, want %q", text, err, hint)
		}
	}
	_, err := BuildID(t.Context(), ParseSources("/tmp@v1"), scratch)
	if err == nil || !strings.Contains(err.Error(), "by its path in the repository") {
		t.Errorf("the id of /tmp@v1: %v", err)
	}
	out, err := exec.Command("git", "worktree", "list").Output()
	if err != nil || strings.Count(string(out), "\n") != 1 {
		t.Errorf("worktrees are left behind:\n%s%v", out, err)
	}
	if left, _ := filepath.Glob(filepath.Join(scratch, "worktree-*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestParseSources(t *testing.T) {
	for text, want := range map[string]Sources{
		"./cmd/svc":       {Package: "./cmd/svc"},
		"./cmd/svc@v1.2":  {"./cmd/svc", "v1.2"},
		"./a@b/svc@HEAD~": {"./a@b/svc", "HEAD~"},
		"@main":           {Package: "@main"},
	} {
		if got := ParseSources(text); got != want {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}
