package suite_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

// TestStopsAreOneFinding: a call that stops the world is not the collector's, and neither the lock that is held meanwhile nor
// the function that calls is a finding of its own.
func TestStopsAreOneFinding(t *testing.T) {
	const reads, stats = "runtime.ReadMemStats", "shop/web.stats@web.go:9"
	b := New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, 2*ms, 3).
		Wait(breakdown.StateStoppedByCall, 30*ms, 2, reads, stats).
		Wait(breakdown.StateLock, 14*ms, 1, "sync.runtime_SemacquireMutex", "sync.(*Mutex).Lock", "shop/cache.(*Cache).Get@cache.go:41").
		Sample(4*time.Second, reads, stats)
	found := ExpectAll(t, suite.All(), b, "stops-the-world at web.go:9")
	for _, words := range []string{"the call takes 100 % of the service's CPU", "the mean request waits 14.0 ms"} {
		says := func(e findings.Evidence) bool { return strings.Contains(e.Text, words) }
		if len(found) == 1 && !slices.ContainsFunc(found[0].Evidence, says) {
			t.Errorf("it is not said that %s: %+v", words, found[0].Evidence)
		}
	}
	// Collections that the program forces have a cause of their own, stops and all.
	forced := New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, 2*ms, 3).
		Wait(breakdown.StateStoppedByCall, 30*ms, 2, "runtime.gcStart", "runtime.GC", stats).
		Counter(series.GCCycles, "", 600).Counter(series.GCForced, "", 600)
	ExpectFirst(t, suite.All(), forced, "gc-forced")
}
