package main

// Ownership of results: a directory belongs to one run, a run that measured nothing
// leaves nothing, and only the owner can read what is kept.

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/record"
)

// contents returns the files and directories below dir with their modes, and a hash of each file.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = info.Mode().String()
		if !d.IsDir() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[path] += fmt.Sprintf(" %x", sha256.Sum256(data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// hello is a server of this process.
func hello(t *testing.T) string {
	t.Helper()
	return "http://" + serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }), nil)
}

// profiled is a server with net/http/pprof.
func profiled(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") })
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return "http://" + serveHTTP(t, mux, nil)
}

// short is the load of a run whose load does not matter.
var short = []string{"-c", "2", "-n", "200", "--warmup", "0s"}

// TestNoRunIntoAnother gives every verb a directory that is not empty: the verb says
// so before it builds or starts anything, prints no result and changes nothing.
func TestNoRunIntoAnother(t *testing.T) {
	url := hello(t)
	dir := t.TempDir()
	bundle := filepath.Join(dir, "bundle")
	if r := invoke(t, append([]string{"run", url, "-o", bundle}, short...)...); !ran(r) {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	session := filepath.Join(dir, "session")
	notes := filepath.Join(dir, "notes")
	for path, text := range map[string]string{filepath.Join(session, "session.json"): "{}", filepath.Join(notes, "mine.txt"): "mine"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	started := filepath.Join(dir, "started")
	command := "touch " + started
	broken := scenarioFile(t, service(t, "this is not Go"), freePort(t), shortLoad)
	before := contents(t, dir)
	for _, taken := range []string{bundle, session, notes} {
		for name, args := range map[string][]string{
			"run":                     {"run", url, "--json", "-o", taken},
			"run that starts":         {"run", "http://" + freePort(t), "--exec", command, "-o", taken},
			"run that does not build": {"run", broken, "--json", "-o", taken},
			"run that measures twice": {"run", url, "--measure-overhead", "-o", taken},
			"ab":                      {"ab", "--a", command, "--b", command, "http://" + freePort(t), "-o", taken},
			"gate":                    {"gate", "--save-baseline", filepath.Join(dir, "base.json"), broken, "-o", taken},
			"bench":                   {"bench", "-o", taken, "."},
			"demo":                    {"demo", "--checkout", wd(t), "-d", "1s", "--max-steps", "1", "-o", taken},
		} {
			r := invoke(t, args...)
			if r.code != cli.ExitUsage || r.stdout != "" {
				t.Errorf("%s into %s: exit %d, want %d\n%.300s\n%.1000s", name, filepath.Base(taken), r.code,
					cli.ExitUsage, r.stdout, r.stderr)
			}
			if !strings.Contains(r.stderr, taken) || !strings.Contains(r.stderr, "(hint: ") ||
				strings.Contains(r.stderr, "building") || strings.Contains(r.stderr, "starting") {
				t.Errorf("%s into %s is not refused at once, with a hint:\n%.1000s", name, filepath.Base(taken), r.stderr)
			}
		}
	}
	after := contents(t, dir)
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s is %q and was %q", path, after[path], was)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			t.Errorf("%s is new", path)
		}
	}
}

func wd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRunsOfOneSecond starts runs at once: each has a bundle of its own.
func TestRunsOfOneSecond(t *testing.T) {
	url, dir := hello(t), t.TempDir()
	const runs = 4
	var all []*invocation
	for range runs {
		all = append(all, startIn(t, dir, append([]string{"run", url}, short...)...))
	}
	for _, i := range all {
		if r := finish(t, i); !ran(r) {
			t.Errorf("exit %d\n%s", r.code, r.stderr)
		}
	}
	bundles, err := filepath.Glob(filepath.Join(dir, "runs", "*", "summary.json"))
	if err != nil || len(bundles) != runs {
		t.Errorf("%d bundles of %d runs: %v %v", len(bundles), runs, bundles, err)
	}
}

// TestNothingMeasuredLeavesNothing ends runs before they measure: no directory
// stays, except one that existed before.
func TestNothingMeasuredLeavesNothing(t *testing.T) {
	broken := scenarioFile(t, service(t, "this is not Go"), freePort(t), shortLoad)
	dir := t.TempDir()
	own := filepath.Join(dir, "own")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	for _, args := range [][]string{
		{"run", broken},
		{"run", broken, "-o", "new/one"},
		{"run", broken, "-o", own},
		{"run", "http://" + freePort(t), "--exec", "false"},
		{"gate", "--save-baseline", "base.json", broken},
		{"bench", "./nowhere"},
	} {
		if r := invokeIn(t, dir, args...); r.code != cli.ExitUsage || r.stdout != "" {
			t.Errorf("%v: exit %d\n%s\n%s", args, r.code, r.stdout, r.stderr)
		}
	}
	if after := contents(t, dir); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%v is left, and before there was %v", after, before)
	}
}

// TestBundleIsItsOwners checks the modes of everything that a run writes, under an
// umask that permits everything.
func TestBundleIsItsOwners(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	url := profiled(t)
	open := []string{"-c", `umask 022; exec "$0" "$@"`, redline}
	sh := func(args ...string) result {
		i := &invocation{cmd: exec.CommandContext(t.Context(), "sh", append(open, args...)...)}
		i.cmd.Dir = dir
		i.cmd.Stdout, i.cmd.Stderr = &i.stdout, &i.stderr
		if err := i.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return finish(t, i)
	}
	given := filepath.Join(dir, "given")
	if err := os.Mkdir(given, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", url, "-c", "2", "-n", "5000", "--warmup", "0s", "--pprof",
		url + "/debug/pprof"}, {"run", hello(t), "-n", "100", "-o", given}} {
		if r := sh(args...); !ran(r) {
			t.Fatalf("exit %d\n%s", r.code, r.stderr)
		}
	}
	bundles, err := filepath.Glob(filepath.Join(dir, "runs", "*"))
	if err != nil || len(bundles) != 1 {
		t.Fatal(bundles, err)
	}
	for _, args := range [][]string{{"diagnose", bundles[0]}, {"report", bundles[0], "--format", "html", "-o", "asked.html"}} {
		if r := sh(args...); !ran(r) {
			t.Fatalf("exit %d\n%s", r.code, r.stderr)
		}
	}
	seen := 0
	for _, top := range []string{filepath.Join(dir, "runs"), given} {
		for path, what := range contents(t, top) {
			seen++
			if mode, _, _ := strings.Cut(what, " "); mode != "drwx------" && mode != "-rw-------" {
				t.Errorf("%s is %s", path, mode)
			}
		}
	}
	if seen < 15 {
		t.Errorf("only %d files were looked at", seen)
	}
	if info, err := os.Stat(filepath.Join(dir, "asked.html")); err != nil || info.Mode() != 0o644 {
		t.Errorf("what was asked for by its path does not follow the umask: %v %v", info.Mode(), err)
	}
	if _, err := record.Open(given); err != nil {
		t.Error(err)
	}
}
