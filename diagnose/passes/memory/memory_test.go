package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/memory"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const (
	s      = time.Second
	ms     = time.Millisecond
	render = "shop/orders.render@orders.go:130"
)

func collecting(cpu time.Duration) *Builder {
	return Healthy().Background(cpu, "runtime.scanobject", "runtime.gcDrain", "runtime.gcBgMarkWorker")
}

func TestAllocation(t *testing.T) {
	n := int64(Healthy().Requests())
	Expect(t, memory.Allocation, collecting(4*s).Alloc(n, 200<<10*n, "bytes.growSlice", "bytes.(*Buffer).Write",
		render), "alloc-hot at orders.go:130")
	// Buffers that no cache holds make all the rest slower, too.
	for size, floor := range map[int64]bool{200 << 10: false, 700 << 10: true} {
		b := collecting(4*s).Alloc(n, size*n, "bytes.growSlice", render)
		if found := Expect(t, memory.Allocation, b, "alloc-hot at orders.go:130"); len(found) == 1 && found[0].GainAtLeast != floor {
			t.Errorf("%d bytes per request: a floor is %v", size, found[0].GainAtLeast)
		}
	}
	// many small objects
	small := Expect(t, memory.Allocation, collecting(4*s).Alloc(400*n, 6000*n, "runtime.newobject", render), "alloc-hot at orders.go:130")
	if len(small) == 1 && (!strings.Contains(small[0].Remedy, "make fewer objects") || strings.Contains(small[0].Remedy, "the buffer")) {
		t.Errorf("objects of 15 bytes are no buffer: %s", small[0].Remedy)
	}
	// costs nothing
	Expect(t, memory.Allocation, Healthy().Alloc(n, 20<<10*n, "bytes.growSlice", render).NoProfile("cpu").Sample(9*s, render))
	Expect(t, memory.Allocation, collecting(4*s)) // spread
	ExpectUnjudged(t, memory.Allocation, Healthy().NoProfile("allocs"), "alloc-hot")
}

// TestAllocationOfHandlersOfOneFunction: main registers handlers as literals. Each is a place of its own, with what it hands to others.
func TestAllocationOfHandlersOfOneFunction(t *testing.T) {
	n := int64(Healthy().Requests())
	f := says(t, collecting(4*s).Alloc(n, 120<<10*n, "main.main.func1@main.go:30").
		Alloc(n, 20<<10*n, "main.main.func1.1@main.go:33", "slices.SortFunc[...]", "main.main.func1@main.go:31").
		Alloc(n, 80<<10*n, "main.main.func2@main.go:40"), "alloc-hot at main.go:30")
	holds(t, f.Title, "(140 KiB in 2 objects per request)")
}

// TestAllocationOfACallThatDoesMore: a call that mostly reads files also allocates most bytes. Not to call it spares the reading too, but
// that is not for the allocations to promise.
func TestAllocationOfACallThatDoesMore(t *testing.T) {
	const visit, walk = "github.com/tree/walk.visit", "github.com/tree/walk.Walk"
	n := int64(Healthy().Requests())
	gain := func(reads time.Duration) float64 {
		b := collecting(3*s).Alloc(n, 200<<10*n, visit, walk, render).Sample(s, "runtime.mallocgc", visit, walk, render)
		b.Sample(reads, "syscall.fstatat", "os.Lstat", visit, walk, render)
		found := Expect(t, memory.Allocation, b, "alloc-hot at orders.go:130")
		if len(found) != 1 {
			return 0
		}
		return found[0].GainCeiling
	}
	if little, much := gain(s), gain(9*s); much == 0 || much > little {
		t.Errorf("worth %.2fx where it mostly allocates, and %.2fx where it mostly reads", little, much)
	}
}

