package mutations

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redline-go/redline/bench/faults/part"
)

func TestMain(m *testing.M) {
	Damage() // where a trial has started this binary
	os.Exit(m.Run())
}

// TestDamagedBundles is the bench's part with some of its trials.
func TestDamagedBundles(t *testing.T) {
	redline := filepath.Join(t.TempDir(), "redline")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", redline, "../../../cmd/redline").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	b, err := newBench(redline, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b.light = true
	r, err := b.run(t.Context(), part.Options{Trials: 50, Seed: 1, Log: t.Output()})
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
