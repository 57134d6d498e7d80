package instrument

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// copied copies a module of one file to below parent.
func copied(t *testing.T, parent string) (dir string, err error) {
	t.Helper()
	from := t.TempDir()
	if err := os.WriteFile(filepath.Join(from, "lib.go"), []byte("package lib\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &Module{Path: "example.com/lib", Version: "v1.0.0", Dir: from}
	return copyModule(t.Context(), parent, m, map[string][]byte{"hook.go": []byte("package lib\n")})
}

// TestCopiesThatOthersCanChangeAreRefused: what lies there is compiled into the service and run.
func TestCopiesThatOthersCanChangeAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(parent, copy string) error
		want   string
	}{
		"open":         {func(parent, _ string) error { return os.Chmod(parent, 0o777) }, "can be written by others"},
		"above":        {func(parent, _ string) error { return os.Chmod(filepath.Dir(parent), 0o777) }, "can be written by others"},
		"theirs":       {func(parent, _ string) error { return os.Chown(parent, 65534, 65534) }, "belongs to user 65534"},
		"a file":       {func(parent, _ string) error { return exchanged(parent) }, "not a directory"},
		"planted":      {func(_, copy string) error { return os.Chown(copy, 65534, 65534) }, "belongs to user 65534"},
		"a file there": {func(_, copy string) error { return exchanged(copy) }, "is no folder"},
	} {
		parent := filepath.Join(t.TempDir(), "instrumented")
		copy, err := copied(t, parent)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := copied(t, parent); err != nil || again != copy {
			t.Fatalf("the copy %s is not taken again: %s, %v", copy, again, err)
		}
		if err := c.change(parent, copy); err != nil {
			t.Log(name, " cannot be made here: ", err)
			continue
		}
		if _, err := copied(t, parent); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// exchanged puts a file in the place of a folder.
func exchanged(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.WriteFile(dir, nil, 0o600)
}
