package secrets

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redline-go/redline/bench/faults/part"
)

// TestNoSecretIsWrittenOrPrinted is the bench with the verbs that take no
// comparison. REDLINE names another binary to try.
func TestNoSecretIsWrittenOrPrinted(t *testing.T) {
	binary := os.Getenv("REDLINE")
	if binary == "" {
		binary = filepath.Join(t.TempDir(), "redline")
		if out, err := exec.Command("go", "build", "-trimpath", "-o", binary, "../../../cmd/redline").CombinedOutput(); err != nil {
			t.Fatalf("build redline: %v\n%s", err, out)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	quick := os.Getenv("FULL") == ""
	result, err := run(ctx, part.Options{Redline: binary, Scratch: t.TempDir(), Trials: len(carriers),
		Seed: uint64(time.Now().UnixNano()), Log: t.Output()}, quick)
	for _, f := range result.Figures {
		t.Logf("%s: %s", f.Name, f.Value)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, failure := range result.Failures {
		t.Error(failure)
	}
}