// TestAllocationOfTheNextHandler: what a dependency's handler allocates is no buffer of the middleware that calls it.
func TestAllocationOfTheNextHandler(t *testing.T) {
	const guard, next = "shop/web.(*guard).ServeHTTP@guard.go:9", "github.com/metrics/client.Handler.func1"
	n := int64(Healthy().Requests())
	allocates := func(stack ...string) *Builder { return collecting(4*s).Alloc(n, 200<<10*n, stack...) }
	for _, f := range Expect(t, memory.Allocation, allocates("bytes.growSlice", next, "net/http.HandlerFunc.ServeHTTP",
		"net/http.(*ServeMux).ServeHTTP", guard), "alloc-hot at guard.go:9") {
		if !strings.Contains(f.Title, "passes requests on to client.Handler.func1") ||
			!strings.HasPrefix(f.Remedy, "Nothing at guard.go:9") {
			t.Errorf("%s: %s", f.Title, f.Remedy)
		}
	}
	for _, f := range Expect(t, memory.Allocation, allocates("bytes.growSlice", next, guard), "alloc-hot at guard.go:9") {
		if strings.Contains(f.Title, "passes requests on") {
			t.Errorf("it calls a function that it chose: %s", f.Title)
		}
	}
}

// TestBuffersOfAReverseProxy: net/http/httputil makes a buffer for each answer; only the proxy's pool spares it.
func TestBuffersOfAReverseProxy(t *testing.T) {
	const route = "shop/web.(*Router).ServeHTTP@router.go:424"
	copies := []string{"net/http/httputil.(*ReverseProxy).copyResponse", "net/http/httputil.(*ReverseProxy).ServeHTTP", route}
	b := New(16, 3*ms).CPU(2, 1.95, 1.6, 0.2, -1)
	b.Sample(4*s, append([]string{"runtime.mallocgc"}, copies...)...).Background(4*s, "runtime.gcDrain", "runtime.gcBgMarkWorker").
		Sample(6*s, "shop/web.route@router.go:90", route)
	n := int64(b.Requests())
	b.Alloc(n, 32<<10*n, copies...).Alloc(10*n, 3<<10*n, route)
	found := Expect(t, memory.Allocation, b, "alloc-hot at router.go:424")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "BufferPool") {
		t.Error(found[0].Remedy)
	}
}

// Other programs take the CPUs, so that little can be gained on this host. Nevertheless the
// allocations of a place are half of the service's work.
func TestAllocationBesideOtherPrograms(t *testing.T) {
	n := int64(Healthy().Requests())
	crowded := func(cpu time.Duration) *Builder {
		b := collecting(cpu).CPU(2, 1.98, 0.22, 0.05, 0).Without(series.DBCPU) // a peer's CPU is not known
		b.Wait(breakdown.StateNetwork, 5*ms, 2, "net.(*conn).Read", "shop/legacy.(*Client).ask@legacy.go:5")
		return b.Alloc(n, 200<<10*n, "bytes.growSlice", render)
	}
	Expect(t, memory.Allocation, crowded(9*s), "alloc-hot at orders.go:130")
	Expect(t, memory.Allocation, crowded(s/10).Sample(9*s, render)) // costs nothing
}

// collector sets the runtime's figures: live and scannable heap, the goal, GOGC
// and cycles per second, forced ones among them.
func collector(b *Builder, live, scan, goal, percent, cycles, forced float64) *Builder {
	const seconds = 10
	b.Gauge("/gc/heap/live:bytes", "", live).Gauge("/gc/scan/heap:bytes", "", scan).
		Gauge("/gc/heap/goal:bytes", "", goal).Gauge("/gc/gogc:percent", "", percent)
	return b.Counter("/gc/cycles/total:gc-cycles", "", cycles*seconds).Counter("/gc/cycles/forced:gc-cycles", "", forced*seconds)
}

func TestAllocationAtOddSettings(t *testing.T) {
	n := int64(Healthy().Requests())
	hot := func() *Builder {
		return collecting(4*s).Alloc(n, 200<<10*n, "bytes.growSlice", "bytes.(*Buffer).Write", render)
	}
	Expect(t, memory.Allocation, collector(hot(), 30e6, 20e6, 60e6, 100, 30, 0), "alloc-hot at orders.go:130")
	Expect(t, memory.Allocation, collector(hot(), 30e6, 20e6, 31.5e6, 5, 60, 0))                                         // GOGC
	Expect(t, memory.Allocation, collector(hot(), 30e6, 20e6, 60e6, 100, 60, 60))                                        // forced
	Expect(t, memory.Allocation, collector(hot(), 50e6, 40e6, 53e6, 100, 60, 0).Gauge("/gc/gomemlimit:bytes", "", 60e6)) // limit
}

