package downstream_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
)

// TestCache: a cache that each request misses costs the time that it should save.
func TestCache(t *testing.T) {
	const fetch, rate, handle = "shop/fx.(*Client).fetch@client.go:12", "shop/fx.(*Desk).rate@desk.go:30",
		"shop/fx.(*Desk).ServeHTTP@desk.go:50"
	within := []string{fetch, "shop/fx.(*rateCache).get@cache.go:22", handle}
	// The cache's own work: it keeps entries that are never requested again.
	keeps := func() *Builder { return idle().Alloc(1000, 64<<10, "runtime.mapassign_faststr", within[1], handle) }
	Expect(t, downstream.Cache, get1(keeps(), 30*ms, 1, within...), "cache-useless at cache.go:22")
	Expect(t, downstream.Cache, get1(idle(), 30*ms, 1, within...)) // it is switched off
	// It formats its key, and is switched off nevertheless.
	Expect(t, downstream.Cache, get1(idle().Alloc(1000, 64<<10, "strings.(*Builder).grow", "net/url.(*URL).String", within[1], handle),
		30*ms, 1, within...))
	// Another cache of the package keeps something.
	Expect(t, downstream.Cache, get1(idle().Alloc(1000, 64<<10, "runtime.mapassign_faststr", "shop/fx.(*nameCache).get@names.go:9", handle),
		30*ms, 1, within...))
	// It keeps its entries in a library's.
	Expect(t, downstream.Cache, get1(idle().Sample(20*ms, "github.com/hashicorp/golang-lru/v2.(*Cache[...]).Get", within[1], handle),
		30*ms, 1, within...), "cache-useless at cache.go:22")
	Expect(t, downstream.Cache, keeps().Wait(breakdown.StateNetwork, 30*ms, 1, append(Query()[:8], within...)...),
		"cache-useless at cache.go:22")
	Expect(t, downstream.Cache, get1(keeps(), 30*ms, 0.05, within...)) // it hits
	Expect(t, downstream.Cache, get1(keeps(), 30*ms, 0.5, within...))  // half of the time
	Expect(t, downstream.Cache, get1(keeps(), 30*ms, 1, fetch, "shop/fx.(*rateCache).refresh@cache.go:40", handle))
	Expect(t, downstream.Cache, get1(idle(), 30*ms, 1, fetch, rate, handle)) // no cache
	// The cache is a service.
	Expect(t, downstream.Cache, keeps().Wait(breakdown.StateNetwork, 30*ms, 1, "net.(*conn).Read",
		"github.com/redis/go-redis/v9.(*Client).Get", "shop/fx.(*rateCache).get@cache.go:22", handle))
	// Looked up, fetched and filled side by side, with a library's.
	const get, add = "github.com/hashicorp/golang-lru/v2.(*Cache[...]).Get", "github.com/hashicorp/golang-lru/v2.(*Cache[...]).Add"
	adjacent := func() *Builder { return get1(idle(), 30*ms, 1, fetch, rate, handle) }
	const memo, memory = "shop/fx.(*memo).", "shop/fx/memory.(*Store)." // the latter is no cache by its name
	Expect(t, downstream.Cache, adjacent().Sample(20*ms, memo+"get", rate, handle).Sample(20*ms, memo+"put", rate, handle),
		"cache-useless at desk.go:30")
	Expect(t, downstream.Cache, adjacent().Sample(20*ms, memory+"get", rate, handle).Sample(20*ms, memory+"put", rate, handle))
	Expect(t, downstream.Cache, adjacent().Sample(20*ms, get, rate, handle).Sample(20*ms, add, rate, handle), "cache-useless at desk.go:30")
	Expect(t, downstream.Cache, adjacent().Sample(20*ms, add, rate, handle)) // written through
	Expect(t, downstream.Cache, adjacent().Sample(20*ms, get, rate, handle)) // it is never filled here
	ExpectUnjudged(t, downstream.Cache, idle().NoAnatomy(), "cache-useless")
}

// TestCacheModule: the name of the service's module makes no function of it a cache, that of a package in it does.
func TestCacheModule(t *testing.T) {
	served := func(pkg string) *Builder {
		handle := "github.com/acme/image-cache/" + pkg + ".(*Desk).ServeHTTP@desk.go:50"
		return get1(idle().Module("github.com/acme/image-cache").Sample(20*ms, "runtime.mapaccess2_faststr", handle), 30*ms, 1, handle)
	}
	Expect(t, downstream.Cache, served("images"))
	Expect(t, downstream.Cache, served("images/cache"), "cache-useless at desk.go:50")
}

