package downstream

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

const (
	// everyMiss: a cache hardly ever hits if the mean and the median request load an
	// entry at least this often.
	everyMiss = 0.9
	// evenly: slow requests load entries at most this many times as often. Above it
	// a request looks up several keys, and some of them hit.
	evenly = 1.3
)

// Cache finds caches that each request misses.
//
// A cache is recognised by its name, because nothing in a trace distinguishes a map that
// caches from one that indexes. Two conditions guard the guess: the function must look
// up and not modify, and the profiles must show the work of a look-up or a fill itself: a
// map, a lock, a list. Otherwise the configuration switches it off, which is not a defect:
// prest's CacheMiddleware then only formats a key and calls the next handler, and one named
// for the header Cache-Control keeps nothing at all.
// wharf-fees is the sick case, wharf-berths its healthy twin.
var Cache = diagnose.Analyzer{
	Name:  "cache",
	Stage: diagnose.Wait,
	Doc: "Looks for a call (HTTP, gRPC, a database) that goes through a cache's look-up, or whose function looks up a cache " +
		"and fills it. The mean and the median request must make it at least 0.9 times, and slow ones not much more often. " +
		"Or looks for a cache below which the service uses at least a quarter of its CPU, if not even a tenth of the " +
		"requests avoids that.",
	Causes: []diagnose.Cause{{
		ID: "cache-useless", Title: "A cache hardly ever hits",
		Doc: "Each request looks up an entry in a cache, misses, fetches it, and fills the cache in vain: the key differs " +
			"each time, entries are evicted before they are needed again, or each request fills its own copy.",
		Knows: "The trace shows a call below a function that belongs to a cache by its name (type, package or function: " +
			"cache, LRU, memo) and does not modify it, or below one that, by the profiles, looks up a cache and fills it. " +
			"The mean and the median request make the call at least 0.9 times, and slow ones at most 1.3 times as often: one " +
			"key and one miss per request. If the profiles show no map, lock or list that the cache itself uses, it counts " +
			"as switched off: formatting a key, or calling the next handler, is not a look-up. Calls to Redis and memcached " +
			"are look-ups themselves and do not count. The wait counts at 20 % or more of request time. If a cache only " +
			"saves computing, no trace counts its misses: then at least a quarter of the service's CPU must be below it, and " +
			"the tenth of requests that ran least must have run for at least half of the time that a hit would save, or the " +
			"cache must allocate an entry per request. Entries that expire all at once are cache-stampede.",
		Remedy: "Use a key that repeats, enough room for the entries in use, and one cache for all requests; or use no cache.",
		Example: diagnose.Example{Lang: "go",
			Before: "key := fmt.Sprint(city, time.Now().UnixMilli()) // never looked up again\nif v, ok := c.Get(key); ok { " +
				"return v }",
			After: "key := city // entries expire by their age\nif v, ok := c.Get(key); ok { return v }"},
		Verify: "Run again: calls per request at this place fall to the share of requests that should miss, and request " +
			"time falls with them.",
		Cases:       []string{"wharf-fees", "duty-rates", "museum-hours"},
		FollowsFrom: []string{"cache-stampede"},
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	Run:   runCache,
}

// runCache counts only whole requests (OfRequest): a cache that only slow requests
// miss does its work.
func runCache(p *diagnose.Pass) ([]diagnose.Finding, error) {
	var found []diagnose.Finding
	for _, m := range missesOf(p) {
		v, ok := waitgain.Decide(p, m.site, waitgain.Outside)
		if !ok || v.Of != diagnose.OfRequest {
			continue
		}
		f := v.Finding(p, "cache-useless", m.site)
		// Only its calls suggest that the function looks up what it loads.
		if f.Confidence == findings.High && m.adjacent {
			f.Confidence = findings.Medium
		}
		name := callstack.Short(m.site.Place.Function)
		f.Title = fmt.Sprintf("%s for data that the cache at %s should hold: it hardly ever hits", v.Requests(), diagnose.At(m.site.Place))
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, m.calls[mean], diagnose.Count,
			"misses per request: %s on average, %s in median requests, %s in slow ones; %s loads the entry",
			diagnose.Times(m.calls[mean]), diagnose.Times(m.calls[median]), diagnose.Times(m.calls[tail]), m.loads))
		f.Remedy = missed(name)
		found = append(found, f)
	}
	if len(found) > 0 {
		return found, nil
	}
	return runComputed(p), nil
}