func TestCollector(t *testing.T) {
	Expect(t, memory.Collector, Healthy())
	Expect(t, memory.Collector, collecting(6*s), "gc-cpu")
	idle := Healthy().Background(9*s, "runtime.gcDrain", "runtime.gcDrainMarkWorkerIdle", "runtime.gcBgMarkWorker")
	Expect(t, memory.Collector, idle) // on CPUs that had nothing else to do
	Expect(t, memory.Collector, Healthy().Wait(breakdown.StateAssist, 4*ms, 2), "gc-assist")
	// It takes more of the CPU for which requests queue.
	crowded := func(queued time.Duration) *Builder {
		return New(64, 16*ms).CPU(2, 1.7, 1.2, 0.2, 0.1).Busy(2*s).Background(6*s, "runtime.scanobject", "runtime.gcDrain",
			"runtime.gcBgMarkWorker").Wait(breakdown.StateAssist, 4*ms, 2).Wait(breakdown.StateRunnable, queued, 8)
	}
	Expect(t, memory.Collector, crowded(2*ms), "gc-assist")
	Expect(t, memory.Collector, crowded(10*ms), "gc-cpu")
	// The world stands still because the program calls for it.
	Expect(t, memory.Collector, Healthy().Wait(breakdown.StateStoppedByCall, 4*ms, 2, "runtime.ReadMemStats", render))
	// Only the tail assists.
	tail := New(64, 3*ms).Rate(500).Late(15*ms, 0.011).CPU(2, 0.4, 0.2, 0.06, 0.1).Busy(2*s).Wait(breakdown.StateRunning, 2*ms, 3)
	// In an open loop that keeps its schedule nothing waits for it.
	short := func() *Builder {
		return New(64, 2*ms).Wait(breakdown.StateRunning, ms, 2).Wait(breakdown.StateAssist, 600*time.Microsecond, 2)
	}
	Expect(t, memory.Collector, short().Rate(300))
	Expect(t, memory.Collector, short(), "gc-assist")
	Expect(t, memory.Collector, tail.Slow(breakdown.StateAssist, 12*ms), "gc-assist")
	// A busy service's tail meets a cycle now and then.
	Expect(t, memory.Collector, Healthy().Slow(breakdown.StateAssist, 30*ms))
	// Both at once are one thing: on busy CPUs the CPU, on idle ones the assists.
	Expect(t, memory.Collector, collecting(9*s).Wait(breakdown.StateAssist, 4*ms, 2), "gc-cpu")
	Expect(t, memory.Collector, collecting(9*s).CPU(2, 1, 0.5, 0.1, 0.1).Wait(breakdown.StateAssist, 4*ms, 2), "gc-assist")
	ExpectUnjudged(t, memory.Collector, New(64, 3*ms), "gc-limit-thrash", "heap-large-live", "gc-cpu", "gc-forced", "gc-assist")
}

