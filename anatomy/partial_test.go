package anatomy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestWorkOnAGoroutineOfItsOwn traces requests that are longer than the trace, and whose
// handler a middleware runs on a goroutine of its own: each waits for what that goroutine
// does, whether it was started before the trace or within it.
func TestWorkOnAGoroutineOfItsOwn(t *testing.T) {
	const n = 3
	for _, before := range []bool{true, false} {
		release, arrived := make(chan struct{}), make(chan struct{}, n)
		v := serve(t, http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			arrived <- struct{}{}
			<-release
		}), time.Minute, "").ServeHTTP, nil)
		ended := make(chan error, n)
		start := func() {
			for range n {
				go func() { ended <- get(http.DefaultClient, v.url()) }()
			}
			for range n {
				<-arrived
			}
		}
		traced := start
		if before {
			start()
			traced = func() { time.Sleep(time.Millisecond) }
		}
		a, _ := v.dissect(v.traced(traced))
		close(release)
		for range n {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		// A client has its answer before the server's goroutine is through with the request, which the next trace would
		// find under way.
		if err := v.server.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a.Partial != n {
			t.Fatalf("started before the trace %t: %d requests counted, want %d", before, a.Partial, n)
		}
		const worker = "net/http.(*timeoutHandler).ServeHTTP.func1"
		followed := func(c breakdown.Chain) bool {
			return c.Links[0].Goroutine == worker && c.Links[0].State == breakdown.StateChannel && c.NS > 0
		}
		behind := func(p breakdown.Part) bool {
			return p.State == breakdown.StateSelect && slices.ContainsFunc(p.Behind, followed)
		}
		if !slices.ContainsFunc(a.All, behind) {
			t.Errorf("started before the trace %t: the wait is not followed to the handler: %+v", before, a.All)
		}
	}
}

// TestCutRequestsCountWhereTheyHoldMoreTime has many whole requests, and a few that stall meanwhile: the whole ones are not
// what requests do there. Three times as many stall as run at once, so that they hold more time whatever the host does.
func TestCutRequestsCountWhereTheyHoldMoreTime(t *testing.T) {
	const n = 6
	release, arrived := make(chan struct{}), make(chan struct{}, n)
	v := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			arrived <- struct{}{}
			<-release
		}
	}, nil)
	ended := make(chan error, n)
	a, _ := v.dissect(v.traced(func() {
		for range n {
			go func() {
				ended <- get(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, v.url()+"/long")
			}()
		}
		for range n {
			<-arrived
		}
		closedLoop(v.t, 2, 20, func(c *http.Client, i int) error { return get(c, v.url()) })
	}))
	close(release)
	for range n {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if a.Requests < 20 || a.Partial < n {
		t.Fatalf("%d whole requests, %d parts counted; want 20 or more, and %d or more", a.Requests, a.Partial, n)
	}
	waits := 0.0
	for _, p := range a.All {
		if p.State == breakdown.StateChannel && strings.Contains(p.Site, "TestCutRequestsCount") {
			waits += p.Share
		}
	}
	if waits < 0.5 || !slices.ContainsFunc(a.Warnings, func(w string) bool { return strings.Contains(w, "took more time than") }) {
		t.Errorf("%.2f of request time waits for the release; warnings %q", waits, a.Warnings)
	}
}

// TestCutRequestsStayOutWhereWholeOnesAreMany has enough whole requests: those that an
// edge cuts would only blur the durations.
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