// miss is what requests load through one cache. calls are per request in the mean,
// the median and the slow ones.
type miss struct {
	site  waits.Site
	calls [3]float64
	loads string // what loads the entry
	// adjacent: the function that makes the call looks up and fills the cache; the
	// call is not made through the cache.
	adjacent bool
	path     map[string]bool // the user's functions from the cache to the call
}

// missesOf returns the caches that each request misses; none without an anatomy.
// The three bands must agree: a cache with a hit rate of a half has a mean of 0.5
// and a median of 0 or 1.
func missesOf(p *diagnose.Pass) (list []miss) {
	if p.Anatomy == nil || p.Anatomy.MeanNS <= 0 {
		return nil
	}
	caches := namesOf(p)
	filled, kept := filling(p, caches), keeping(p, caches)
	groups, names := map[string]*miss{}, []string{}
	for band, parts := range [][]breakdown.Part{p.Anatomy.All, p.Anatomy.Median, p.Anatomy.Tail} {
		most := map[string]float64{}
		for _, part := range parts {
			kind := p.Stacks.Wait(part)
			if !loading(kind, part.Stack) {
				continue
			}
			chain := users(p, part.Stack)
			at, adjacent := throughCache(chain, filled, caches)
			if at < 0 {
				continue
			}
			name := callstack.Enclosing(chain[at].Function)
			m := groups[name]
			if m == nil {
				m = &miss{site: waits.Site{Wait: kind, Place: chain[at], User: true, Part: part},
					adjacent: adjacent, loads: callstack.Short(chain[0].Function), path: map[string]bool{}}
				groups[name], names = m, append(names, name)
			}
			for _, f := range chain[:at+1] {
				m.path[f.Function] = true
			}
			if band == mean {
				m.site.NS += float64(part.NS)
			}
			// HTTP/1 waits twice per call; of other calls' waits the most frequent
			// gives the number of calls.
			if n := waitsPerCall(part.Stack); n > 0 {
				m.calls[band] += part.Times / n
			} else {
				most[name] = max(most[name], part.Times)
			}
		}
		for name, times := range most {
			groups[name].calls[band] = max(groups[name].calls[band], times)
		}
	}
	for _, name := range names {
		m := groups[name]
		if !m.adjacent && !kept[callstack.Owner(m.site.Place.Function)] {
			continue // a cache that keeps nothing is switched off
		}
		m.site.Share, m.site.Times = min(1, m.site.NS/p.Waits().MeanNS()), m.calls[mean]
		if m.calls[mean] >= everyMiss && m.calls[median] >= everyMiss && m.calls[tail] <= evenly*m.calls[mean] {
			list = append(list, *m)
		}
	}
	return list
}

// loading reports whether a wait is for something that a cache holds copies of.
// Redis and similar servers are caches themselves.
func loading(kind callstack.Wait, stack []code.Frame) bool {
	switch kind {
	case callstack.HTTPWait, callstack.DatabaseWait:
		return true
	case callstack.RPCWait:
		for _, f := range stack {
			if strings.HasPrefix(f.Function, "google.golang.org/grpc") || strings.HasPrefix(f.Function, "connectrpc.com/connect") {
				return true
			}
		}
	}
	return false
}

// throughCache returns the index, in a chain of the user's functions, of the cache
// through which a call is made, or -1. adjacent is true if a function on the chain
// does both: looks up and fills.
func throughCache(chain []code.Frame, filled map[string]bool, caches cacheNames) (at int, adjacent bool) {
	for i, f := range chain {
		if caches.has(f.Function) && !changes(f.Function) {
			return i, false
		}
	}
	for i, f := range chain {
		if filled[callstack.Enclosing(f.Function)] {
			return i, true
		}
	}
	return -1, false
}

// filling returns the user's functions that look up a cache and also fill it, by
// the stacks of the CPU, allocation and mutex profiles. It reads all three, because
// each rarely samples a fast look-up.
func filling(p *diagnose.Pass, caches cacheNames) map[string]bool {
	looks, fills, both := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, of := range [][2]string{{"cpu", "cpu"}, {"allocs", "alloc_space"}, {"mutex", "delay"}} {
		prof, err := p.Profile(of[0], of[1])
		if err != nil {
			continue
		}
		for _, s := range prof.Samples {
			for i := 1; i < len(s.Stack); i++ {
				inner, outer := s.Stack[i-1].Function, s.Stack[i]
				if !caches.has(inner) || caches.has(outer.Function) || !p.Stacks.User(outer) {
					continue
				}
				if name := callstack.Enclosing(outer.Function); changes(inner) {
					fills[name] = true
				} else {
					looks[name] = true
				}
			}
		}
	}
	for name := range fills {
		if looks[name] {
			both[name] = true
		}
	}
	return both
}