func TestWhyItCollects(t *testing.T) {
	Expect(t, memory.Collector, collector(collecting(6*s), 30e6, 20e6, 60e6, 100, 60, 0), "gc-cpu")
	Expect(t, memory.Collector, collector(collecting(6*s), 400e6, 300e6, 800e6, 100, 2, 0), "heap-large-live")
	Expect(t, memory.Collector, collector(collecting(6*s), 400e6, 300e6, 440e6, 10, 20, 0), "gc-cpu") // GOGC makes the cycles
	Expect(t, memory.Collector, collector(Healthy(), 400e6, 300e6, 800e6, 100, 0.1, 0))               // at ease
	Expect(t, memory.Collector, collector(collecting(6*s), 400e6, 1e6, 800e6, 100, 2, 0), "gc-cpu")   // no pointers
	Expect(t, memory.Collector, collector(collecting(6*s), 50e6, 40e6, 54e6, 100, 60, 0).
		Gauge("/gc/gomemlimit:bytes", "", 60e6), "gc-limit-thrash")
	// GOGC=off
	Expect(t, memory.Collector, collector(collecting(6*s), 50e6, 40e6, 54e6, 1.8e19, 60, 0).
		Gauge("/gc/gomemlimit:bytes", "", 60e6), "gc-limit-thrash")
	// GOGC=off, with as much room as a GOGC of 900 would leave
	roomy := func(cpu time.Duration) *Builder {
		return collector(collecting(cpu), 100e6, 80e6, 1e9, 1.8e19, 60, 0).Gauge("/gc/gomemlimit:bytes", "", 1<<30)
	}
	Expect(t, memory.Collector, roomy(2*s))
	Expect(t, memory.Collector, roomy(6*s), "gc-cpu")
	// tight, but cheap
	Expect(t, memory.Collector, collector(Healthy(), 50e6, 40e6, 54e6, 100, 2, 0).Gauge("/gc/gomemlimit:bytes", "", 60e6))
	// no limit
	Expect(t, memory.Collector, collector(collecting(6*s), 50e6, 40e6, 100e6, 100, 60, 0).Gauge("/gc/gomemlimit:bytes", "", 9e18), "gc-cpu")
}

// TestSmallGOGC: a small GOGC proves itself, so less collection suffices, and the line that sets it is the place; of several
// it is not known which one counts.
func TestSmallGOGC(t *testing.T) {
	in := func(b *Builder, percent float64, sets ...code.Frame) (cause, where string) {
		rec, body := collector(b, 30e6, 20e6, 33e6, percent, 60, 0).Open(t)
		if err := disk.WriteJSON(rec.Dir, code.File, code.Compiler{Collector: sets}); err != nil {
			t.Fatal(err)
		}
		out, err := diagnose.Run(rec, body, suite.All())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range out.Findings {
			if f.Cause == "gc-cpu" || f.Cause == "gc-assist" {
				return f.Cause, f.Where.Function
			}
		}
		return "", ""
	}
	found := func(percent float64, sets ...code.Frame) (cause, where string) {
		return in(collecting(2*s), percent, sets...)
	}
	line := code.Frame{Function: "main.main", File: "main.go", Line: 44}
	if cause, where := found(10, line); cause != "gc-cpu" || where != "main.main" {
		t.Errorf("GOGC=10: %s at %s", cause, where)
	}
	assists := func() *Builder { return collecting(2*s).Wait(breakdown.StateAssist, 4*ms, 2) }
	if cause, where := in(assists(), 10, line); cause != "gc-assist" || where != "main.main" {
		t.Errorf("GOGC=10, for which requests assist: %s at %s", cause, where)
	}
	if cause, where := found(10, line, line); cause != "gc-cpu" || where == "main.main" {
		t.Errorf("two lines: %s at %s", cause, where)
	}
	if cause, _ := found(100, line); cause != "" {
		t.Errorf("the default: %s", cause)
	}
}

