package wait_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
)

// TestBroughtByALaterRequest: who ends the wait comes while others wait, and so holds no slot.
func TestBroughtByALaterRequest(t *testing.T) {
	waits := func(does ...string) *Builder {
		return idle().Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", get).WakerRequest("runtime.chansend1", set).
			Behind(chain(breakdown.Link{Goroutine: "net/http.(*conn).serve", Request: true, State: breakdown.StateNetwork,
				Stack: append(Stack(does...), Serving()...)}))
	}
	Expect(t, wait.Channel, waits("internal/poll.runtime_pollWait", "net.(*conn).Read", "net/http.(*connReader).Read"))
	Expect(t, wait.Channel, waits("internal/poll.runtime_pollWait", "net.(*conn).Read", set), "concurrency-limit at cache.go:41")
}

// TestWaitThatNothingEnds: whether it is a queue or an event is not known.
func TestWaitThatNothingEnds(t *testing.T) {
	polls := idle().Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", get)
	found := Expect(t, wait.Channel, polls, "channel-bottleneck at cache.go:41")
	if len(found) == 1 && (found[0].Confidence != findings.Low || !strings.Contains(found[0].Remedy, "what ends the wait")) {
		t.Errorf("%s: %s", found[0].Confidence, found[0].Remedy)
	}
}
