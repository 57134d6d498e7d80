package compiler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/service/compiler"
)

// TestTheGoCommandsFilesAreOurs: what the go command leaves behind when it is killed
// lies in a folder that redline removes, or sweeps at its next start.
func TestTheGoCommandsFilesAreOurs(t *testing.T) {
	bin, temporary, where := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "where")
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("TMPDIR", temporary)
	t.Setenv("WHERE", where)
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\nprintf '%s %s %s\\n' \"$1\" \"$2\" \"$GOTMPDIR\" >>\"$WHERE\"\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := compiler.List(t.Context(), compiler.Build{Dir: "."}, "."); err != nil {
		t.Fatal(err)
	}
	if _, err := compiler.Ask(t.Context(), compiler.Build{Dir: "."}, "example.com/a"); err != nil {
		t.Fatal(err)
	}
	asked, err := os.ReadFile(where)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(asked)), "\n")
	for i, verb := range []string{"list -deps", "list -export"} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], verb+" "+filepath.Join(temporary, "redline-")) {
			t.Errorf("go %s was asked with %q", verb, lines)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%v is left, error %v", left, err)
	}
}
