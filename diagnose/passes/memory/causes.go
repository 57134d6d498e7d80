package memory

import "github.com/redline-go/redline/diagnose"

// allocators are causes whose garbage makes the collector run: if one of them is
// found and promises as much, collection is its consequence.
var allocators = []string{"alloc-hot", "cpu-json", "cpu-logging", "cpu-regexp-compile", "cpu-template-parse", "cpu-format", "cpu-reflect",
	"cpu-compress"}

var gcForced = diagnose.Cause{
	ID: "gc-forced", Title: "The program forces garbage collections",
	Doc: "Garbage collections run far more often than the heap requires, because the program calls runtime.GC or " +
		"debug.FreeOSMemory: in a request, which then waits for a whole cycle, or on a timer.",
	Knows: "The runtime counts the cycles that a program forces (/gc/cycles/forced). They must be at least one per second and " +
		"half of all cycles, and take at least 10 % of the service's CPU or of request time. Where: the user's function that " +
		"calls runtime.GC or debug.FreeOSMemory, in the requests' waits, otherwise in the CPU, goroutine or block profile. " +
		"The count alone distinguishes it from gc-cpu.",
	Remedy: "Remove runtime.GC and debug.FreeOSMemory; to bound memory set GOMEMLIMIT.",
	Example: diagnose.Example{Lang: "go",
		Before: "func (e *exporter) done() {\n\te.buf = nil\n\truntime.GC() // free it now\n}",
		After:  "func (e *exporter) done() {\n\te.buf = nil // the next cycle frees it; GOMEMLIMIT bounds the heap\n}"},
	Verify: "redline compare BEFORE AFTER: /gc/cycles/forced falls to 0 and cycles per second with it.",
	Cases:  []string{"reports-export", "thumbs-scavenge"},
}

var gcLimit = diagnose.Cause{
	ID: "gc-limit-thrash", Title: "The memory limit makes the garbage collector run all the time",
	Doc: "The live heap nearly fills GOMEMLIMIT. Each cycle frees little, so the next one begins at once; the runtime's " +
		"limiter then lets the heap exceed the limit rather than collect more than half of the time.",
	Knows: "GOMEMLIMIT is set, the heap goal is less than nine tenths of what GOGC would set (so the limit sets it) and less " +
		"than twice the live heap, and garbage collection takes at least 15 % of the service's CPU. The origin of the goal " +
		"distinguishes it from gc-cpu; if the runtime's limiter is active, that adds to the evidence but does not decide, " +
		"because a small GOGC turns it on as well.",
	Remedy: "Raise GOMEMLIMIT to twice the live heap plus overhead, or shrink the live heap.",
	Example: diagnose.Example{Lang: "sh",
		Before: "GOMEMLIMIT=66MiB ./carts   # the live heap is 55 MiB",
		After:  "GOMEMLIMIT=160MiB ./carts"},
	Verify: "redline ab with both limits: cycles per second and CPU per request fall.",
	Cases:  []string{"cart-snapshots"},
}

var heapLarge = diagnose.Cause{
	ID: "heap-large-live", Title: "A large live heap full of pointers is marked over and over",
	Doc: "The service holds hundreds of megabytes of small objects that point at each other. Every cycle marks all of them, " +
		"which takes CPU and makes requests assist.",
	Knows: "At least 96 MB of the live heap has pointers, GOGC is 50 or more, and neither a limit nor forced cycles cause " +
		"the collections; then 15 % of the service's CPU, or assists that make up the tail, come from the size of a cycle " +
		"and not from its frequency. Heap size and GOGC distinguish it from gc-cpu, and the scannable part from a cache " +
		"without pointers (which is not marked).",
	Remedy: "Hold the data without pointers (slices of values, indexes instead of pointers, one large byte " +
		"slice), or outside the heap; a higher GOGC trades memory for fewer cycles.",
	Example: diagnose.Example{Lang: "go",
		Before: "type road struct {\n\tto   *junction\n\tname *string\n}\n\nvar roads []*road",
		After:  "type road struct {\n\tto   int32 // index of the junction\n\tname uint32 // offset in one text\n}\n\nvar roads []road"},
	Verify: "/gc/scan/heap:bytes falls, and CPU per request with it (redline ab).",
	Cases:  []string{"graph-routes", "tiles-cache"},
}

var gcAssist = diagnose.Cause{
	ID: "gc-assist", Title: "Requests help the garbage collector",
	Doc: "Requests that allocate during a cycle must help to mark in proportion (assist), so they take longer although CPUs are idle.",
	Knows: "The execution trace shows the time that requests spend in assists or stopped by the runtime: at least 10 % of " +
		"request time (20 % on saturated CPUs) or 40 % of the tail's extra time (below saturation), if garbage collection " +
		"takes at least 8 % of the service's CPU. If an open loop kept its rate with 99 of 100 requests within 10 ms, assists " +
		"do no harm. On saturated CPUs, and if requests queue longer behind the collector's CPU use than they assist, the same " +
		"figures are reported as gc-cpu: the CPU is the bottleneck, and assists are one way of spending it. If the program " +
		"stops the world, that is stops-the-world.",
	Remedy:      "Allocate less; raise GOGC under a memory limit (GOMEMLIMIT).",
	FollowsFrom: allocators,
	Example: diagnose.Example{Lang: "sh",
		Before: "GOGC=20 ./suggest",
		After:  "GOGC=200 GOMEMLIMIT=400MiB ./suggest"},
	Verify: "redline ab with p99: the anatomy's gc-assist shrinks in the tail.",
	Cases:  []string{"search-suggest", "analytics-json", "crew-roster"},
}

var gcCPU = diagnose.Cause{
	ID: "gc-cpu", Title: "Garbage collection uses too much CPU",
	Doc: "The garbage collector runs nearly all the time, because the live heap is small and GOGC makes cycles short, or " +
		"because GOGC itself is small.",
	Knows: "Garbage collection takes at least a quarter of the service's CPU (without marking on idle CPUs), or 15 % if GOGC is " +
		"below 50, and none of gc-forced, gc-limit-thrash and heap-large-live explains why. The finding names the line that sets " +
		"a GOGC below 50, if the sources have one. If one place allocates most at an ordinary GOGC, it is reported as " +
		"a consequence of alloc-hot.",
	Remedy:      "Set a higher GOGC under GOMEMLIMIT, or allocate less at the named places.",
	FollowsFrom: allocators,
	Example: diagnose.Example{Lang: "go",
		Before: "debug.SetGCPercent(6) // keep memory low",
		After:  "debug.SetGCPercent(100)\ndebug.SetMemoryLimit(256 << 20)"},
	Verify: "redline ab with both settings: cycles per second and CPU per request fall.",
	Cases:  []string{"quotes-board", "ledger-statements"},
}
