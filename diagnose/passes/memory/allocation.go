package memory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

const (
	// leastSiteShare is one place's least part of all bytes, or of all objects,
	// allocated.
	leastSiteShare = 0.40
	// leastAllocCPU is the part of the service's CPU that allocating and collecting
	// take together.
	leastAllocCPU = 0.15
	// leastAllocGain is what removing the site must promise: parts-catalogue, which
	// is healthy, has 1.06, and signup-badge, where it is the lesser of two, 1.19.
	leastAllocGain = 1.10
	// leastAlone is that gain on a host without other programs, as for other work that has cheaper
	// equivalents (cpu's avoidable): parts-catalogue has 1.22.
	leastAlone = 1.4
	// atEase is the utilisation of CPUs below which a given rate is served with
	// ease: a request's allocations are then part of its work, and could be tuned
	// (analytics-json: 16 %).
	atEase = 0.5
	// leastBytes per request at the site: below 8 KiB a site leads only because
	// nothing else allocates.
	leastBytes = 8 << 10
	// leastObjects per request at the site, likewise.
	leastObjects = 200
	// mostSmall is the mean size of objects below which they are values, nodes or short texts, and no buffers.
	mostSmall = 512
	// mostOwn is the largest part of a helper's bytes that may be its own for the
	// rest to be attributed to its caller.
	mostOwn = 0.25
)

// Allocation finds the site that allocates most.
//
// The allocs profile is the difference between two, so shares are of what was allocated
// between them; the runtime samples one allocation in 512 KiB
// (runtime.MemProfileRate) and scales up. A place costs its part of the CPU for
// allocating and collecting: at a given GOGC and live heap, marking is proportional
// to bytes allocated (Go GC guide, "GOGC").
//
// Grouping decides the remedy. A compressor made per request once appeared as the
// JSON helper that wrote into it, and redline advised another encoder. So values
// that a constructor makes come first (object.go), then functions, raised to the
// caller that makes a shared helper allocate.
var Allocation = diagnose.Analyzer{
	Name:  "allocation",
	Stage: diagnose.Memory,
	Doc: "Groups allocations by the value that a constructor makes, and by the user's innermost function. Names one with at " +
		"least 40 % of the bytes and 8 KiB per request, or 40 % of the objects and 200 per request, if allocation and garbage " +
		"collection take at least 15 % of the service's CPU.",
	Causes: []diagnose.Cause{{
		ID: "alloc-hot", Title: "One place allocates most of the memory",
		Doc: "One place allocates most of the bytes or objects per request, and allocating and collecting them costs CPU.",
		Knows: "- The allocs profile, grouped by the value that a library's constructor makes (a gzip.Writer, at the line that makes " +
			"it) and by the user's innermost function: at least 40 % of the bytes and 8 KiB per request, or 40 % of the objects and " +
			"200 per request. If several functions call a helper and one of them causes three quarters of its allocations, that one " +
			"is named, with the helper.\n" +
			"- It counts if allocation and garbage collection take at least 15 % of the service's CPU and a tenth could be gained, " +
			"or 1.4x on a host without other programs. Only the collection that an ordinary GOGC would cause counts: a GOGC of 5, a " +
			"tight memory limit or forced cycles are causes of their own. At a fixed rate that keeps the CPUs less than half busy, " +
			"confidence is low.\n" +
			"- If a dependency allocates on behalf of one of your calls, that call is blamed, and the gain counts only those bytes; " +
			"if the dependency compiles something there that takes more CPU, cpu-hot-function reports that instead.\n" +
			"- Texts that grow with each + (1 KiB or more on average) count here, with their copying; shorter ones are cpu-format.\n" +
			"- The leading place distinguishes it from gc-cpu.",
		Remedy: "Preallocate, reuse a buffer (sync.Pool with a size cap), or avoid the escape to the heap.",
		Example: diagnose.Example{Lang: "go",
			Before: "var page []byte\nfor _, p := range products {\n\tpage = append(page, card(p)...)\n}",
			After:  "page := make([]byte, 0, sizeOf(products))\nfor _, p := range products {\n\tpage = appendCard(page, p)\n}"},
		Verify: "redline ab: allocs_per_request and cpu_per_request fall.",
		Cases:  []string{"catalog-pages", "telemetry-points", "signup-badge", "parts-catalogue", "analytics-json", "ledger-statements"},
		// Compiling an expression allocates; the compiling is what to change.
		FollowsFrom: []string{"db-n-plus-one", "cpu-regexp-compile", "cpu-template-parse", "cpu-json", "cpu-logging", "cpu-format",
			"cpu-reflect", "cpu-compress", "cache-useless"},
		SamePlace: true,
		CoveredBy: []string{"db-slow-query", "http-client-churn"}, // rows that the remedy does not return, clients that requests make
	}},
	Needs: []diagnose.Need{diagnose.NeedAllocs, diagnose.NeedCPUProfile, diagnose.NeedLoad},
	Run:   runAllocation,
}

