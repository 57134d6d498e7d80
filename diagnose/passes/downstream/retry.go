package downstream

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
)

const (
	// leastAttempts is the number of calls per request along one path.
	leastAttempts = 1.15
	// leastSpread is how many times as often slow requests call as median ones:
	// order-notify 3.5, tax-quote 5; a loop over a fixed list has 1.
	leastSpread = 1.5
	// leastFailed is the part of requests that fail after the last attempt.
	// manyFailed replaces the spread where requests use up nearly all attempts: then
	// they all call equally often.
	leastFailed, manyFailed = 0.002, 0.2
	// leastPauses is the number of pauses per attempt after the first.
	leastPauses = 0.2
	// leastRefused is the part of the calls after the first that failed calls must
	// account for: all of them if something retries, less the trace's sampling
	// error.
	leastRefused = 0.8
	// mostAnswered is how many calls of a request may succeed: a retry stops at the
	// first success, a loop over a list does not.
	mostAnswered = 1.2
	// nearlyAll is the part of failed calls at which a loop whose items all fail
	// looks like a retry that never succeeds.
	nearlyAll = 0.95
)

// Retry finds calls that are made again and again.
//
// Without hooks the status of responses is not visible, so a retry shows as an uneven
// number of calls: few in median requests, many in slow ones. A loop over lists of
// different lengths is uneven too; so one more sign is needed, which a loop rarely
// has. The hooks count which calls fail, a status of 500 and above among them: each
// call after the first follows a failed one, and one at most succeeds.
// Retries at several levels multiply (Google, Site Reliability Engineering, 2016,
// chapter 22), hence the remedy of a budget.
var Retry = diagnose.Analyzer{
	Name:  "retry",
	Stage: diagnose.Wait,
	Doc: "Counts the calls per request along one path: at least 1.15 on average, and 1.5 times as many in slow requests as " +
		"in median ones (or a fifth of the requests fails). There must also be a sign of retries: pauses between the calls " +
		"in the same function, a retrying library on the stack, or requests that fail.",
	Causes: []diagnose.Cause{{
		ID:    "retry-storm",
		Title: "Failed calls are retried over and over",
		Doc: "A dependency refuses or fails, and each request calls it several times, immediately or after a short pause. " +
			"Latency multiplies, and so does the load on a dependency that is already in trouble.",
		Knows: "redline counts the calls per request along one path of the service's functions in the trace: more than one " +
			"on average, and not the same number in all requests (slow ones call at least 1.5 times as often as median " +
			"ones), with at least one sign of a retry: a pause between the calls in a function on the same path, a retrying " +
			"library on the stack, or requests that fail in the end. In a build with hooks redline counts the failed calls: " +
			"there must be as many of them as calls after the first, and at most one call per request succeeds. Without " +
			"hooks the status of responses is not visible, so a loop over lists of different lengths looks the same if its " +
			"requests also fail for another reason. The spread or the failures distinguish this cause from downstream-serial.",
		Remedy: "Limit retries to a budget (a tenth of the calls), with backoff, jitter and a circuit breaker; never retry " +
			"an overloaded service immediately.",
		Example: diagnose.Example{Lang: "go", Before: "for range 7 {\n\tif err = call(); err == nil {\n" +
			"\t\treturn nil\n\t}\n}", After: "for n := range 2 {\n\tif err = call(); err == nil || !budget.Take() {\n" +
			"\t\treturn err\n\t}\n\ttime.Sleep(rand.N(50 * time.Millisecond << n))\n}"},
		Verify: "redline compare BEFORE AFTER: the finding's evidence shows about one call per request, and p99 falls.",
		Cases:  []string{"order-notify", "tax-quote", "basket-prices"},
		// A dependency that does not respond is behind both.
		FollowsFrom: []string{"missing-timeout"},
		SamePlace:   true,
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy, diagnose.NeedLoad},
	Run:   runRetry,
}

// runRetry takes the cost of the calls after the first and of their pauses. Two
// signs make it certain; with one, a retry is the likely explanation of an uneven
// number of calls.
func runRetry(p *diagnose.Pass) ([]diagnose.Finding, error) {
	var found []diagnose.Finding
	for _, c := range callsOf(p) {
		r, ok := retriesOf(p, c)
		if !ok {
			continue
		}
		share := min(1, r.wasted/p.Waits().MeanNS())
		// A call and the reading of its response are two waits of one loop; the longer comes first.
		if slices.ContainsFunc(found, func(f findings.Finding) bool {
			return f.Where.Function == r.place.Function && f.Where.Line == r.place.Line
		}) {
			continue
		}
		what, confidence := "Calls that look like retries", findings.Medium
		if len(r.signs) > 1 || r.counted {
			what, confidence = "Retried calls", findings.High
		}
		f := diagnose.Finding{
			Cause: "retry-storm", Share: share, ShareOf: diagnose.OfRequest, Confidence: confidence,
			GainCeiling: p.Unasked(share, 0).Factor, Where: diagnose.WhereOf(r.place),
			Title: fmt.Sprintf("%s at %s take %s of request time: the mean request makes %s calls, a slow one %s", what,
				diagnose.At(r.place), diagnose.Percent(share), diagnose.Times(c.calls[mean]), diagnose.Number(c.calls[tail])),
			Evidence: []findings.Evidence{
				diagnose.Fact(diagnose.FromTrace, c.calls[mean], diagnose.Count,
					"%s calls per request at %s on average, %s in median requests, %s in slow ones",
					diagnose.Times(c.calls[mean]), diagnose.At(c.chain[0]), diagnose.Times(c.calls[median]), diagnose.Times(c.calls[tail])),
			},
			Remedy: fmt.Sprintf("At %s, limit retries to a budget, back off with jitter, and break the circuit while the "+
				"dependency fails.", diagnose.At(r.place)),
		}
		f.Where.Detail = usage.PathWords(c.chain)
		f.Evidence = append(f.Evidence, r.signs...)
		found = append(found, f)
	}
	return found, nil
}

// retries is the evidence that a call is made again.
type retries struct {
	place  code.Frame // the function that repeats
	wasted float64    // ns per request of calls after the first and of pauses
	signs  []findings.Evidence
	// counted is set if the hooks saw that calls which others follow had failed.
	counted bool
}

// retriesOf is the rule. All calls after the first, with their pauses, are wasted:
// if the dependency responded, they would not be made. Retries that waste little do not count: the call that they repeat
// may be slow itself.
func retriesOf(p *diagnose.Pass, c call) (r retries, ok bool) {
	r, ok = repeatsOf(p, c)
	return r, ok && r.wasted >= waitgain.LeastNS && r.wasted >= waitgain.LeastShare*p.Waits().MeanNS()
}

// repeatsOf returns the retries of a call, however much they waste.
func repeatsOf(p *diagnose.Pass, c call) (r retries, ok bool) {
	n := c.calls[mean]
	failed := 0.0
	if l := p.Load(); l.Requests > 0 {
		failed = l.Errors / l.Requests
	}
	// Slow requests wait for a worker's calls for others too.
	spread := !c.worker && c.calls[tail] >= leastSpread*max(1, c.calls[median])
	var refused float64
	if n >= leastAttempts {
		var made float64
		if refused, made, r.counted = refusedOf(p, c); made > 0 && made < leastAttempts {
			return r, false // the traces' few requests made more, or were cut
		}
	}
	if n < leastAttempts || !spread && failed < manyFailed && !r.counted {
		return r, false
	}
	r.place, r.wasted = repeating(p, c), c.ns[mean]*(1-1/n)
	if r.counted {
		r.signs = append(r.signs, diagnose.Fact(diagnose.FromProcess, refused, diagnose.Ratio,
			"%s of these calls fail or return a status of 500 or above; at most one per request succeeds",
			diagnose.Percent(refused)))
	}
	if pause, at, times := pauses(p, c); times >= leastPauses*(n-1) {
		r.place, r.wasted = at, r.wasted+pause
		r.signs = append(r.signs, diagnose.Fact(diagnose.FromTrace, pause, diagnose.Nanosec,
			"the request pauses %s times between them, for %s in all", diagnose.Times(times), diagnose.Span(pause)))
	}
	if library := retrier(c.stack); library != "" {
		r.signs = append(r.signs, diagnose.Fact(diagnose.FromTrace, 1, diagnose.Ratio, "%s makes the calls", library))
	}
	if failed >= leastFailed {
		r.signs = append(r.signs, diagnose.Fact(diagnose.FromLoad, failed, diagnose.Ratio,
			"%s of the requests still fail", diagnose.Percent(failed)))
	}
	return r, len(r.signs) > 0
}

// repeating returns the innermost of the service's lines on the way to a call that is in a loop, by its sources, or else who calls:
// what only passes a call on may be what makes it again.
func repeating(p *diagnose.Pass, c call) code.Frame {
	loops := callstack.LinesOf(p.Sources().Loops)
	for _, f := range c.stack {
		if p.Stacks.User(f) && loops.Has(f) {
			return f
		}
	}
	return c.chain[0]
}

// refusedOf returns the part of a path's calls that fail, as counted by the hooks, how many a request makes, and
// whether failures account for the calls after the first.
func refusedOf(p *diagnose.Pass, c call) (part, made float64, accounted bool) {
	ops := p.Operations()
	if ops == nil {
		return 0, 0, false
	}
	var calls, failures float64
	for _, o := range ops.Operations {
		if o.Kind != operation.HTTP && o.Kind != operation.RPC {
			continue
		}
		for _, by := range o.Callers {
			if slices.ContainsFunc(by.Stack, func(f code.Frame) bool { return f.Function == c.chain[0].Function }) {
				// Failures are not counted per caller, so they are divided evenly.
				calls, failures = calls+by.Share*float64(o.Calls), failures+by.Share*float64(o.Errors)
			}
		}
	}
	if calls == 0 {
		return 0, 0, false
	}
	n := c.calls[mean]
	part, made = failures/calls, calls/max(1, p.CountedRequests())
	return part, made, part < nearlyAll && part*n >= leastRefused*(n-1) && (1-part)*n <= mostAnswered
}

// pauses returns how long and how often requests sleep in the functions of a path,
// per request, in ns, and where. A limiter lets a first call wait as it does the next.
func pauses(p *diagnose.Pass, c call) (ns float64, at code.Frame, times float64) {
	for _, part := range p.Anatomy.All {
		if p.Stacks.Wait(part) != callstack.SleepWait || inLimiter(part.Stack) {
			continue
		}
		place, ok := p.Stacks.Place(part.Stack)
		if !ok || !slices.ContainsFunc(c.chain, func(f code.Frame) bool { return f.Function == place.Function }) {
			continue
		}
		if at.Function == "" {
			at = place // the longest
		}
		ns, times = ns+float64(part.NS), times+part.Times
	}
	return ns, at, times
}

// inLimiter reports whether a stack waits for its turn in a rate limiter, such as the one of Kubernetes' client.
func inLimiter(stack []code.Frame) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool {
		pkg, _ := callstack.Split(f.Function)
		return pkg == "golang.org/x/time/rate" || strings.HasSuffix(pkg, "/flowcontrol") || strings.HasSuffix(pkg, "/ratelimit")
	})
}

// retriers are prefixes of functions and packages that repeat failed calls.
var retriers = []string{
	"github.com/go-resty/resty/v2.Backoff", "github.com/hashicorp/go-retryablehttp.",
	"github.com/avast/retry-go", "github.com/cenkalti/backoff",
	"github.com/failsafe-go/failsafe-go", "github.com/sethgrid/pester.", "github.com/eapache/go-resiliency/retrier.",
	"github.com/gojek/heimdall",
	"github.com/sethvargo/go-retry.", "google.golang.org/grpc.(*clientStream).retryLocked", "github.com/aws/aws-sdk-go-v2/aws/retry.",
}

// retrier names the retrying library on a stack; "" without one.
func retrier(stack []code.Frame) string {
	for _, f := range stack {
		for _, prefix := range retriers {
			if strings.HasPrefix(strings.ReplaceAll(f.Function, "%2e", "."), prefix) {
				return callstack.Short(f.Function)
			}
		}
	}
	return ""
}
