package downstream

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
)

const (
	// leastCalls is the mean number of calls per request: services with several
	// kinds of requests that make one call each stay at one.
	leastCalls = 1.8
	// leastSaved is the least part of the time in calls that making them
	// concurrently would save: with less, one call takes nearly all of it and is
	// itself slow.
	leastSaved = 0.40
	// leastSavedNS per request: below a millisecond starting goroutines is not
	// worth it.
	leastSavedNS = 1e6
	// leastAtOnce is the mean number of calls that are made at a time from which they count
	// as concurrent: halfway between one and two.
	leastAtOnce = 1.5
	// mostAlike is the part of the calls' time that must be spent at addresses without variable parts, and
	// mostTexts how many of them are named.
	mostAlike = 0.9
	mostTexts = 3
)

// Serial finds calls made one after another.
//
// Waits of one goroutine cannot overlap, so the time of the calls is their sum;
// made concurrently it would be the longest (the critical path of a fork and join).
// Whether a call needs the response to the one before it is not visible, so the gain
// is an upper bound and the cause says so.
//
// Goroutines that a request waits for may make its calls. The critical path leads through one
// of them at a time: of ten calls made at once it shows one, of ten made one after another all.
// Of forty made by eight workers it shows five, which is not a defect. By Little's law the mean
// number of calls at a time is the time in all calls over the time in which requests wait for
// one; the hooks count the former.
var Serial = diagnose.Analyzer{
	Name:  "serial",
	Stage: diagnose.Wait,
	Doc: "Counts the calls to other services that a request waits for one after another, in its own goroutine or in those it " +
		"waits for: at least 1.8 on average, and the longest takes at most 60 % of their time. The rest must take at least " +
		"20 % of request time and 1 ms.",
	Causes: []diagnose.Cause{{
		ID:    "downstream-serial",
		Title: "Requests call other services one after another",
		Doc: "Each request makes several calls and waits for each before it makes the next, along different paths or in a " +
			"loop. It takes as long as all of them together, but could take only as long as the longest.",
		Knows: "- From the trace: at least 1.8 calls per request on the critical path (so they do not overlap), grouped by the path of " +
			"the service's functions that leads to the client. The request's own goroutine makes them, or one that works for it " +
			"while it waits.\n" +
			"- If the hooks count 1.5 or more such calls in flight at a time, they count as concurrent. Calls that the service " +
			"answers itself count if it makes no others.\n" +
			"- The place is the function at whose lines the paths part, or for one path the innermost function that calls in a loop, " +
			"by the sources that --build compiles.\n" +
			"- The gain assumes that only the longest call remains, also for the queue at a lock that is held in the meantime. " +
			"redline cannot see whether a call needs the response to the one before: if it does, the remedy is another interface " +
			"(one call that does both), not concurrency.\n" +
			"- If the addresses of the calls do not differ between requests, the finding also advises caching the responses, and " +
			"says how much that gains; if that gains more, it comes first.\n" +
			"- Mostly one command for each element, sent to a key-value store, is db-n-plus-one or db-unbatched-write.\n" +
			"- In downstream-slow there are fewer calls, or one takes more than 60 % of their time; in retry-storm slow requests " +
			"make more calls than the median.",
		Remedy: "Make independent calls concurrently (errgroup with a limit), or make one call for all items.",
		Example: diagnose.Example{Lang: "go",
			Before: "price, err := s.price(ctx, sku)\nstock, err := s.stock(ctx, sku)",
			After: "g, ctx := errgroup.WithContext(ctx)\n" +
				"g.Go(func() (err error) { price, err = s.price(ctx, sku); return })\n" +
				"g.Go(func() (err error) { stock, err = s.stock(ctx, sku); return })\nerr := g.Wait()"},
		Verify: "redline ab with p50: it falls towards the time of the longest call.",
		Cases:  []string{"product-page", "basket-prices", "lock-levels", "weather-proxy"},
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy, diagnose.NeedLoad},
	Run:   runSerial,
}

// sequence is the calls that a request makes one after another.
type sequence struct {
	calls   []call
	ns, n   float64 // per request
	whole   float64 // time of a request, ns
	longest float64 // mean of the longest call, ns
	atOnce  float64 // how many are made at a time; 1 if it is not known
	own     bool    // the target answers the calls itself
}

// leastOfLongest is the least part of the longest path's time: what is shorter is not a call, but the rest of one, such as reading its
// response, or makes no difference.
const leastOfLongest = 0.01

// sequenceOf returns the calls of a request if making them concurrently would save
// enough of their time. Retries are left out: they are not independent.
//
// Calls to the target's own server are a sequence of their own, because they hold the calls of its handlers.
func sequenceOf(p *diagnose.Pass) (s sequence, ok bool) {
	if s, ok = sequenceIn(p, callsOf(p)); ok {
		return s, true
	}
	s, ok = sequenceIn(p, ownCalls(p))
	s.own = true
	return s, ok
}

func sequenceIn(p *diagnose.Pass, all []call) (s sequence, ok bool) {
	for _, c := range all {
		if _, again := retriesOf(p, c); again || c.calls[mean] < 0.01 || c.ns[mean] < leastOfLongest*all[0].ns[mean] {
			continue
		}
		s.calls = append(s.calls, c)
		s.ns, s.n, s.longest = s.ns+c.ns[mean], s.n+c.calls[mean], max(s.longest, c.each())
	}
	if len(s.calls) == 0 || s.ofOthers(p) {
		return s, false
	}
	s.whole = p.Waits().MeanNS()
	s.atOnce = atATime(p, s)
	return s, s.n >= leastCalls && s.atOnce < leastAtOnce && s.saved() >= leastSaved*s.ns && s.saved() >= leastSavedNS &&
		s.saved() >= waitgain.LeastShare*s.whole
}

// ofOthers reports whether requests wait for calls that a goroutine makes for others: for each request the hooks count fewer
// than it waits for. It is a queue, whose calls follow each other because requests do.
func (s sequence) ofOthers(p *diagnose.Pass) bool {
	ops, requests := p.Operations(), p.CountedRequests()
	delegated := slices.ContainsFunc(s.calls, func(c call) bool { return c.by != "" })
	if ops == nil || !delegated || !(requests > 0) {
		return false
	}
	made := 0.0
	for o := range s.operations(ops) {
		made += float64(o.Calls) / requests
	}
	return made > 0 && made < leastCalls
}

// atATime returns how many of the sequence's calls are in flight while a request waits for
// one, where goroutines make them that it waits for: by Little's law the part of request time that
// the hooks count in all calls, over the critical path's. 1 without hooks.
func atATime(p *diagnose.Pass, s sequence) float64 {
	ops, load := p.Operations(), p.Load()
	delegated := slices.ContainsFunc(s.calls, func(c call) bool { return c.by != "" })
	requests := p.CountedRequests()
	if ops == nil || !delegated || !(requests > 0 && load.Service > 0) || s.ns <= 0 {
		return 1
	}
	var ns float64
	for _, spent := range s.operations(ops) {
		ns += spent
	}
	inAll := ns / requests / load.Service
	return max(1, inAll/(s.ns/s.whole))
}

// operations yields the operations that make the calls of the sequence, as the hooks count them, and the time that
// they spend in them.
func (s sequence) operations(ops *operation.Operations) iter.Seq2[operation.Operation, float64] {
	return func(yield func(operation.Operation, float64) bool) {
		for _, o := range ops.Operations {
			if o.Kind != operation.HTTP && o.Kind != operation.RPC && o.Kind != operation.Redis {
				continue
			}
			ns := 0.0
			for _, by := range o.Callers {
				if slices.ContainsFunc(s.calls, func(c call) bool { return callstack.Calls(by.Stack, c.chain[0].Function) }) {
					ns += by.Share * float64(o.Calls) * float64(by.MeanNS)
				}
			}
			if ns > 0 && !yield(o, ns) {
				return
			}
		}
	}
}

// counted returns how many calls a request makes: by the hooks where that is more than the trace shows, because some responses are
// there before anyone waits for them, and where its own goroutine makes them.
func (s sequence) counted(p *diagnose.Pass) (n float64) {
	ops, requests := p.Operations(), p.CountedRequests()
	if ops == nil || !(requests > 0) || slices.ContainsFunc(s.calls, func(c call) bool { return c.by != "" }) {
		return s.n
	}
	for o := range s.operations(ops) {
		for _, by := range o.Callers {
			if at, ok := p.Stacks.Place(by.Stack); ok && s.has(at.Function) {
				n += by.Share * float64(o.Calls) / requests
			}
		}
	}
	return max(n, s.n)
}

// alike returns those calls whose time is spent in reading from addresses that are the same for each request, with the
// addresses, the longest first: such responses may be the same too. None without hooks.
func (s sequence) alike(p *diagnose.Pass) (same sequence, texts []string) {
	ops := p.Operations()
	if ops == nil || !ops.Queries {
		return same, nil
	}
	all, fixed := make([]float64, len(s.calls)), make([]float64, len(s.calls))
	of := make([][]string, len(s.calls))
	for i, c := range s.calls {
		one := sequence{calls: []call{c}}
		for o, ns := range one.operations(ops) {
			all[i] += ns
			if varies := strings.Contains(o.Text, "{}") || strings.HasSuffix(o.Text, "..."); strings.HasPrefix(o.Text, "GET ") && !varies {
				fixed[i], of[i] = fixed[i]+ns, append(of[i], o.Text)
			}
		}
	}
	for i, c := range s.calls {
		if all[i] == 0 || fixed[i] < mostAlike*all[i] {
			continue
		}
		same.calls, same.ns, same.n = append(same.calls, c), same.ns+c.ns[mean], same.n+c.calls[mean]
		for _, text := range of[i] {
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return same, texts
}

// kept is the advice to cache responses that are the same for each request, with what that gains and where those calls are made, if
// they are not all; zero gain where it is not known that they are.
func (s sequence) kept(p *diagnose.Pass) (advice string, facts []findings.Evidence, gain laws.Gain, at code.Frame) {
	same, texts := s.alike(p)
	who, reads := "Each request reads", "the calls go to the same addresses in each request: %s"
	switch {
	case same.ns >= mostAlike*s.ns:
	case same.ns >= 0.5*s.ns:
		at = common(same.calls, callstack.LinesOf(p.Sources().Loops))
		who = fmt.Sprintf("%s of these calls (at %s, %s of request time) read", diagnose.Times(same.n), diagnose.At(at),
			diagnose.Percent(min(1, same.ns/s.whole)))
		reads = "most of the calls' time goes to addresses that are the same in each request: %s"
	default:
		return " If the responses are the same for many requests (keys, settings), cache them while they are valid: that " +
			"saves all of this time.", nil, gain, at
	}
	gain = p.Unasked(min(1, same.ns/s.whole), 0)
	advice = fmt.Sprintf(" %s from the same addresses: if the responses do not depend on who sends the request (keys, "+
		"settings), cache them while they are valid, which is worth about %s.", who, notation.Factor(gain.Factor))
	return advice, []findings.Evidence{diagnose.Fact(diagnose.FromProcess, float64(len(texts)), diagnose.Count,
		reads, strings.Join(texts[:min(len(texts), mostTexts)], ", "))}, gain, at
}

// toItself words calls that the target answers itself. A sleep in what its server does takes its time for each of them.
func toItself(p *diagnose.Pass, f *diagnose.Finding) {
	f.Title = strings.Replace(f.Title, " calls one", " calls to the service's own server one", 1)
	f.Remedy += " If that server is not a stand-in for another service, call its functions directly."
	for _, site := range p.Waits().Sites(callstack.SleepWait) {
		if p.BehindOwnServer(site) {
			p.Cover(*f, site.Place.Function)
		}
	}
}

// saved is the time per request, in ns, that concurrent calls would save.
func (s sequence) saved() float64 { return s.ns - s.longest }

// gain bounds what concurrent calls gain. queued is the part of request time, 0 to 1, behind a lock that is held meanwhile. Whether one
// call needs the response to another is not seen: those of one path, in a loop, hardly do, so where there are some, they are the lower end.
func (s sequence) gain(p *diagnose.Pass, queued float64) laws.Gain {
	of := func(saved float64) laws.Gain { return p.Elsewhere(min(1, saved/s.whole+queued*saved/s.ns)) }
	looped := 0.0
	for _, c := range s.calls {
		if c.calls[mean] >= leastCalls {
			looped += c.ns[mean] - c.each()
		}
	}
	all, least := of(s.saved()), of(looped)
	if looped > 0 && least.Factor < all.Factor {
		all.Low, all.High, all.AtLeast = min(cmp.Or(least.Low, least.Factor), least.Factor), max(all.High, all.Factor), false
	}
	return all
}

// has reports whether a function makes calls of the sequence.
func (s sequence) has(function string) bool {
	return slices.ContainsFunc(s.calls, func(c call) bool { return c.chain[0].Function == function })
}

// runSerial takes the time of all calls as the share, and bounds the gain by what
// concurrent calls would save: all but the longest.
func runSerial(p *diagnose.Pass) ([]diagnose.Finding, error) {
	s, ok := sequenceOf(p)
	if !ok {
		return nil, nil
	}
	if f, ok := s.repeatsCommands(p); ok {
		return []diagnose.Finding{f}, nil
	}
	share := min(1, s.ns/s.whole)
	at, most := common(s.calls, callstack.LinesOf(p.Sources().Loops)), ""
	through := func(c call) bool {
		return slices.ContainsFunc(c.chain, func(f code.Frame) bool { return f.Function == at.Function })
	}
	if slices.ContainsFunc(s.calls, func(c call) bool { return !through(c) }) {
		most = ", most of them"
	}
	f := diagnose.Finding{
		Cause: "downstream-serial", Share: share, ShareOf: diagnose.OfRequest, Confidence: findings.High,
		Where: diagnose.WhereOf(at),
		Title: fmt.Sprintf("Requests make %s calls one after another%s at %s; that takes %s of their time (the longest call "+
			"takes %s)",
			diagnose.Times(s.counted(p)), most, diagnose.At(at), diagnose.Percent(share), diagnose.Span(s.longest)),
		Remedy: fmt.Sprintf("%sMake the calls below %s concurrently (errgroup) if none needs another's response, or fetch everything in "+
			"one call. Made concurrently, they would take %s instead of %s.", s.piped(p), diagnose.At(at), diagnose.Span(s.longest),
			diagnose.Span(s.ns)),
	}
	if s.own {
		toItself(p, &f)
	}
	advice, alike, spared, place := s.kept(p)
	f.Remedy += advice
	queued, behind := s.queued(p)
	gain := s.gain(p, queued)
	if place.Function != "" && spared.Factor > gain.Factor { // not to make most of them is worth more than to make all at once
		gain, f.Where = spared, diagnose.WhereOf(place)
		f.Remedy = strings.TrimSpace(advice) + " " + strings.TrimSuffix(f.Remedy, advice)
	}
	diagnose.Promise(&f, gain)
	f.Where.Detail = usage.PathWords(s.calls[max(0, slices.IndexFunc(s.calls, through))].chain)
	f.Evidence = append(append(f.Evidence, alike...), s.evidence(p)...)
	s.underLock(p, &f, queued, behind)
	return []diagnose.Finding{f}, nil
}

// underLock says that requests queue for a lock whose holder makes the calls, for a part of request time.
func (s sequence) underLock(p *diagnose.Pass, f *diagnose.Finding, queued float64, behind []string) {
	if queued < waitgain.LeastShare {
		return
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, queued, diagnose.Ratio,
		"requests spend another %s of their time in the queue for a lock whose holder makes these calls", diagnose.Percent(queued)))
	if s.saved() >= mostSaved*s.ns {
		p.Cover(*f, behind...)
	}
}
