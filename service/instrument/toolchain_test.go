package instrument

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestToolchainInTheModuleCache: no overlay may replace its files, so the build runs a copy that has the hooks.
func TestToolchainInTheModuleCache(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root := filepath.Join(cache, "golang.org", "toolchain@v0.0.1-go1.99.2.linux-amd64")
	dir := filepath.Join(root, "src", "database", "sql")
	for name, mode := range map[string]os.FileMode{"bin/go": 0o755, "src/database/sql/sql.go": 0o644} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("original"), mode); err != nil {
			t.Fatal(err)
		}
	}
	r := &Result{Done: []string{"database/sql"}, Files: map[string][]byte{filepath.Join(dir, "sql.go"): []byte("hooked")}}
	s, err := r.Setup(t.Context(), []Package{{ImportPath: "database/sql", Dir: dir, Standard: true}}, Layout{ModCache: cache})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Files) > 0 || len(s.Flags) > 0 || len(s.Env) != 2 || s.Env[0] != "GOTOOLCHAIN=go1.99.2" {
		t.Fatalf("%+v", s)
	}
	bin, _, _ := strings.Cut(strings.TrimPrefix(s.Env[1], "PATH="), string(filepath.ListSeparator))
	program, err := os.Stat(filepath.Join(bin, "go1.99.2"))
	if err != nil || program.Mode()&0o100 == 0 {
		t.Errorf("the go command does not find the copy: %v, %v", program, err)
	}
	copied := filepath.Join(bin, "..", "src/database/sql/sql.go")
	for file, want := range map[string]string{copied: "hooked", filepath.Join(dir, "sql.go"): "original"} {
		if data, err := os.ReadFile(file); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", file, data, err)
		}
	}
	again, err := r.Setup(t.Context(), []Package{{ImportPath: "database/sql", Dir: dir, Standard: true}},
		Layout{ModCache: cache})
	if err != nil || !slices.Equal(again.Env, s.Env) {
		t.Errorf("the copy is not taken again: %+v, %v", again, err)
	}
	if m := toolchainOf(cache, filepath.Join(cache, "golang.org", "x", "net@v1", "http2")); m != nil {
		t.Errorf("%+v is no toolchain", m)
	}
}
