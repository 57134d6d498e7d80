package anatomy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/record/breakdown"
)

// TestRequestsUnderWayCount traces a service whose requests are longer than the
// trace: each counts with what it did so far, at the place where it is.
func TestRequestsUnderWayCount(t *testing.T) {
	const n = 3
	release, arrived := make(chan struct{}), make(chan struct{}, n)
	v := serve(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-release
	}, nil)
	ended := make(chan error, n)
	a, _ := v.dissect(v.traced(func() {
		for range n {
			go func() { ended <- get(http.DefaultClient, v.url()) }()
		}
		for range n {
			<-arrived
		}
	}))
	close(release)
	for range n {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if a.Requests != 0 || a.Cut != n || a.Partial != n {
		t.Fatalf("%d whole, %d cut, %d of them counted; want 0, %d, %d", a.Requests, a.Cut, a.Partial, n, n)
	}
	// How long it waited for a CPU before that is the host's business.
	where := func(p breakdown.Part) bool {
		return p.State == breakdown.StateChannel && p.NS > 0 && strings.Contains(p.Site, "TestRequestsUnderWayCount")
	}
	if a.MeanNS <= 0 || !slices.ContainsFunc(a.All, where) {
		t.Errorf("a mean of %v, parts %+v", a.MeanNS, a.All)
	}
}

// TestCutRequestsStayOutWhereWholeOnesAreMany has enough whole requests: what an
// edge cuts would only blur their durations.
func TestCutRequestsStayOutWhereWholeOnesAreMany(t *testing.T) {
	release, arrived := make(chan struct{}), make(chan struct{}, 1)
	v := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			arrived <- struct{}{}
			<-release
		}
	}, nil)
	ended := make(chan error, 1)
	a, _ := v.dissect(v.traced(func() {
		go func() {
			ended <- get(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, v.url()+"/long")
		}()
		<-arrived
		closedLoop(v.t, 2, 20, func(c *http.Client, i int) error { return get(c, v.url()) })
	}))
	close(release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	// The last answer of either connection may be read before the server's goroutine is
	// through with it, and the trace ends then.
	if a.Requests+a.Cut != 41 || a.Cut < 1 || a.Cut > 3 || a.Partial != 0 {
		t.Errorf("%d whole, %d cut, %d of them counted; want 40, 1, 0", a.Requests, a.Cut, a.Partial)
	}
}
