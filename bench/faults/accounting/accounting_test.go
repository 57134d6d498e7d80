package accounting

import (
	"os"
	"strings"
	"testing"

	"github.com/redline-go/redline/bench/faults/part"
)

func TestMain(m *testing.M) {
	Serve()
	os.Exit(m.Run())
}

// TestSample makes one trial of each fault, and the rest of a second round:
// `make bench-faults` makes all.
func TestSample(t *testing.T) {
	var chosen []trial
	met := map[string]bool{}
	for i, one := range trials() {
		// Protocols take turns, or the first would meet all faults.
		if !met[one.fault] && (i/7)%len(protocols) == len(met)%len(protocols) || !met[one.fault] && i > 100 {
			met[one.fault] = true
			chosen = append(chosen, one)
		}
	}
	if len(chosen) != len(faults) {
		t.Fatalf("%d faults of %d", len(chosen), len(faults))
	}
	var log strings.Builder
	r, err := runAll(t.Context(), chosen, part.Options{Scratch: t.TempDir(), Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range r.Failures {
		t.Error(line)
	}
	t.Log("\n" + log.String())
}
