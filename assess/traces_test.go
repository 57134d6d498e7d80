package assess

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
)

// traced opens a bundle with empty traces of these sizes.
func traced(t *testing.T, sizes ...int64) string {
	t.Helper()
	dir := killedBundle(t)
	if err := os.MkdirAll(filepath.Join(dir, "traces"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, size := range sizes {
		path := filepath.Join(dir, "traces", fmt.Sprintf("trace-w%d-w%d_%d-%d.trace", i, i, i*int(time.Second), (i+1)*int(time.Second)))
		if err := os.WriteFile(path, []byte("go 1.26 trace\x00\x00\x00"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestManyTracesAreSpread: if there are more traces than can be analyzed, the chosen ones
// cover the whole run.
func TestManyTracesAreSpread(t *testing.T) {
	sizes := make([]int64, 40)
	for i := range sizes {
		sizes[i] = 16 << 20
	}
	rec, err := record.Open(traced(t, sizes...))
	if err != nil {
		t.Fatal(err)
	}
	kept, warnings := inputs(rec)
	if len(kept) < 7 || len(kept) > 9 || len(warnings) != 1 || !strings.Contains(warnings[0], "left out") ||
		!strings.Contains(warnings[0], "they hold 640 MB, and at most 128 MB and 100 traces are read") {
		t.Fatalf("%d of 40 traces are kept, %q", len(kept), warnings)
	}
	if first, last := kept[0].Span.From, kept[len(kept)-1].Span.From; first > 5*time.Second || last < 34*time.Second {
		t.Errorf("from %v to %v", first, last)
	}
	for i := range kept[1:] {
		if gap := kept[i+1].Span.From - kept[i].Span.From; gap > 6*time.Second {
			t.Errorf("none for %v", gap)
		}
	}
}
