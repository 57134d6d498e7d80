package mutations

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestPanicsAreFailures: a panic that redline recovers from is a failure, whatever the exit code and wherever it is
// printed.
func TestPanicsAreFailures(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		failed bool
	}{
		"of the command": {"echo 'redline: the bundle is damaged, or this is a bug in redline; the last file ...' >&2; exit 2", true},
		"of a rule":      {"echo 'not judged: gc-cpu (a bug'; echo 'in redline (gc.go:7): index out of range)'", true},
		"none":           {"echo 'redline: open run.json: no file' >&2; exit 2", false},
	} {
		dir := t.TempDir()
		redline := filepath.Join(dir, "redline")
		if err := os.WriteFile(redline, fmt.Appendf(nil, "#!/bin/sh\n%s\n", c.script), 0o755); err != nil {
			t.Fatal(err)
		}
		out := outcome{name: name}
		(&bench{redline: redline, module: dir}).start(t.Context(), &out, []string{"diagnose", "run", "--all"})
		if failed := len(out.failures) > 0; failed != c.failed {
			t.Errorf("a panic %s: failures %q", name, out.failures)
		}
	}
}
