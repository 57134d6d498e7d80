package mutations

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redline-go/redline/bench/faults/part"
)

// TestDamagedBundles is the bench's part with some of its trials.
func TestDamagedBundles(t *testing.T) {
	redline := filepath.Join(t.TempDir(), "redline")
	if out, err := exec.Command("go", "build", "-o", redline, "../../../cmd/redline").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	b, err := newBench(redline, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b.light = true
	r, err := b.run(t.Context(), part.Options{Trials: 100, Seed: 1, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failures {
		t.Error(f)
	}
	for _, f := range r.Figures {
		t.Logf("%s: %s", f.Name, f.Value)
	}
}
