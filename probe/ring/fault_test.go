//go:build linux && !race

package ring

import (
	"errors"
	"os"
	"testing"
)

// TestTargetSurvivesTruncation truncates a ring under its writer. It is not run
// under the race detector, whose stores cannot be guarded.
func TestTargetSurvivesTruncation(t *testing.T) {
	w, path := create(t, 8)
	put(t, w, 0)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(1, 2, 3, make([]float64, 3)); !errors.Is(err, errGone) {
		t.Errorf("Write: %v", err)
	}
	if err := w.Close(); !errors.Is(err, errGone) {
		t.Errorf("Close: %v", err)
	}
}