func TestForced(t *testing.T) {
	cleanup := "shop/orders.cleanup@orders.go:9"
	inRequests := func() *Builder {
		return collector(collecting(2*s), 30e6, 20e6, 60e6, 100, 60, 59).Wait(breakdown.StateOther, 20*ms, 1,
			"runtime.gcWaitOnMark", "runtime.GC", cleanup)
	}
	Expect(t, memory.Collector, inRequests(), "gc-forced at orders.go:9")
	stops := collector(collecting(2*s), 30e6, 20e6, 60e6, 100, 60, 59).Wait(breakdown.StateStoppedByCall, 20*ms, 1, "runtime.GC", cleanup)
	if found := Expect(t, memory.Collector, stops, "gc-forced at orders.go:9"); len(found) == 1 && found[0].Share < 0.5 {
		t.Errorf("%.2f of request time, without the stops", found[0].Share)
	}
	// Memory that is given back has to be faulted in again, which nothing measures apart.
	for call, floor := range map[string]bool{"runtime.GC": false, "runtime/debug.FreeOSMemory": true} {
		b := collector(collecting(2*s), 30e6, 20e6, 60e6, 100, 60, 59).Wait(breakdown.StateOther, 20*ms, 1,
			"runtime.gcWaitOnMark", call, cleanup)
		if found := Expect(t, memory.Collector, b, "gc-forced at orders.go:9"); len(found) == 1 && found[0].GainAtLeast != floor {
			t.Errorf("%s: a floor is %v", call, found[0].GainAtLeast)
		}
	}
	// By a timer: the profile shows what forces them.
	timer := collector(collecting(6*s), 30e6, 20e6, 60e6, 100, 60, 60).Background(100*ms, "runtime.sweepone",
		"runtime.GC", "runtime/debug.freeOSMemory", "runtime/debug.FreeOSMemory", cleanup)
	Expect(t, memory.Collector, timer, "gc-forced at orders.go:9")
	Expect(t, memory.Collector, collector(Healthy(), 30e6, 20e6, 60e6, 100, 2, 2))                  // cheap
	Expect(t, memory.Collector, collector(collecting(6*s), 30e6, 20e6, 60e6, 100, 60, 5), "gc-cpu") // few of them
}

// Without a probe the runtime's own trace of collections stands in.
func TestPrintedCollections(t *testing.T) {
	b := collecting(6*s).Counter(series.GCCycles, "", 600).Counter(series.GCForced, "", 600)
	Expect(t, memory.Collector, b.Gauge(series.GCLive, "", 30e6).Gauge(series.GCGoal, "", 60e6), "gc-forced")
}

func TestLeak(t *testing.T) {
	begin := "shop/sessions.begin@sessions.go:32"
	// Ten cycles, one a second.
	live := func(bytes func(second int) float64) *Builder {
		return Idle().Series("/gc/heap/live:bytes", "", func(window int) float64 { return bytes(window / 10) })
	}
	rising := func(second int) float64 { return 20e6 + 5e6*float64(second) }
	Expect(t, memory.Leak, live(rising).Heap(10<<20, 60<<20, begin), "heap-leak at sessions.go:32")
	// nobody's
	Expect(t, memory.Leak, live(rising).Heap(10<<20, 20<<20, begin).Heap(0, 15<<20, "shop/a.f@a.go:1").Heap(0, 15<<20, "shop/b.f@b.go:1"))
	less := Expect(t, memory.Leak, live(rising).Heap(10<<20, 32<<20, begin).Heap(0, 15<<20, "shop/a.f@a.go:1").Heap(0, 13<<20,
		"shop/b.f@b.go:1"), "heap-leak at sessions.go:32")
	if len(less) == 1 && !strings.Contains(less[0].Title, ", 44 % of it allocated at sessions.go:32") {
		t.Error(less[0].Title)
	}
	// A record is kept whose parts several functions make.
	parts := func() *Builder {
		const keep, handle = "shop/journal.(*Journal).keep@journal.go:59", "shop/api.(*API).ServeHTTP@api.go:12"
		return live(rising).Heap(10<<20, 12<<20, keep, handle).Heap(0, 13<<20, "shop/copy.headers@copy.go:1", keep, handle).
			Heap(0, 13<<20, "encoding/json.Unmarshal", "shop/copy.body@copy.go:2", keep, handle).Heap(0, 5<<20, handle)
	}
	found := Expect(t, memory.Leak, parts(), "heap-leak at journal.go:59")
	if len(found) == 1 && found[0].Confidence != findings.Low {
		t.Errorf("confidence %v of a function with what it calls", found[0].Confidence)
	}
	// A generator that waits for a CPU begins the span after its first profile.
	Expect(t, memory.Leak, live(rising).Heap(10<<20, 60<<20, begin).Early(200*ms), "heap-leak at sessions.go:32")
	// to and fro
	Expect(t, memory.Leak, live(func(second int) float64 { return 20e6 + 1e6*float64(second%3) }).Heap(10<<20, 60<<20, begin))
	// a cache that fills
	Expect(t, memory.Leak, live(func(second int) float64 {
		return 20e6 + 5e6*float64(min(second,
			4)) + 1e3*float64(second%2)
	}).Heap(10<<20, 60<<20, begin))
	// Cycles get rare as the heap grows, and the first find more: the run begins to observe.
	Expect(t, memory.Leak, Idle().Series("/gc/heap/live:bytes", "", func(window int) float64 {
		seen := 4e6
		for cycle, at := range []int{1, 8, 21, 39, 67} {
			if window >= at {
				seen = []float64{10e6, 13.8e6, 21e6, 31e6, 47e6}[cycle]
			}
		}
		return seen
	}).Heap(10<<20, 60<<20, begin), "heap-leak at sessions.go:32")
	ExpectUnjudged(t, memory.Leak, live(rising), "heap-leak")
	ExpectUnjudged(t, memory.Leak, live(func(int) float64 { return 20e6 }).Heap(10<<20, 60<<20, begin), "heap-leak") // one cycle
	ExpectUnjudged(t, memory.Leak, Idle(), "heap-leak")
}

