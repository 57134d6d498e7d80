package secrets

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/bench/faults/part"
	"github.com/redline-go/redline/service/postgres"
)

// TestNoSecretIsWrittenOrPrinted is the bench with the verbs that take no
// comparison. REDLINE names another binary to try, SEED repeats the secrets of a failure.
func TestNoSecretIsWrittenOrPrinted(t *testing.T) {
	if _, err := postgres.Installed(); err != nil {
		t.Skip("no PostgreSQL here, which shows some of the secrets: ", err)
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("SEED=%d", seed)
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
		Seed: seed, Log: t.Output()}, quick)
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

// TestNoTrialWithoutADatabase: secrets that nothing shows must not count as tried.
func TestNoTrialWithoutADatabase(t *testing.T) {
	scratch := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(scratch, "none")) // no folder for the server
	result, err := run(t.Context(), part.Options{Redline: "none", Scratch: scratch, Trials: len(carriers), Log: t.Output()}, true)
	if err == nil || !strings.Contains(err.Error(), "database") || result.Tried != 0 {
		t.Errorf("%d tried, %v", result.Tried, err)
	}
}
