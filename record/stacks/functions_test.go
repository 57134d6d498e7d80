package stacks

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// TestUnreadableProfileIsAnError: a run without a CPU profile has no shares; one whose profile
// does not parse has an error that names the file.
func TestUnreadableProfileIsAnError(t *testing.T) {
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"", "no profile"} {
		dir := filepath.Join(t.TempDir(), "bundle")
		steady := timebase.Span{To: time.Second}
		w, err := record.Create(dir, record.Run{Clock: clock, Window: timebase.DefaultWindow, Steady: steady, Scenario: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		if data != "" {
			if err := w.Profile(record.Profile{Type: "cpu", Span: steady, Data: []byte(data)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(record.Complete, ""); err != nil {
			t.Fatal(err)
		}
		rec, err := record.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		self, total, samples, err := Functions(rec)
		if len(self)+len(total) != 0 || samples != 0 || (err != nil) != (data != "") {
			t.Errorf("profile %q: %d samples, %v, %v, %v", data, samples, self, total, err)
		}
		if err != nil && !strings.Contains(err.Error(), filepath.Join(dir, "profiles", "cpu-w0-w9_0-1000000000.pprof")) {
			t.Errorf("the error names no file: %v", err)
		}
	}
}
