package wait_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/series"
)

// TestLeakEndsAsItWaits: a buffer ends no goroutine that reads a connection.
func TestLeakEndsAsItWaits(t *testing.T) {
	const watch = "shop/cache.(*watcher).watch@cache.go:130"
	for frames, want := range map[string]string{
		"runtime.gopark runtime.chansend1":                             "a buffer of one",
		"runtime.gopark runtime.selectgo":                              "a context's Done",
		"runtime.gopark time.Sleep":                                    "instead of sleeping",
		"internal/poll.runtime_pollWait net.(*conn).Read":              "close the connection",
		"sync.runtime_SemacquireMutex sync.(*Mutex).Lock":              "who keeps the lock",
		"runtime.gopark sync.runtime_notifyListWait sync.(*Cond).Wait": "always signalled",
		"runtime.gopark": "pass it a context",
	} {
		b := idle().Left(40, 1040, append(strings.Fields(frames), watch)...).Gauge(series.LoadInFlight, "", 12).
			Series("/sched/goroutines:goroutines", "", func(w int) float64 { return 100 + 10*float64(w) })
		if found := Expect(t, wait.Leak, b, "goroutine-leak at cache.go:130"); len(found) == 1 && !strings.Contains(found[0].Remedy, want) {
			t.Errorf("%s: %q, want %q", frames, found[0].Remedy, want)
		}
	}
}
