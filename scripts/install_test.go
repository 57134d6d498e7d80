//go:build unix

package scripts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestRelease releases the work tree, and uses the release as its users do.
//
// It works in this machine's own module cache, so it runs only where asked for, as by make dist-check.
func TestRelease(t *testing.T) {
	if os.Getenv("REDLINE_RELEASE") == "" {
		t.Skip("uses the machine's module cache: set REDLINE_RELEASE=1")
	}
	source := checkout(t)
	release(t, source)
	t.Run("go install", func(t *testing.T) { installs(t, source) })
	t.Run("probe of redline's module", func(t *testing.T) { importsFromRedline(t, source) })
	t.Run("probe of its own module", func(t *testing.T) { importsFromProbe(t, source) })
}

// installs installs the command by its path, as README says.
func installs(t *testing.T, source string) {
	made := proxy(t.TempDir())
	made.addTag(t, source, "")
	// This machine's own module cache, in which nothing is redline's: in another one
	// every dependency would have to be compiled again, for minutes.
	modcache := strings.TrimSpace(string(run(t, ".", nil, "go", "env", "GOMODCACHE")))
	without(t, modcache)
	bin := t.TempDir()
	env := append(made.env(t, modcache), "GOBIN="+bin)
	run(t, t.TempDir(), env, "go", "install", redline+"/cmd/redline@latest")

	var got struct{ Version string }
	if out := run(t, t.TempDir(), nil, filepath.Join(bin, "redline"), "version", "--json"); json.Unmarshal(out,
		&got) != nil || got.Version != released {
		t.Errorf("version --json prints %s", out)
	}
}

// without takes redline's released version out of a module cache, where a killed test
// may have left it, now and at the end, and keeps other tests off it meanwhile.
func without(t *testing.T, modcache string) {
	t.Helper()
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), "redline-install-test.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	remove := func() {
		extracted := filepath.Join(modcache, filepath.FromSlash(redline)+"@"+released)
		downloads := filepath.Join(modcache, "cache", "download", filepath.FromSlash(redline), "@v")
		files, err := filepath.Glob(filepath.Join(downloads, released+".*"))
		if err != nil {
			t.Error(err)
		}
		for _, path := range append(files, extracted, filepath.Join(downloads, "list")) {
			if err := os.RemoveAll(path); err != nil {
				t.Error(err)
			}
		}
	}
	remove()
	t.Cleanup(func() {
		remove()
		lock.Close()
	})
}

// importing is a service that imports the probe, and one module that redline requires
// too, at an older version.
const importing = `package main

import (
	"net/http"

	_ "github.com/redline-go/redline/probe/auto"
	"golang.org/x/sys/old"
)

func main() { _ = http.ListenAndServe(old.Address, nil) }
`

// importsFromRedline is for a version without the probe's tag: the service gets
// redline's module, and nothing with it.
func importsFromRedline(t *testing.T, source string) {
	made := proxy(t.TempDir())
	made.addTag(t, source, "")
	s := importer(t, made, "go 1.26.0", strings.NewReplacer(`"golang.org/x/sys/old"`, "", "old.Address", `""`).Replace(importing))
	s.has(t, redline)
}

// importsFromProbe: the go command finds the probe's own module, and what the service
// and redline both require stays at the service's version.
func importsFromProbe(t *testing.T, source string) {
	made := proxy(t.TempDir())
	made.addTag(t, source, "")
	made.addTag(t, source, "probe")
	shared := module.Version{Path: "golang.org/x/sys", Version: "v0.0.1"}
	made.add(t, shared, []byte("module golang.org/x/sys\n"), func(f *os.File) error {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "go.mod"), "module golang.org/x/sys\n")
		write(t, filepath.Join(dir, "old/old.go"), "package old\n\nconst Address = `127.0.0.1:0`\n")
		return zip.CreateFromDir(f, shared, dir)
	})
	s := importer(t, made, "go 1.21\n\nrequire golang.org/x/sys v0.0.1", importing)
	s.has(t, redline+"/probe", "golang.org/x/sys")
	// All that the go command could choose from, not only what is linked.
	want := []string{"example.com/svc", redline + "/probe", released, "golang.org/x/sys", "v0.0.1"}
	if list := strings.Fields(string(s.goes(t, "list", "-m", "all"))); !slices.Equal(list, want) {
		t.Errorf("the build list is %q, want %q", list, want)
	}
	if line := s.mod(t).Go.Version; line != "1.21" {
		t.Errorf("the service's go line became %s", line)
	}
}

// svc is a service in a module of its own.
type svc struct {
	dir string
	env []string
}

// importer makes a service, gets what it imports from the proxy, and builds it.
func importer(t *testing.T, made proxy, gomod, source string) svc {
	t.Helper()
	s := svc{t.TempDir(), made.env(t, t.TempDir())}
	write(t, filepath.Join(s.dir, "go.mod"), "module example.com/svc\n\n"+gomod+"\n")
	write(t, filepath.Join(s.dir, "main.go"), source)
	s.goes(t, "get", redline+"/probe/auto@latest")
	s.goes(t, "mod", "tidy")
	s.goes(t, "build", "-o", "svc", ".")
	return s
}

func (s svc) goes(t *testing.T, args ...string) []byte {
	t.Helper()
	return run(t, s.dir, s.env, "go", args...)
}

func (s svc) mod(t *testing.T) *modfile.File {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(s.dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// has checks that go.mod, go.sum and the binary name these modules and no others.
func (s svc) has(t *testing.T, modules ...string) {
	t.Helper()
	var required, summed, linked []string
	for _, r := range s.mod(t).Require {
		required = append(required, r.Mod.Path)
	}
	sum, err := os.ReadFile(filepath.Join(s.dir, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(sum)) {
		summed = append(summed, strings.Fields(line)[0])
	}
	for line := range strings.Lines(string(s.goes(t, "version", "-m", "svc"))) {
		if fields := strings.Fields(line); fields[0] == "dep" {
			linked = append(linked, fields[1])
		}
	}
	for where, got := range map[string][]string{"go.mod": required, "go.sum": slices.Compact(summed), "the binary": linked} {
		slices.Sort(got)
		if !slices.Equal(got, modules) {
			t.Errorf("%s names %q, want %q", where, got, modules)
		}
	}
}
