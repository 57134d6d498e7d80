package gctune

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/kit/gctune/cgroup"
)

// The runtime's metrics that a sample is made of, in the order of their names here.
const (
	gogc = iota
	memoryLimit
	cpuTotal
	cpuIdle
	cpuGC
	cpuGCIdle
	cycles
	allocs
	live
	stackRoots
	globalRoots
	mapped
	released
	objects
	unused
	free
	metricsRead
)

var names = [metricsRead]string{
	gogc: "/gc/gogc:percent", memoryLimit: "/gc/gomemlimit:bytes",
	cpuTotal: "/cpu/classes/total:cpu-seconds", cpuIdle: "/cpu/classes/idle:cpu-seconds",
	cpuGC: "/cpu/classes/gc/total:cpu-seconds", cpuGCIdle: "/cpu/classes/gc/mark/idle:cpu-seconds",
	cycles: "/gc/cycles/total:gc-cycles", allocs: "/gc/heap/allocs:bytes", live: "/gc/heap/live:bytes",
	stackRoots: "/gc/scan/stack:bytes", globalRoots: "/gc/scan/globals:bytes",
	mapped: "/memory/classes/total:bytes", released: "/memory/classes/heap/released:bytes",
	objects: "/memory/classes/heap/objects:bytes", unused: "/memory/classes/heap/unused:bytes",
	free: "/memory/classes/heap/free:bytes",
}

// goRuntime is this process.
type goRuntime struct {
	begun   time.Time
	group   cgroup.Group
	unfound error // why there is no group
	share   float64
	limit   int64
	samples [metricsRead]metrics.Sample
}

func newRuntime(group cgroup.Group, unfound error, o Options) *goRuntime {
	r := &goRuntime{begun: time.Now(), group: group, unfound: unfound, share: o.MemoryShare, limit: o.Limit}
	for i, name := range names {
		r.samples[i].Name = name
	}
	return r
}

func (r *goRuntime) read() (sample, error) {
	metrics.Read(r.samples[:])
	whole := func(i int) int64 {
		if r.samples[i].Value.Kind() != metrics.KindUint64 {
			return 0 // a metric that this release does not have
		}
		return int64(min(r.samples[i].Value.Uint64(), math.MaxInt64))
	}
	seconds := func(i int) float64 {
		if r.samples[i].Value.Kind() != metrics.KindFloat64 {
			return 0
		}
		return r.samples[i].Value.Float64()
	}
	// Marking on Ps that would otherwise be idle costs nothing.
	gc, idle := seconds(cpuGC)-seconds(cpuGCIdle), seconds(cpuIdle)+seconds(cpuGCIdle)
	s := sample{
		at:      time.Since(r.begun),
		percent: percentOf(r.samples[gogc].Value),
		soft:    whole(memoryLimit),
		gc:      gc,
		user:    seconds(cpuTotal) - idle - gc,
		cycles:  uint64(whole(cycles)),
		allocs:  uint64(whole(allocs)),
		live:    whole(live),
		roots:   whole(stackRoots) + whole(globalRoots),
	}
	if cpu, ok := cpuSeconds(); ok {
		s.cpu = cpu
	} else {
		s.cpu = s.gc + s.user
	}
	held := whole(mapped) - whole(released)
	s.unused = whole(unused)
	s.other = max(0, held-whole(objects)-s.unused-whole(free))
	var err error
	s.budget, err = r.budget(held)
	return s, err
}

// percentOf reads /gc/gogc:percent, which is the largest integer if GOGC is off.
func percentOf(v metrics.Value) int {
	if v.Kind() != metrics.KindUint64 || v.Uint64() > math.MaxInt32 {
		return -1
	}
	return int(v.Uint64())
}

// budget returns what Go may hold, given what it holds.
func (r *goRuntime) budget(held int64) (int64, error) {
	budget := int64(none)
	if r.limit > 0 {
		budget = int64(r.share*float64(r.limit)) - max(0, resident()-held)
	}
	if r.unfound != nil {
		return budget, r.unfound
	}
	levels, err := r.group.Memory()
	for _, level := range levels {
		// The two are read one after the other, so growth in between must not count
		// as others'.
		others := max(0, level.Used-held)
		budget = min(budget, int64(r.share*float64(level.Limit))-others)
	}
	return budget, err
}

// resident returns the process's memory in bytes, with that of C libraries and mapped files; 0 where it is not known.
func resident() int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(text)); len(fields) > 1 {
		pages, _ := strconv.ParseInt(fields[1], 10, 64)
		return pages * int64(os.Getpagesize())
	}
	return 0
}

func (r *goRuntime) apply(next settings) settings {
	return settings{debug.SetGCPercent(next.percent), debug.SetMemoryLimit(next.memory)}
}