// keeping returns the owners of caches that the profiles show at the work of a store
// themselves, or calling another cache, such as a library's.
func keeping(p *diagnose.Pass, caches cacheNames) map[string]bool {
	owners := map[string]bool{}
	for _, of := range [][2]string{{"cpu", "cpu"}, {"allocs", "alloc_space"}, {"mutex", "delay"}} {
		prof, err := p.Profile(of[0], of[1])
		if err != nil {
			continue
		}
		for _, s := range prof.Samples {
			keepers(p, s.Stack, caches, owners)
		}
	}
	return owners
}

// keepers adds the owners of the caches that one sample shows at work. Only the innermost of
// the service's and its dependencies' functions works; those that called it, as long as they
// are caches, use it as their store.
func keepers(p *diagnose.Pass, stack []code.Frame, caches cacheNames, owners map[string]bool) {
	i := slices.IndexFunc(stack, func(f code.Frame) bool {
		pkg, _ := callstack.Split(f.Function)
		return pkg != "" && !callstack.Standard(pkg)
	})
	if i < 0 || !caches.has(stack[i].Function) {
		return
	}
	inner := callstack.Owner(stack[i].Function)
	if i > 0 && storing(p, stack[i-1].Function) {
		owners[inner] = true
	}
	for _, f := range stack[i+1:] {
		if !caches.has(f.Function) {
			break
		}
		if owner := callstack.Owner(f.Function); owner != inner {
			owners[owner] = true
		}
	}
}

// storing reports whether a function that a cache calls itself is one that a look-up or a
// fill needs: of a map, a lock or a list. A header that is set goes through net/textproto.
func storing(p *diagnose.Pass, function string) bool {
	pkg, _ := callstack.Split(function)
	switch pkg {
	case "sync", "internal/sync", "sync/atomic", "container/list", "container/heap", "hash/maphash":
		return true
	}
	return p.Stacks.Role(function).Has(callstack.Map)
}

// cacheNames remembers which functions are caches', by their names: the profiles of a
// run repeat a few thousand names a million times.
type cacheNames struct {
	module string // the service's own: all of its functions lie in that, caches or not
	known  map[string]bool
}

func namesOf(p *diagnose.Pass) cacheNames {
	return cacheNames{module: p.Stacks.Module, known: map[string]bool{}}
}

func (c cacheNames) has(function string) bool {
	is, known := c.known[function]
	if !known {
		is = isCache(function, c.module)
		c.known[function] = is
	}
	return is
}

// isCache reports whether the name of a function, its type or its package, within the
// service's module, is that of a cache. The standard library's caches are not the service's to change.
func isCache(function, module string) bool {
	pkg, name := callstack.Split(function)
	if pkg == "" || callstack.Standard(pkg) {
		return false
	}
	elements := strings.Split(pkg, "/")
	if rest, own := strings.CutPrefix(pkg+"/", module+"/"); own {
		elements = strings.Split("/"+rest, "/")
	}
	for i, e := range elements { // "github.com/hashicorp/golang-lru/v2" is one
		if i == 0 && len(elements) > 1 {
			continue
		}
		name = e + "." + name
	}
	name = strings.ToLower(name)
	// Short words end there: "memory" is none.
	words := []string{"cache", "golang-lru", "ristretto", "maypok86/otter", "theine", "lru.", "lru)", "memo.", "memo)", "memoiz"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}

// changing are the verbs that the names of functions begin with which modify a cache.
var changing = []string{"set", "setnx", "setex", "mset", "add", "put", "store", "insert", "save", "fill", "push", "delete",
	"remove", "del", "evict", "expire", "invalidate", "purge", "clear", "flush", "refresh", "reload", "rebuild", "warm", "warmup", "update",
	"replace", "upsert", "write", "run", "new", "close"}

// changes reports whether a cache's function modifies it, by the verb that its name begins with.
func changes(function string) bool {
	_, name := callstack.Split(callstack.Enclosing(function))
	return slices.Contains(changing, verb(name[strings.LastIndexByte(name, '.')+1:]))
}

// verb returns the first word of a name, in lower case: "set" of "SetPrice", but "settings" of "Settings".
func verb(name string) string {
	for i, c := range name {
		if i > 0 && !unicode.IsLower(c) {
			name = name[:i]
			break
		}
	}
	return strings.ToLower(name)
}
