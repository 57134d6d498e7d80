package scripts

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip" // what goes into a module's zip, as the public proxy decides it
)

const redline = "github.com/redline-go/redline"

// released is the version that the tests release. Always the same: its packages lie
// at the same path then, and are compiled once.
const released = "v0.0.1-installtest"

// checkout commits the work tree, with what is not committed yet, into a repository of
// its own, and releases it there.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	list, err := exec.Command("git", "-C", "..", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skipf("no git checkout to clone: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		if strings.HasPrefix(name, "corpus/") || strings.HasPrefix(name, "lab/") {
			continue // modules of their own, a third of all files, and in no zip of redline's
		}
		if info, err := os.Lstat(filepath.Join("..", name)); err != nil || !info.Mode().IsRegular() {
			continue // deleted, and not committed yet
		}
		copyFile(t, filepath.Join("..", name), filepath.Join(dir, name))
	}
	git := func(args ...string) {
		run(t, dir, nil, "git", append([]string{"-c", "user.name=test", "-c", "user.email=test@localhost", "-c",
			"commit.gpgsign=false", "-c", "gc.auto=0"}, args...)...)
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "the work tree")
	return dir
}

// release tags a checkout.
func release(t *testing.T, checkout string) {
	t.Helper()
	env := []string{"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@localhost", "GIT_COMMITTER_NAME=test",
		"GIT_COMMITTER_EMAIL=test@localhost"}
	run(t, checkout, env, "scripts/release.sh", released)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, info.Mode().Perm()); err != nil {
		t.Fatal(err)
	}
}

// proxy is a folder that the go command takes for a module proxy
// (https://go.dev/ref/mod#goproxy-protocol).
type proxy string

// add puts a version there: its zip as fill writes it.
func (p proxy) add(t *testing.T, m module.Version, gomod []byte, fill func(*os.File) error) {
	t.Helper()
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(string(p), filepath.FromSlash(escaped), "@v")
	write(t, filepath.Join(dir, "list"), m.Version+"\n")
	write(t, filepath.Join(dir, m.Version+".info"), `{"Version":"`+m.Version+`","Time":"2026-01-02T03:04:05Z"}`)
	write(t, filepath.Join(dir, m.Version+".mod"), string(gomod))
	f, err := os.Create(filepath.Join(dir, m.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := fill(f); err != nil {
		t.Fatal(err)
	}
}

// addTag puts the module in a folder of a released checkout there.
func (p proxy) addTag(t *testing.T, checkout, folder string) {
	t.Helper()
	tag, m := released, module.Version{Path: redline, Version: released}
	gomod := "go.mod"
	if folder != "" {
		tag, m.Path, gomod = folder+"/"+tag, redline+"/"+folder, folder+"/go.mod"
	}
	content, err := exec.Command("git", "-C", checkout, "show", tag+":"+gomod).Output()
	if err != nil {
		t.Fatalf("no %s at %s: %v", gomod, tag, err)
	}
	p.add(t, m, content, func(f *os.File) error { return zip.CreateFromVCS(f, m, checkout, tag, folder) })
}

// env is the environment of a go command that finds modules there first, then among
// those that this machine has, and asks the network only for what neither has.
func (p proxy) env(t *testing.T, modcache string) []string {
	t.Helper()
	have := strings.Fields(string(run(t, ".", nil, "go", "env", "GOMODCACHE", "GOPROXY")))
	return []string{
		"GOPROXY=file://" + string(p) + ",file://" + filepath.Join(have[0], "cache", "download") + "," + have[1],
		"GOMODCACHE=" + modcache,
		// What is made here is in no checksum database.
		"GONOSUMDB=*", "GOPRIVATE=", "GONOPROXY=none",
		"GOWORK=off", "GOFLAGS=-modcacherw",
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs a command that must succeed and returns its output.
func run(t *testing.T, dir string, env []string, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, &out, &errs)
	}
	return out.Bytes()
}