// site is a place that allocates, with bytes and objects over the whole profile.
type site struct {
	place          code.Frame
	unit           string // the function that they are of; "" for an object
	bytes, objects float64
	below          string // the helper that allocates for place; "" where place does
	handler        string // of a dependency, to which place passes requests on; "" where it does not
	proxied        bool   // most of the bytes are the buffers with which net/http/httputil copies responses
}

// measure is what a site leads by: bytes or objects, and its part of all of them, 0 to 1.
type measure struct {
	of   string
	part func(site) float64
}

// evicting is how many bytes per request push everything else out of a CPU's own cache (L2; 512 KiB on AMD's EPYC, 1 to
// 2 MiB on Intel's Xeon): memory that is new is memory that no cache holds. All that requests do besides was then
// measured on cold caches, and is an upper bound.
const evicting = 512 << 10

// runAllocation charges the leading site with its share of the CPU of allocating
// and collecting. Below a tenth of gain it is rejected with the figure: in most
// services some site leads. What other programs take does not decide: a site that would be worth
// leastAlone without them is named.
func runAllocation(p *diagnose.Pass) ([]diagnose.Finding, error) {
	allocs, err := p.Profile("allocs", "alloc_space")
	if err != nil {
		return nil, err
	}
	use, err := p.Use()
	if err != nil {
		return nil, err
	}
	if !p.Sampled(use, "alloc-hot") {
		return nil, nil
	}
	// Collection caused by a setting or by runtime.GC would not be saved by allocating less.
	collecting := use.With(callstack.GCWork | callstack.GCAssist)
	cost := use.With(callstack.Allocate|callstack.GCWork|callstack.GCAssist) - collecting*(1-p.Collection().Ordinary())
	lead, what, by, ok := leader(p, allocs)
	if !ok || cost < leastAllocCPU {
		return nil, nil
	}
	// A remedy at a call saves what the call allocates, and nothing of its neighbours'.
	var through call
	if what == nil && lead.below == "" {
		if c, ok := within(p, allocs, lead); ok {
			through, lead = c, c.site
		}
	}
	share := by.part(lead)
	work := evidence.Work{Share: share * cost, Function: lead.place.Function, Doing: callstack.Allocate}
	work, joining := joins(p, use, lead, what == nil && through.function == "", work)
	ran, collected := p.Ran(work), p.Waited(share*p.Waits().Share(callstack.Collector))
	if gain := max(ran.Factor, collected.Factor); gain < leastAllocGain && p.Alone(share*cost) < leastAlone {
		p.Reject("alloc-hot", "%s allocates %s of all %s, but removing that could gain no more than %s",
			diagnose.At(lead.place), diagnose.Percent(share), by.of, diagnose.Percent((gain - 1)))
		return nil, nil
	}
	if what == nil && (partOf(p, lead, by, cost) || through.function != "" && ofCall(p, through, share*cost)) {
		return nil, nil
	}
	f := worded(p, lead, what, by, cost)
	if joining {
		joined(p, &f, lead, work.Share)
	}
	if gain, ok := inCall(p, &f, through, share*cost); ok {
		ran = gain
	}
	f.Title += fmt.Sprintf("; allocation and garbage collection take %s of the CPU", diagnose.Percent(cost))
	diagnose.Promise(&f, ran, collected)
	f.GainAtLeast = f.GainAtLeast || perRequest(p, lead.bytes) >= evicting
	p.NotCalled(&f, through.site.place.Function, through.function)
	if assist := p.Waits().Share(callstack.Collector); assist >= 0.02 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, assist, diagnose.Ratio,
			"requests help the garbage collector for %s of their time", diagnose.Percent(assist)))
	}
	f.Confidence = sure(p, cost)
	return []diagnose.Finding{f}, nil
}

