package wait_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
)

// TestWhatTheOneInFlightDoes: the waits of those that follow are named after a call that the one in flight makes, and the finding says so.
func TestWhatTheOneInFlightDoes(t *testing.T) {
	calls := asking("net/http.(*conn).serve")
	calls.Links[0].Request = true
	b := idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).
		WakerRequest("shop/cache.(*Cache).Get@cache.go:55").Behind(calls)
	found := Expect(t, wait.Flight, b, "singleflight-convoy at cache.go:41")
	if len(found) == 1 && !strings.Contains(fmt.Sprint(found[0].Evidence), "during the wait, the one in flight waits for an HTTP call") {
		t.Errorf("%+v", found[0].Evidence)
	}
}
