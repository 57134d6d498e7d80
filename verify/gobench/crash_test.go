package gobench

import (
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLeavesInTheMiddle: benchmarks that do not run because one ends the process are
// launched separately, even if another one failed before and no panic was printed.
func TestLeavesInTheMiddle(t *testing.T) {
	dir := module(t, map[string]string{"a_test.go": `package a

import (
	"os"
	"testing"
)

func BenchmarkFails(b *testing.B)  { b.Error("wrong sum") }
func BenchmarkLeaves(b *testing.B) { os.Exit(3) }
func BenchmarkNext(b *testing.B)   { for b.Loop() {} }
`})
	bin := binary{pkg: "a", dir: dir, path: filepath.Join(t.TempDir(), "a.test")}
	build := exec.Command("go", "test", "-c", "-o", bin.path, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := bin.discover(t.Context(), Options{Bench: "."})
	if err != nil || !f.knows("BenchmarkNext") {
		t.Errorf("the one behind is not known: %v", err)
	}
	if names := slices.Sorted(maps.Keys(f.failed)); strings.Join(names, " ") != "Fails Leaves" {
		t.Errorf("%q failed", names)
	}
}