// TestCacheMiddleware: all that the next handler waits for passes a middleware whose name says
// cache, whether it caches or not. Only one that looks something up caches.
func TestCacheMiddleware(t *testing.T) {
	const wraps = "shop/web.CacheControl.func1@cache.go:18"
	const header = "net/textproto.MIMEHeader.Set"
	within := []string{"shop/fx.(*Client).fetch@client.go:12", "shop/fx.(*Desk).rate@desk.go:30", "net/http.HandlerFunc.ServeHTTP", wraps}
	served := func() *Builder { return get1(idle(), 30*ms, 1, within...) }
	Expect(t, downstream.Cache, served().Sample(20*ms, "regexp.compile", "regexp.MatchString", wraps))
	Expect(t, downstream.Cache, served().Sample(20*ms, "runtime.mapassign_faststr", header, "net/http.Header.Set", wraps))
	Expect(t, downstream.Cache, served().Sample(20*ms, "runtime.mapaccess2_faststr", wraps), "cache-useless at cache.go:18")
}

// TestCacheOfComputations: the computing that a cache should save shows in how long all
// requests run.
func TestCacheOfComputations(t *testing.T) {
	const walk, rate, handle = "shop/duty.(*Tariff).evaluate@duty.go:70", "shop/duty.(*Tariff).Rate@duty.go:62", "shop/api.quote@api.go:20"
	load := "shop/cache.(*Cache[...]).GetOrLoad@cache.go:35"
	computes := func(least time.Duration) *Builder {
		return New(16, 8*ms).CPU(2, 1.97, 1.8, 0.15, 0).Wait(breakdown.StateRunning, 800*us, 1).Wait(breakdown.StateRunnable, 7*ms, 1).
			Ran(800*us, least).Sample(9*time.Second, walk, load, rate, handle).Sample(time.Second, handle).
			Alloc(1000, 64<<10, "runtime.mapassign", load, rate, handle)
	}
	Expect(t, downstream.Cache, computes(700*us), "cache-useless at cache.go:35")
	Expect(t, downstream.Cache, computes(90*us)) // one request in ten or more hits
	ExpectFirst(t, suite.All(), computes(700*us), "cache-useless")
	// Some compute little, and each stores an entry.
	entries := func(part float64) *Builder {
		b := computes(90 * us)
		n := int64(part * b.Requests())
		return b.Alloc(n, 32<<20, "shop/list.push", "shop/cache.(*Cache[...]).set@cache.go:50", rate, handle).
			Alloc(n, 32<<20, "container/list.(*List).insertValue", load, rate, handle)
	}
	if found := Expect(t, downstream.Cache, entries(0.95), "cache-useless at cache.go:35"); len(found) == 1 &&
		!strings.Contains(found[0].Evidence[1].Text, "stores about a new entry per request") {
		t.Errorf("%+v", found[0].Evidence)
	}
	Expect(t, downstream.Cache, entries(0.4))
	own := "shop/cache.(*Cache[...]).scan@cache.go:60"
	Expect(t, downstream.Cache, New(16, 8*ms).CPU(2, 1.97, 1.8, 0.15, 0).Wait(breakdown.StateRunning, 800*us, 1).
		Ran(800*us, 700*us).Sample(9*time.Second, own, load, rate, handle)) // a look-up that is slow by itself
}

// TestLookUpsByName: only a whole verb says that a function modifies the cache.
func TestLookUpsByName(t *testing.T) {
	const fetch, handle = "shop/fx.(*Client).fetch@client.go:12", "shop/fx.(*Desk).ServeHTTP@desk.go:50"
	for method, looks := range map[string]bool{"Settings": true, "address": true, "Delivery": true, "SetRate": false, "add": false} {
		within := "shop/fx.(*rateCache)." + method + "@cache.go:22"
		b := get1(idle().Alloc(1000, 64<<10, "runtime.mapassign_faststr", within, handle), 30*ms, 1, fetch, within, handle)
		want := []string{"cache-useless at cache.go:22"}
		if !looks {
			want = nil
		}
		if found := Expect(t, downstream.Cache, b, want...); len(found) == 1 && !strings.HasSuffix(found[0].Title, "it hardly ever hits") {
			t.Errorf("%s: %s", method, found[0].Title)
		}
	}
}
