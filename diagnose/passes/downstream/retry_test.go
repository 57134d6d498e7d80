package downstream_test

import (
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

// TestFewRetriesOfASlowCall: calls that a few requests repeat waste too little to be reported, and the call is slow all the same.
func TestFewRetriesOfASlowCall(t *testing.T) {
	again := []string{"runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", get}
	b := get1(idle(), 30*ms, 1.2, get).Slow(breakdown.StateSelect, 30*ms, again...)
	b.Counter(series.LoadErrors, series.Labels("kind", "status"), 0.03*b.Requests())
	ExpectAll(t, Alone(downstream.Retry, downstream.Serial, downstream.Slow), b, "downstream-slow at cache.go:41")
}

// TestRetriesByOneSign: that requests fail does not prove that their calls are repeated for it.
func TestRetriesByOneSign(t *testing.T) {
	fails := func() *Builder {
		b := get1(idle(), 8*ms, 4, get)
		return b.Counter(series.LoadErrors, series.Labels("kind", "status"), 0.5*b.Requests())
	}
	for title, b := range map[string]*Builder{
		"Calls that look like retries at cache.go:41 take": fails(),
		"Retried calls at cache.go:41 take":                fails().Wait(breakdown.StateSleep, 20*ms, 3, "time.Sleep", get),
	} {
		found := Expect(t, downstream.Retry, b, "retry-storm at cache.go:41")
		if len(found) == 1 && (!strings.HasPrefix(found[0].Title, title) ||
			(found[0].Confidence == findings.High) != strings.HasPrefix(title, "Retried")) {
			t.Errorf("%s: %s", found[0].Confidence, found[0].Title)
		}
	}
}

// TestLimiterIsNoRetry: a call waits for its turn in a rate limiter. And traces of few requests may hold calls of others: what the hooks
// count for all requests decides.
func TestLimiterIsNoRetry(t *testing.T) {
	const limiter = "golang.org/x/time/rate.(*Limiter)."
	again := []string{"runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", get}
	paused := func(pause ...string) *Builder {
		b := get1(idle(), 8*ms, 2.4, get).Slow(breakdown.StateSelect, 40*ms, again...)
		for range 4 { // more waits of the slow requests
			b.Slow(breakdown.StateSelect, ms, again...)
		}
		return b.Wait(breakdown.StateSleep, 4*ms, 1, append(pause, get)...)
	}
	Expect(t, downstream.Retry, paused("time.Sleep"), "retry-storm at cache.go:41")
	Expect(t, downstream.Retry, paused(limiter+"wait", limiter+"Wait"))
	for each, want := range map[int64][]string{1: nil, 2: {"retry-storm at cache.go:41"}} {
		b := paused("time.Sleep")
		b.Asks(operation.HTTP, "POST reviews/", each*int64(b.Requests()), 15*ms, 0, Caller(1, 15*ms, "net/http.(*Client).Do", get))
		Expect(t, downstream.Retry, b, want...)
	}
}