// A library that allocates in many places below one call takes no buffer from the caller; if that is
// most of the line's CPU, cpu-hot-function reports it.
func TestAllocationAllOverALibrary(t *testing.T) {
	const lib = "github.com/rules/schema."
	n := int64(Healthy().Requests())
	spread := func(call string, b *Builder) *Builder {
		for _, f := range []string{"(*roots).add", "(*walker).walk", "(*scope).child"} {
			b.Alloc(200*n, 70<<10*n, "runtime.newobject", lib+f, lib+call, "shop/orders.check@orders.go:58")
		}
		return b
	}
	found := Expect(t, memory.Allocation, spread("Validate", collecting(4*s)), "alloc-hot at orders.go:58")
	if len(found) == 1 && (strings.Contains(found[0].Remedy, "final size") || !strings.Contains(found[0].Remedy, "schema.Validate")) {
		t.Errorf("no buffer of the caller's spares them: %s", found[0].Remedy)
	}
	compiles := collecting(4*s).Sample(5*s, lib+"(*roots).add", lib+"(*Compiler).Compile", lib+"Validate", "shop/orders.check@orders.go:58")
	Expect(t, memory.Allocation, spread("(*Compiler).Compile", compiles))
	one := collecting(4*s).Alloc(n, 200<<10*n, "runtime.makemap", lib+"Context.Update", lib+"Validate", "shop/orders.check@orders.go:58")
	found = Expect(t, memory.Allocation, one, "alloc-hot at orders.go:58")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "schema.Context.Update") || strings.Contains(found[0].Remedy, "final size")) {
		t.Errorf("the library's map is not named: %s; %s", found[0].Title, found[0].Remedy)
	}
}

// A remedy at a call saves what the call allocates: a handler that searches the page that it parses
// allocates nearly all bytes, but searching less saves only the search's half. What compiles the search
// takes more CPU than that, and is cpu-hot-function's to report.
func TestAllocationOfOneCallAmongSeveral(t *testing.T) {
	const lib, at = "github.com/rules/path.", "shop/web.page@page.go:34"
	n := int64(Healthy().Requests())
	const parser, parse = "github.com/net/html.(*parser).parse", "github.com/net/html.Parse"
	page := func() *Builder {
		return collecting(5*s).
			Alloc(100*n, 40<<10*n, "runtime.newobject", parser, parse, "shop/web.page@page.go:20").
			Alloc(200*n, 40<<10*n, "runtime.newobject", lib+"(*parser).step", lib+"Compile", lib+"Find", at).
			Alloc(50*n, 20<<10*n, "runtime.newobject", lib+"(*query).Select", lib+"Find", at)
	}
	found := Expect(t, memory.Allocation, page(), "alloc-hot at page.go:34")
	if len(found) == 1 && (found[0].Share > 0.25 || !strings.Contains(found[0].Remedy, "path.Compile")) {
		t.Errorf("%.2f of the CPU: %s; %s", found[0].Share, found[0].Title, found[0].Remedy)
	}
	Expect(t, memory.Allocation, page().Sample(2*s, lib+"(*parser).step", lib+"Compile", lib+"Find", at))
}

