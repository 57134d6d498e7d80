package wait_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
)

// TestReaderOfAClient: the one goroutine of a client that reads the responses to all calls is no queue; the calls are slow.
// One of the service's own may be either.
func TestReaderOfAClient(t *testing.T) {
	waits := func(entry string, call ...string) *Builder {
		reads := chain(breakdown.Link{Goroutine: entry, State: breakdown.StateNetwork,
			Stack: Stack("internal/poll.runtime_pollWait", "net.(*conn).Read", "bufio.(*Reader).fill", entry)})
		serial := breakdown.Serial{Goroutine: strings.Split(entry, "@")[0], Goroutines: 1, Requests: 3000, WaitNS: int64(30 * ms),
			Utilization: 0.99, OnCPU: 0.05, ServiceNS: int64(330 * us)}
		return idle().Wait(breakdown.StateChannel, 30*ms, 1, append(append([]string{"runtime.chanrecv1"}, call...), get)...).
			Waker("runtime.chansend1", entry).Behind(reads).Path(nil, serial)
	}
	library := waits("net/rpc.(*Client).input", "net/rpc.(*Client).Call")
	Expect(t, wait.Channel, library)
	found := Expect(t, downstream.Slow, library, "downstream-slow at cache.go:41")
	if len(found) == 1 && !strings.Contains(found[0].Title, "for a downstream call (rpc.(*Client).Call) at cache.go:41") {
		t.Error(found[0].Title)
	}
	own := Expect(t, wait.Channel, waits("shop/cache.(*client).read@cache.go:90"), "channel-bottleneck at cache.go:41")
	if len(own) == 1 && (own[0].Confidence != "medium" || !strings.Contains(own[0].Remedy, "the service at the other end takes the time")) {
		t.Errorf("%s: %s", own[0].Confidence, own[0].Remedy)
	}
}