// sure is the confidence in a finding by the part of the service's CPU that allocation and collection cost.
func sure(p *diagnose.Pass, cost float64) findings.Confidence {
	switch use := p.CPU().Use(); {
	case p.Load().Open && use < atEase:
		return findings.Low
	case cost >= 2*leastAllocCPU:
		return findings.High
	}
	return findings.Medium
}

// worded returns the finding. Its title names the place and what that allocates; what
// it costs comes last, see runAllocation.
func worded(p *diagnose.Pass, lead site, what *object, by measure, cost float64) diagnose.Finding {
	each, count := diagnose.Size(perRequest(p, lead.bytes)), perRequest(p, lead.objects)
	at, share := diagnose.At(lead.place), by.part(lead)
	f := diagnose.Finding{
		Cause: "alloc-hot", Share: share * cost, ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(lead.place),
		Title: fmt.Sprintf("%s allocates %s of all %s (%s in %s objects per request)", at, diagnose.Percent(share), by.of, each,
			diagnose.Number(count)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProfile, perRequest(p, lead.bytes), diagnose.Bytes,
				"%s allocates %s in %s per request", callstack.Short(lead.place.Function), each, diagnose.Mean(count, "object", "objects")),
			diagnose.Fact(diagnose.FromProfile, cost, diagnose.Ratio,
				"allocation and garbage collection take %s of the service's CPU", diagnose.Percent(cost)),
		},
		Remedy: fmt.Sprintf("At %s, allocate the buffer at its final size, reuse it through a sync.Pool (dropping oversized ones), "+
			"or write into the response piece by piece.", at),
	}
	if lead.bytes < mostSmall*lead.objects {
		f.Remedy = fmt.Sprintf("At %s, make fewer objects: hold values in one slice instead of a pointer to each, give slices and maps "+
			"their size, avoid conversions between text and bytes, or reuse them through a sync.Pool.", at)
	}
	switch {
	case what != nil:
		if p.Stacks.Role(what.maker.Function).Has(callstack.Compress) {
			p.Reached("alloc-hot", nil) // making a compressor does not follow from the data that it compresses
		}
		f.Title = what.words(each)
		f.Remedy = what.remedy()
		f.Where.Detail = what.Type
	case lead.proxied:
		f.Title += ", in httputil.(*ReverseProxy)"
		f.Remedy = fmt.Sprintf("Give the httputil.ReverseProxy at %s a BufferPool: without one it makes a buffer of 32 KiB for "+
			"each response.", at)
	case lead.below != "":
		f.Title += ", through " + callstack.Short(lead.below)
		f.Where.Detail = "through " + callstack.Short(lead.below)
		f.Remedy = fmt.Sprintf("Pass less to %s at %s (fewer fields, pages instead of everything), or write the output piece by "+
			"piece.", callstack.Short(lead.below), at)
	case lead.handler != "":
		f.Title += ", as it passes requests on to " + callstack.Short(lead.handler)
		f.Where.Detail = "by " + callstack.Short(lead.handler)
		f.Remedy = fmt.Sprintf("Nothing at %s itself allocates: %s does, which it calls as the next handler. Request less of it, call "+
			"it less often, or cache its response.", at, callstack.Short(lead.handler))
	}
	return f
}

// leader returns what leads by bytes (a value that a library makes takes precedence
// over a place), or else the place that leads by objects, with the measure by which it
// does. ok is false if none leads by enough. Many small objects cost CPU at few bytes:
// the allocator's work is per object, the collector's per pointer.
func leader(p *diagnose.Pass, allocs *measured.Profile) (lead site, what *object, by measure, ok bool) {
	sites := sitesOf(p, allocs)
	if len(sites) == 0 || allocs.Total == 0 || allocs.Count == 0 {
		return site{}, nil, measure{}, false
	}
	by = measure{"bytes", func(s site) float64 { return s.bytes / float64(allocs.Total) }}
	enough := func(s site) bool { return by.part(s) >= leastSiteShare && perRequest(p, s.bytes) >= leastBytes }
	if objects := objectsOf(p, allocs); len(objects) > 0 && enough(objects[0].site) {
		return objects[0].site, &objects[0], by, true
	}
	if lead = sites[0]; enough(lead) {
		return raised(p, allocs, lead), nil, by, true
	}
	by = measure{"objects", func(s site) float64 { return s.objects / float64(allocs.Count) }}
	lead = slices.MaxFunc(sites, func(a, b site) int { return cmp.Compare(a.objects, b.objects) })
	return raised(p, allocs, lead), nil, by, by.part(lead) >= leastSiteShare && perRequest(p, lead.objects) >= leastObjects
}

