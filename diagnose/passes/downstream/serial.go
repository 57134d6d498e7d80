package downstream

import (
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/findings"
)

const (
	// leastCalls is the mean number of calls per request: services with several
	// kinds of requests that make one call each stay at one.
	leastCalls = 1.8
	// leastSaved is the part of the time in calls that making them together would
	// save: with less, one call is nearly all of it, and that call is what is slow.
	leastSaved = 0.40
	// leastSavedNS per request: below a millisecond starting goroutines is not
	// worth it.
	leastSavedNS = 1e6
)

// Serial finds calls made one after another.
//
// Waits of one goroutine cannot overlap, so the time of the calls is their sum;
// made together it would be the longest (the critical path of a fork and join).
// Whether a call needs the answer of the one before it is not visible, so the gain
// is an upper bound and the cause says so.
var Serial = diagnose.Analyzer{
	Name:  "serial",
	Stage: diagnose.Wait,
	Doc: "Counts the calls to other services that a request waits for in its own goroutine: 1.8 or more in the mean, the " +
		"longest of which takes at most 60 % of the time of all. The others must take 20 % of request time and 1 ms.",
	Causes: []diagnose.Cause{{
		ID:    "downstream-serial",
		Title: "Requests call other services one after another",
		Doc: "A request makes several calls and waits for each before it makes the next, along different paths or in a loop. " +
			"It takes the sum of their times, when it could take the longest.",
		Knows: "From the trace: the calls that a request's own goroutine waits for (so they cannot overlap), by the path of " +
			"the user's functions that leads to the client, 1.8 or more per request in the mean. The share is that of all " +
			"calls; the gain assumes that only the longest remains. redline cannot see whether a call needs the answer of " +
			"the one before: if it does, the remedy is another interface (one call that does both), not concurrency. It " +
			"differs from downstream-slow in the number of calls and in the longest, which must be at most 60 % of all, and " +
			"from retry-storm in that slow and median requests make the same number of calls.",
		Remedy: "Make independent calls concurrently (errgroup with a limit), or one call for all items.",
		Example: diagnose.Example{Lang: "go",
			Before: "price, err := s.price(ctx, sku)\nstock, err := s.stock(ctx, sku)",
			After: "g, ctx := errgroup.WithContext(ctx)\n" +
				"g.Go(func() (err error) { price, err = s.price(ctx, sku); return })\n" +
				"g.Go(func() (err error) { stock, err = s.stock(ctx, sku); return })\nerr := g.Wait()"},
		Verify: "redline ab with p50: it falls towards the longest call.",
		Cases:  []string{"product-page", "basket-prices", "weather-proxy"},
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy, diagnose.NeedLoad},
	Run:   runSerial,
}

// sequence is the calls that a request makes one after another.
type sequence struct {
	calls   []call
	ns, n   float64 // per request
	longest float64 // mean of the longest call, ns
}

// sequenceOf returns the calls of a request if making them together would save
// enough of their time. Retries are left out: they are not independent of each
// other.
func sequenceOf(p *diagnose.Pass) (s sequence, ok bool) {
	for _, c := range callsOf(p) {
		if _, again := retriesOf(p, c); again || c.calls[mean] < 0.01 {
			continue
		}
		s.calls = append(s.calls, c)
		s.ns, s.n, s.longest = s.ns+c.ns[mean], s.n+c.calls[mean], max(s.longest, c.each())
	}
	return s, s.n >= leastCalls && s.saved() >= leastSaved*s.ns && s.saved() >= leastSavedNS &&
		s.saved() >= waitgain.LeastShare*float64(p.Anatomy.MeanNS)
}

// saved is the time per request, in ns, that would be left out.
func (s sequence) saved() float64 { return s.ns - s.longest }

// has reports whether a function makes calls of the sequence.
func (s sequence) has(function string) bool {
	return slices.ContainsFunc(s.calls, func(c call) bool { return c.chain[0].Function == function })
}

// runSerial has the time of all calls as its share, and as its gain what making
// them together would leave out: all but the longest.
func runSerial(p *diagnose.Pass) ([]diagnose.Finding, error) {
	s, ok := sequenceOf(p)
	if !ok {
		return nil, nil
	}
	whole := float64(p.Anatomy.MeanNS)
	share := min(1, s.ns/whole)
	at := common(s.calls)
	f := diagnose.Finding{
		Cause: "downstream-serial", Share: share, ShareOf: diagnose.OfRequest, Confidence: findings.High,
		Where: diagnose.WhereOf(at),
		Title: fmt.Sprintf("Requests make %s calls one after another at %s, which takes %s of their time; the "+
			"longest call takes %s", diagnose.Times(s.n), diagnose.At(at), diagnose.Percent(share), diagnose.Span(s.longest)),
		Remedy: fmt.Sprintf("Make the calls below %s concurrently (errgroup), or fetch everything in one call; concurrently "+
			"they would take %s instead of %s.", diagnose.At(at), diagnose.Span(s.longest), diagnose.Span(s.ns)),
	}
	diagnose.Promise(&f, p.Elsewhere(min(1, s.saved()/whole)))
	f.Where.Detail = words(s.calls[0].chain)
	for _, c := range s.calls[:min(4, len(s.calls))] {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, c.ns[mean], diagnose.Nanosec,
			"%s: %s, %s each", words(c.chain), diagnose.PerRequest(c.calls[mean], "a call", "calls"), diagnose.Span(c.each())))
	}
	return []diagnose.Finding{f}, nil
}