// A page that asks a library for several settings allocates little in each call, and nothing itself.
func TestAllocationOfALibrary(t *testing.T) {
	n := int64(Healthy().Requests())
	asks := func(own int64) *Builder {
		b := collecting(5*s).Alloc(10*n, own<<10*n, "runtime.makeslice", "shop/web.page@page.go:40")
		for i, f := range []string{"GetString", "GetInt", "GetBool"} {
			b.Alloc(100*n, 30<<10*n, "strings.genSplit", "github.com/kept/settings."+f, fmt.Sprintf("shop/web.page@page.go:%d", 30+i))
		}
		return b
	}
	found := Expect(t, memory.Allocation, asks(20), "alloc-hot at page.go:30")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "all over settings") ||
		!strings.Contains(found[0].Remedy, "call settings less often")) {
		t.Errorf("%s; %s", found[0].Title, found[0].Remedy)
	}
	found = Expect(t, memory.Allocation, asks(200), "alloc-hot at page.go:40")
	if len(found) == 1 && strings.Contains(found[0].Title, "settings") {
		t.Errorf("the function's own bytes: %s", found[0].Title)
	}
}

// A file that is read for each request is to be kept; a larger buffer for it saves nothing.
func TestAllocationOfAFile(t *testing.T) {
	n := int64(Healthy().Requests())
	found := Expect(t, memory.Allocation, collecting(5*s).Alloc(7*n, 284<<10*n, "os.ReadFile", "shop/terms.read@terms.go:14"),
		"alloc-hot at terms.go:14")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "call os.ReadFile less often") {
		t.Error(found[0].Remedy)
	}
}

// A function that mostly calls what parses a URL's query again and again is hot, with all that this allocates: neither
// the bytes nor their collection are another cause. Where the call does little else than allocate, they are.
func TestAllocationOfAHotCall(t *testing.T) {
	const query, at = "net/url.(*URL).Query", "shop/search.lines@lines.go:66"
	n := int64(Healthy().Requests())
	hot := func(parsing time.Duration) *Builder {
		return collecting(5*s).Sample(parsing, "net/url.parseQuery", query, at).
			Alloc(500*n, 700<<10*n, "net/url.parseQuery", query, at)
	}
	Expect(t, memory.Allocation, hot(8*s))
	Expect(t, memory.Collector, hot(8*s))
	found := Expect(t, memory.Allocation, hot(s), "alloc-hot at lines.go:66")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "in url.(*URL).Query") || !strings.Contains(found[0].Remedy, "less often")) {
		t.Errorf("%s; %s", found[0].Title, found[0].Remedy)
	}
}

// The remedy at a call is to call less, which spares all that the named function does and not only what it allocates:
// ozzo-validation looks each field up by reflection, and makes a description of every field on the way.
func TestAllocationOfAFunctionToCallLess(t *testing.T) {
	const lib, at = "github.com/rules/check.", "shop/orders.check@orders.go:58"
	n := int64(Healthy().Requests())
	checks := func() *Builder {
		return collecting(4*s).Alloc(200*n, 200<<10*n, "runtime.newobject", lib+"findField", lib+"Validate", at)
	}
	does := Expect(t, memory.Allocation, checks().Sample(4*s, "reflect.(*rtype).Field", lib+"findField", lib+"Validate", at),
		"alloc-hot at orders.go:58")
	other := Expect(t, memory.Allocation, checks().Sample(4*s, "reflect.(*rtype).Field", lib+"Other", at), "alloc-hot at orders.go:58")
	if len(does) == 1 && len(other) == 1 && does[0].GainCeiling < 1.1*other[0].GainCeiling {
		t.Errorf("worth %.2fx, and %.2fx where another call does that", does[0].GainCeiling, other[0].GainCeiling)
	}
}