// raised returns a site at the function that makes a shared helper allocate most,
// if there is one. What the helper allocates for itself stays with it.
func raised(p *diagnose.Pass, allocs *measured.Profile, s site) site {
	var samples []usage.Caused
	own := 0.0
	for _, a := range allocs.Samples {
		i := p.Stacks.Innermost(a.Stack)
		switch {
		case i < 0 || p.Stacks.Unit(a.Stack, i) != s.unit:
		case i == 0:
			own += float64(a.Value)
		default:
			samples = append(samples, usage.Caused{Stack: a.Stack, User: i, Value: float64(a.Value)})
		}
	}
	if place, helper, ok := p.Above(samples); ok && own < mostOwn*s.bytes {
		s.place, s.below = place, helper
	}
	return s
}

// sitesOf groups allocations by the user's function, largest first, each at its
// line with the most bytes. Library code is attributed to the user's call into it.
func sitesOf(p *diagnose.Pass, allocs *measured.Profile) []site {
	type group struct {
		site
		lines    map[code.Frame]float64
		handlers map[string]float64
		copies   float64 // bytes of a reverse proxy's buffers
	}
	groups := map[string]*group{}
	var names []string
	for _, s := range allocs.Samples {
		i := p.Stacks.Innermost(s.Stack)
		if i < 0 {
			continue
		}
		place := s.Stack[i]
		name := p.Stacks.Unit(s.Stack, i)
		g := groups[name]
		if g == nil {
			g = &group{site: site{unit: name}, lines: map[code.Frame]float64{}, handlers: map[string]float64{}}
			groups[name], names = g, append(names, name)
		}
		g.bytes, g.objects = g.bytes+float64(s.Value), g.objects+float64(s.Count)
		g.lines[place] += float64(s.Value)
		if slices.ContainsFunc(s.Stack[:i], func(f code.Frame) bool { return f.Function == proxyCopies }) {
			g.copies += float64(s.Value)
		}
		if by := nextHandler(s.Stack[:i]); by != "" {
			g.handlers[by] += float64(s.Value)
		}
		if g.lines[place] > g.lines[g.place] || g.place.Function == "" {
			g.place = place
		}
	}
	list := make([]site, 0, len(names))
	for _, name := range names {
		g := groups[name]
		if by := measured.Heaviest(g.handlers, cmp.Compare[string]); g.handlers[by] > g.bytes/2 {
			g.handler = by
		}
		g.proxied = g.copies > g.bytes/2
		list = append(list, g.site)
	}
	slices.SortStableFunc(list, func(a, b site) int { return cmp.Compare(b.bytes, a.bytes) })
	return list
}

// proxyCopies copies a response. It makes a buffer of 32 KiB for each, unless the proxy has a pool of them.
const proxyCopies = "net/http/httputil.(*ReverseProxy).copyResponse"

// nextHandler returns the function of a dependency that the user's innermost function calls as the next handler, by the frames
// inside of it; "" if it calls none. net/http calls a handler that is only known when the service runs.
func nextHandler(inside []code.Frame) string {
	at := len(inside)
	for at > 0 && (inside[at-1].Function == "net/http.(*ServeMux).ServeHTTP" || inside[at-1].Function == "net/http.HandlerFunc.ServeHTTP") {
		at--
	}
	if at == len(inside) || at == 0 || !callstack.Dependency(inside[at-1].Function) {
		return ""
	}
	return inside[at-1].Function
}

// perRequest divides by the run's requests; 0 without any.
func perRequest(p *diagnose.Pass, amount float64) float64 {
	if n := p.Load().Requests; n > 0 {
		return amount / n
	}
	return 0
}
