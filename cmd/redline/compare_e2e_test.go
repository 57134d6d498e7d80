package main

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/compare"
	"github.com/redline-go/redline/verify"
)

// TestCompare compares a run of a quick service with one of a like service that sleeps.
func TestCompare(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address := freePort(t)
	for name, handlers := range map[string]string{
		"quick": healthy,
		"slow": `http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(20 * time.Millisecond)
			fmt.Fprintln(w, "hello")
		})`,
	} {
		path := scenarioFile(t, service(t, handlers), address, "load: {connections: 8, duration: 3s, warmup: 200ms}\n")
		if r := invokeIn(t, dir, "run", path, "-o", name); !ran(r) {
			t.Fatalf("exit %d\n%s", r.code, r.stderr)
		}
	}
	r := invokeIn(t, dir, "compare", "quick", "slow", "--json", "--markdown", "out.md", "--flame", "out.html")
	var s compare.Comparison
	if err := json.Unmarshal([]byte(r.stdout), &s); err != nil || r.code != cli.ExitOK || s.Schema != compare.Schema {
		t.Fatalf("exit %d: %v\n%s%s", r.code, err, r.stdout, r.stderr)
	}
	for part, list := range map[string][]verify.Change{"mean": s.Parts, "tail": s.Tail} {
		// Waiting for a CPU may have changed by more on a busy host.
		slept := slices.IndexFunc(list, func(c verify.Change) bool {
			return strings.HasPrefix(c.Place, "sleep time.Sleep < main.main.func1 main.go:")
		})
		if slept < 0 || list[slept].A != 0 || list[slept].B < 16e6 {
			t.Errorf("%s: the sleep of 20 ms is reported as %+v", part, list)
		}
		if !slices.IsSortedFunc(list, func(a, b verify.Change) int { return cmp.Compare(math.Abs(b.B-b.A), math.Abs(a.B-a.A)) }) {
			t.Errorf("%s: not the largest change first: %+v", part, list)
		}
	}
	if len(s.Warnings) > 0 {
		t.Errorf("the same machine and load: %q", s.Warnings)
	}
	if text := readFile(t, filepath.Join(dir, "out.md")); !strings.Contains(text, "`sleep time.Sleep") ||
		!strings.Contains(text, compare.Caveat) {
		t.Errorf("Markdown:\n%s", text)
	}
	if html := readFile(t, filepath.Join(dir, "out.html")); !strings.Contains(html, "net/http.(*conn).serve") ||
		!strings.Contains(html, "CPU per request: a ") {
		t.Errorf("%d bytes of flame graph without the server", len(html))
	}

	if err := os.RemoveAll(filepath.Join(dir, "slow", "profiles")); err != nil {
		t.Fatal(err)
	}
	if r := invokeIn(t, dir, "compare", "quick", "slow", "--flame", "none.html"); r.code != cli.ExitUsage ||
		!strings.Contains(r.stderr, "slow: cpu profile: none") {
		t.Errorf("without profiles: exit %d\n%s", r.code, r.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "none.html")); !os.IsNotExist(err) {
		t.Errorf("a page of nothing was left: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "slow", "run.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"quick", "slow"}, {"quick", "nowhere"}} {
		if r := invokeIn(t, dir, append([]string{"compare"}, args...)...); r.code != cli.ExitUsage ||
			!strings.Contains(r.stderr, args[1]) || r.stdout != "" {
			t.Errorf("%q: exit %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
	}
}
