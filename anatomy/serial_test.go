package anatomy_test

import (
	"bytes"
	"testing"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/record/breakdown"
)

// recorded takes a fixture of testdata/path apart.
func recorded(t *testing.T, name string) *breakdown.Anatomy {
	t.Helper()
	a, err := analyze(bytes.NewReader(readFixture(t, "path-"+name+".trace")), anatomy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSerialResources: the goroutine that all requests wait for is busy all the time, and
// its time per request is what bounds throughput; a request's own goroutines, and those
// of other requests, are not a resource that all share.
func TestSerialResources(t *testing.T) {
	for _, name := range []string{"store", "closes"} {
		a := recorded(t, name)
		var loop breakdown.Serial
		for _, s := range a.Serial {
			if s.Goroutine == "main.(*Store).loop" {
				loop = s
			}
		}
		if loop.Goroutines != 1 || loop.Requests != 120 || loop.Utilization < 0.8 || loop.Utilization > 1 {
			t.Errorf("%s: %+v, want one busy goroutine that 120 requests waited for", name, a.Serial)
		}
		if did := loop.OnCPU + loop.Queued; did < 0.9*loop.Utilization || did > 1.001 {
			t.Errorf("%s: of %v busy it ran %v and was queued %v", name, loop.Utilization, loop.OnCPU, loop.Queued)
		}
		// The utilization law: its time per request bounds the throughput, and the load
		// came close to that.
		rate := float64(a.Requests) / a.Traced.Seconds()
		if bound := 1e9 / float64(loop.ServiceNS); rate > 1.01*bound || rate < 0.8*bound {
			t.Errorf("%s: %.1f requests/s, bounded by %.1f/s", name, rate, bound)
		}
	}
	for _, name := range []string{"fanout", "lock"} {
		for _, s := range recorded(t, name).Serial {
			t.Errorf("%s: %+v is reported as a server of all requests", name, s)
		}
	}
}

// TestWorkersThatWakeAll: workers that each wake all requests whenever they are done are
// all busy with what the requests wait for, although only one of them ends each wait.
func TestWorkersThatWakeAll(t *testing.T) {
	for _, s := range recorded(t, "crowd").Serial {
		if s.Goroutine == "main.(*Crowd).worker" {
			if s.Goroutines != 3 || s.Utilization < 0.9 || s.Utilization > 1 {
				t.Errorf("%+v, want three workers that are always busy", s)
			}
			return
		}
	}
	t.Error("the workers are not among those that requests wait for")
}
