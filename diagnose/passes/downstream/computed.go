package downstream

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// leastComputed is the least part of the service's CPU below a cache that is worth a
// finding, as for a hot function.
const leastComputed = 0.25

// computation is what is computed through a cache.
type computation struct {
	place    code.Frame
	share    float64 // of the service's CPU
	loads    string  // the function that computes
	path     []string
	adjacent bool
}

// runComputed finds caches of what is computed. A trace does not count calls of
// functions, so the running time of requests must show misses: with a hit rate of h, a
// part h of them runs only for what the cache does not save. If the tenth that ran
// least still ran for more than half of what a cache saves, not even a tenth was
// served from it (duty-rates). Some requests compute little: then what the cache allocates
// for entries must show that each request stores one (canal-tolls).
func runComputed(p *diagnose.Pass) []diagnose.Finding {
	if p.Anatomy == nil || p.Anatomy.Ran == nil {
		return nil
	}
	ran := p.Anatomy.Ran
	var found []diagnose.Finding
	for _, c := range computations(p) {
		hit := (1 - c.share) * float64(ran.MeanNS)
		entries, many := stored(p, c.place)
		if part := (float64(ran.P10NS) - hit) / (float64(ran.MeanNS) - hit); !(part >= 0.5) && !many {
			p.Reject("cache-useless", "%s computes through the cache at %s, but one request in ten runs for only %s, where "+
				"the mean is %s: the cache serves it",
				c.loads, diagnose.At(c.place), diagnose.Span(float64(ran.P10NS)), diagnose.Span(float64(ran.MeanNS)))
			continue
		}
		misses := diagnose.Fact(diagnose.FromTrace, float64(ran.P10NS), diagnose.Nanosec,
			"nine of ten requests run for at least %s (mean %s); one that hits would run for %s",
			diagnose.Span(float64(ran.P10NS)), diagnose.Span(float64(ran.MeanNS)), diagnose.Span(hit))
		if many {
			misses = diagnose.Fact(diagnose.FromProfile, entries, diagnose.Count, "it stores about %s",
				diagnose.PerRequest(entries, "a new entry", "new entries"))
		}
		name := callstack.Short(c.place.Function)
		f := diagnose.Finding{
			Cause: "cache-useless", Share: c.share, ShareOf: diagnose.OfCPU, Confidence: findings.Medium, Where: diagnose.WhereOf(c.place),
			Title: fmt.Sprintf("Each request computes an entry that the cache at %s should hold: it hardly ever hits, and that takes "+
				"%s of the service's CPU", diagnose.At(c.place), diagnose.Percent(c.share)),
			Evidence: []findings.Evidence{
				diagnose.Fact(diagnose.FromProfile, c.share, diagnose.Ratio, "%s of the CPU samples are below it, in %s",
					diagnose.Percent(c.share), c.loads),
				misses,
			},
			Remedy: missed(name),
		}
		diagnose.Promise(&f, p.Ran(evidence.Work{Share: c.share, Function: c.place.Function}))
		p.Cover(f, c.path...)
		found = append(found, f)
	}
	return found
}

// computations returns what is computed through caches that keep something, by the CPU
// profile, most CPU first. The cache's own work is not a computation.
func computations(p *diagnose.Pass) []computation {
	use, err := p.Use()
	if err != nil {
		return nil
	}
	caches := namesOf(p)
	filled, kept := filling(p, caches), keeping(p, caches)
	type group struct {
		lines map[code.Frame]float64
		loads map[string]float64
		path  map[string]bool
		sum   float64
		both  bool
	}
	groups, all := map[string]*group{}, 0.0
	for s := range use.All {
		all += float64(s.Value)
		chain := users(p, s.Stack)
		at, adjacent := throughCache(chain, filled, caches)
		if at < 0 {
			continue
		}
		cache, inner := chain[at], chain[:at]
		if !adjacent && (!kept[callstack.Owner(cache.Function)] || !loads(inner, cache, caches)) {
			continue
		}
		g := groups[callstack.Enclosing(cache.Function)]
		if g == nil {
			g = &group{lines: map[code.Frame]float64{}, loads: map[string]float64{}, path: map[string]bool{}, both: adjacent}
			groups[callstack.Enclosing(cache.Function)] = g
		}
		v := float64(s.Value)
		g.sum += v
		g.lines[cache] += v
		g.loads[callstack.Short(chain[max(at-1, 0)].Function)] += v
		for _, f := range chain[:at+1] {
			g.path[f.Function] = true
		}
	}
	var list []computation
	for _, g := range groups {
		if g.sum < leastComputed*all {
			continue
		}
		c := computation{place: measured.Heaviest(g.lines, measured.CompareFrames), share: g.sum / all,
			loads: measured.Heaviest(g.loads, cmp.Compare[string]), adjacent: g.both}
		c.path = slices.Sorted(maps.Keys(g.path))
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b computation) int {
		return cmp.Or(cmp.Compare(b.share, a.share), measured.CompareFrames(a.place, b.place))
	})
	return list
}

// loads reports whether a cache calls other code to compute an entry: a function of
// another type that is not a cache itself.
func loads(inner []code.Frame, cache code.Frame, caches cacheNames) bool {
	return slices.ContainsFunc(inner, func(f code.Frame) bool {
		return callstack.Owner(f.Function) != callstack.Owner(cache.Function) && !caches.has(f.Function)
	})
}

// missed is the advice for a cache that never hits.
func missed(name string) string {
	return fmt.Sprintf("Find out why %s misses: a key that differs in each request (a time, an id, a pointer), too small a "+
		"capacity or too short a lifetime, or a cache that is created or copied per request. Share one cache, enlarge it, or "+
		"drop it.", strings.TrimSpace(name))
}
