package wait

import "github.com/redline-go/redline/diagnose"

var lockCause = diagnose.Cause{
	ID:    "lock-contention",
	Title: "Requests wait for a lock",
	Doc: "Goroutines that serve requests are blocked in Lock at one place, while one of them, or a background task, holds " +
		"the lock. Throughput stops growing with connections, and CPUs stay partly idle.",
	Knows: "The execution trace shows requests in state lock, grouped by the type or function that locks. A group counts " +
		"if it takes at least 20 % of the mean request and 100 µs, or half of the extra time of the slowest requests. The " +
		"finding points at the lock holder if that runs for more than half of the wait, or the mutex profile blames it for " +
		"more than half of the delay. (If locking and unlocking happen in two helpers, it points at their common caller.) The " +
		"trace shows what the holder was doing. The part of the wait in which the holder was ready but had no CPU does not " +
		"count, because the CPUs cause it. The CPU " +
		"profile shows what runs under the lock. If the runtime counts mutex wait time per window, a tail is reported with " +
		"confidence only if that time is high in the slow windows. A mutex that is locked often but hardly contended does not " +
		"show up, because no time is spent in that state. Waits in RLock are rwlock-writer.",
	Remedy: "Hold the lock for less time (no I/O, encoding or allocation under it), shard it, use atomics, or copy on write.",
	Example: diagnose.Example{Lang: "go",
		Before: "mu.Lock()\nresp, err := client.Get(url) // everyone waits for the network\ncache[key] = resp\nmu.Unlock()",
		After:  "resp, err := client.Get(url)\nmu.Lock()\ncache[key] = resp\nmu.Unlock()"},
	Verify: "Run again with redline run and compare: the share of time in state lock at this place must fall, and throughput " +
		"rise until the CPUs are busy.",
	Cases: []string{"wallet-transfers", "seat-holds", "stock-compaction", "payout-approval", "session-counters"},
	// These slow the holder of a lock, so that it holds it longer.
	FollowsFrom: []string{"cpu-throttled", "stops-the-world"},
	HeldBy: []string{"grows-with-state", "db-slow-query", "disk-sync", "cpu-reflect", "cpu-json", "cpu-regexp-compile", "cpu-regexp-match",
		"cpu-template-parse", "cpu-format", "cpu-clock", "cpu-crypto", "cpu-compress", "cpu-sort", "cpu-map"},
	CoveredBy: []string{"downstream-serial", "db-n-plus-one", "db-unbatched-write"}, // made by the holder
}

var writerCause = diagnose.Cause{
	ID:    "rwlock-writer",
	Title: "Readers wait behind a writer",
	Doc: "Goroutines that serve requests are blocked in RLock: a writer holds the lock, or is queued before them and waits " +
		"for a slow reader.",
	Knows: "As for lock-contention, if most of the waiting at the lock is in RLock. Writers that wait for each other are " +
		"lock-contention.",
	Remedy: "Shorten the writer's work under the lock, or publish an immutable copy through atomic.Pointer.",
	Example: diagnose.Example{Lang: "go",
		Before: "mu.Lock()\nrules = load() // readers wait for all of it\nmu.Unlock()",
		After:  "fresh := load()\nrules.Store(fresh) // atomic.Pointer[Rules]; readers never wait"},
	Verify:      "Run again: requests must no longer be in state lock at this place.",
	Cases:       []string{"tariff-reload", "flags-publisher"},
	FollowsFrom: []string{"cpu-throttled", "stops-the-world"},
}

var channelCause = diagnose.Cause{
	ID:    "channel-bottleneck",
	Title: "Requests wait for a channel's few consumers",
	Doc: "Requests are blocked handing work to, or waiting for a result from, one goroutine that serves them one after " +
		"another. It keeps at most one CPU busy.",
	Knows: "The trace shows requests blocked at a channel, a select or a condition, and which goroutine ends the wait: one " +
		"that serves no request. The goroutine profiles show how many of its kind there are. By Little's law more than 1.3 " +
		"requests must wait per such goroutine: with fewer, each request has its own worker, and the wait is reported as " +
		"that worker's activity. If another request ends the wait, or several workers that mostly wait themselves, it is " +
		"concurrency-limit; if the workers wait for a ticker, it is sleep; if they wake all waiters at once, it is an " +
		"event. A library's goroutine that reads responses from the network for all requests is part of a call: downstream-slow. If no " +
		"trace shows what ends the wait, it may be an event too, and confidence is low.",
	Remedy: "Use more consumers, larger batches per hand-over, or no hand-over at all; a buffer helps only against bursts.",
	Example: diagnose.Example{Lang: "go",
		Before: "go func() {\n\tfor job := range jobs {\n\t\thandle(job)\n\t}\n}()",
		After:  "for range runtime.GOMAXPROCS(0) {\n\tgo func() {\n\t\tfor job := range jobs {\n\t\t\thandle(job)\n\t\t}\n\t}()\n}"},
	Verify: "Run again with more consumers: the time waited at the channel must fall, and throughput rise with their number " +
		"until the CPUs, or the services that they call, are busy.",
	Cases: []string{"order-sequencer", "click-forwarder", "thumb-workers"},
	// The reason why a worker is slow is reported first if it promises as much. Compiling belongs in no request, whoever does it
	// for them; other work may as well be divided among more workers.
	FollowsFrom: []string{"cpu-throttled"},
	HeldBy:      []string{"db-slow-query", "cpu-regexp-compile", "cpu-template-parse"},
	CoveredBy:   []string{"disk-sync", "blocking-syscall"},
}

var limitCause = diagnose.Cause{
	ID:    "concurrency-limit",
	Title: "Requests wait for a slot of a concurrency limit",
	Doc: "Requests wait at a semaphore, a client's pool, a worker pool or a channel used as one, while CPUs are idle and the " +
		"service behind the limit has spare capacity.",
	Knows: "The trace shows requests blocked at a semaphore, or at a channel or condition that other requests' goroutines " +
		"release, or for a pool of two workers or more that are themselves waiting for most of the time while more requests " +
		"wait than there are workers. A request that waits for its own client until shortly before it ends the wait brings an event, as " +
		"in a chat, and held no slot. A limit on the goroutines that a request starts for itself (errgroup's SetLimit, a " +
		"channel as a semaphore) lets as many run as it starts without a wait. net/http's client is limited by MaxConnsPerHost " +
		"if requests wait in it for a connection while fewer than one is opened per twenty requests. " +
		"While CPUs are busy, a limit with more slots than CPUs is admission control, and raising it gains nothing, " +
		"unless the slots' holders wait for a timer or another service. A wait for a database connection is db-pool-wait.",
	Remedy: "Size the limit by Little's law: the desired rate times the time that a slot is held.",
	Example: diagnose.Example{Lang: "go",
		Before: "slots := make(chan struct{}, 2) // 2 / 12 ms = 166 calls a second",
		After:  "slots := make(chan struct{}, 24) // 2000/s x 12 ms"},
	Verify: "Raise the limit and run again: the wait must fall and throughput rise; if the calls behind it become slower " +
		"instead, the limit was right.",
	Cases: []string{"invoice-renderers", "terminal-leases", "address-checks", "parcel-desk", "parts-compare", "ferry-legs"},
	// A slot is held for as long as its holder waits.
	HeldBy: []string{"db-slow-query", "db-lock-wait", "db-n-plus-one", "db-pool-churn", "db-pool-wait", "downstream-slow"},
}

var flightCause = diagnose.Cause{
	ID:    "singleflight-convoy",
	Title: "Requests wait for one computation in flight",
	Doc: "Many requests wait for one that computes a value they all need, and all are as slow as that one: because a cached " +
		"value expired, or because the key is too coarse.",
	Knows: "The trace shows requests blocked in a single-flight group, or at a channel or WaitGroup that another request " +
		"releases for all at once after it went through the same function. If the computing request waits for a slow statement, " +
		"that is reported first, with the convoy as its consequence; if it waits for another service, that wait is reported " +
		"with it. A semaphore does not count: its release wakes only one request.",
	Remedy: "Use finer keys, or serve the stale value while one request renews it.",
	Example: diagnose.Example{Lang: "go",
		Before: "if expired(v) {\n\tv, _, _ = group.Do(key, load) // all wait\n}\nreturn v",
		After:  "if expired(v) {\n\tgo group.Do(key, load) // one renews\n}\nreturn v // all continue with the last value"},
	Verify:      "Run again: the slowest requests must come down to the median.",
	Cases:       []string{"league-table", "relief-regions"},
	FollowsFrom: []string{"cpu-throttled"},
	// All wait for as long as the one in flight does.
	HeldBy: []string{"downstream-slow", "db-slow-query", "db-lock-wait", "db-n-plus-one", "db-pool-wait"},
}

var sleepCause = diagnose.Cause{
	ID:    "sleep",
	Title: "Requests sleep",
	Doc: "Goroutines that serve requests wait for a timer: a sleep, a polling loop, a rate limiter, a back-off, or the next " +
		"tick of a goroutine that works in batches, such as a client's that sends messages together.",
	Knows: "The trace shows which waits a timer ended: directly, through a context's deadline, or through a goroutine that " +
		"itself waited for a timer, including a client library's goroutine below a call. They must take at least 20 % of the " +
		"mean request, or half of the tail's extra time. If a select " +
		"is ended sometimes by its own timer and sometimes by goroutines that were idle until then, or by one that wakes all " +
		"waiters, it is a long poll: the request waits for an event as intended, and is not reported. One that requests wake, or that " +
		"works for a twentieth of the wait before it wakes them, gathers a batch until its timer fires, which is reported. A pause that " +
		"always ends by its timer may be intended, but is reported, unless an open loop kept its rate with 99 of 100 requests " +
		"within 10 ms. If each request calls the service's own server 1.8 times or more and the timer is in that server's work, " +
		"confidence is low: the server may stand in for another service.",
	Remedy: "Remove the timer from the request path, or wait for the event itself. If a library waits, shorten its delay: the time " +
		"after which it sends a batch that is not full, or the pause between attempts.",
	Example: diagnose.Example{Lang: "go",
		Before: "for !job.Done() {\n\ttime.Sleep(25 * time.Millisecond)\n}",
		After:  "<-job.done // closed by whoever finishes it"},
	Verify: "Run again: no time may remain in state sleep at this place, and latency must fall by as much.",
	Cases: []string{"report-status", "coupon-retry", "metrics-coalescer", "geo-quota", "payout-approval", "parcel-desk", "inbox-longpoll",
		"pdf-queue"},
	// A pause between attempts is part of the retrying.
	FollowsFrom: []string{"retry-storm"}, SamePlace: true,
	CoveredBy: []string{"downstream-serial"}, // calls to the service's own server, which waits in each
}

var schedCause = diagnose.Cause{
	ID:    "sched-latency",
	Title: "Requests are ready to run and wait for a CPU",
	Doc: "Goroutines that serve requests are runnable but not running: more goroutines are ready than there are CPUs, often " +
		"because background work comes in bursts.",
	Knows: "The trace shows requests runnable for at least 30 % of their time and 500 µs, or for half of the extra time of " +
		"the slowest requests. If the requests themselves keep the CPUs busy, that is a symptom and is not reported. It is " +
		"reported if at least 30 % of the service's CPU goes into work outside requests (then the place), or if CPUs are not " +
		"busy on average. If requests spend a fifth of their time in system calls, whose threads keep their Ps, those calls are " +
		"the cause. For confidence in a tail, the runtime's scheduling latencies must be high in the slow windows.",
	Remedy: "Use less CPU per request, limit background work or move it elsewhere, add admission control or CPUs.",
	Example: diagnose.Example{Lang: "go",
		Before: "for _, shelf := range shelves {\n\tgo recompute(shelf)\n}",
		After:  "for _, shelf := range shelves {\n\trecompute(shelf)\n\ttime.Sleep(pause) // one at a time, with gaps\n}"},
	Verify: "Run again: the time that requests are runnable must fall, and the tail with it.",
	Cases:  []string{"recommendation-refresh", "index-builder", "league-table"},
	FollowsFrom: []string{"background-work", "cpu-throttled", "gomaxprocs-mismatch", "gc-cpu", "alloc-hot", "cpu-hot-function", "cpu-json",
		"cpu-logging", "cpu-regexp-compile", "cpu-regexp-match", "cpu-format", "cpu-crypto", "cpu-compress", "goroutine-churn",
		"gc-assist", "gc-limit-thrash", "gc-forced", "heap-large-live", "memory-pressure", "disk-sync",
		"http-client-churn", "db-pool-churn", "exec-per-request", "instrumentation-cost", "grows-with-state", "atomic-contention",
		"stops-the-world", "cpu-clock", "cpu-copy", "cpu-map", "cpu-reflect", "cpu-router", "cpu-sort", "cpu-syscall",
		"cpu-template-parse", "cpu-tls"},
	RunQueue: true,
}

var stopsCause = diagnose.Cause{
	ID:    "stops-the-world",
	Title: "The program stops the world",
	Doc: "A call makes the runtime stop all goroutines: runtime.ReadMemStats, a dump of all goroutines or of the heap, a change of " +
		"GOMAXPROCS. If each request makes that call, or a goroutine makes it all the time, every request stands still for " +
		"all of the calls, and CPUs stay idle.",
	Knows: "The execution trace shows when the world is stopped, why, and who called. The time counts in which requests, or " +
		"goroutines that they wait for, are ready to run while the world is stopped, and in which they wait for their turn to " +
		"stop it or have it stopped; at least 10 % of the mean request, or half of the extra time of the slowest requests. The " +
		"reason for the stop distinguishes it from gc-assist and gc-forced: the collector's own stops do not count, nor does " +
		"runtime.GC, nor do profiles and traces that redline or net/http/pprof takes.",
	Remedy: "Read runtime/metrics instead of runtime.ReadMemStats; take dumps on demand; set GOMAXPROCS once.",
	Example: diagnose.Example{Lang: "go",
		Before: "var m runtime.MemStats\nruntime.ReadMemStats(&m) // each request stops every other goroutine\nheap := m.HeapAlloc",
		After: "heap := []metrics.Sample{{Name: \"/memory/classes/heap/objects:bytes\"}}\nmetrics.Read(heap) // runtime/metrics: " +
			"nothing stops"},
	Verify: "Run again: requests must no longer be in state stopped-by-call; go tool trace shows no \"stop-the-world\" for " +
		"that reason.",
	Cases: []string{"silo-levels", "silo-feeds"},
}

var syscallCause = diagnose.Cause{
	ID:    "blocking-syscall",
	Title: "Requests wait in system calls",
	Doc: "Requests spend their time in a blocking system call or in C, each on its own thread; the number of threads grows " +
		"with them.",
	Knows: "The trace shows requests in system calls other than the network's: reads of files and devices, locks of files, " +
		"child processes, cgo; or waiting for a goroutine that is in one. They must take at least 20 % of the mean request, or " +
		"half of the tail's extra time. Syncing and writing files is disk-sync, writing logs cpu-logging.",
	Remedy: "Cache the result, limit how many calls run at once, or move the call off the request path.",
	Example: diagnose.Example{Lang: "go",
		Before: "syscall.Flock(fd, syscall.LOCK_EX) // every request, in the kernel's queue",
		After:  "n := <-numbers // one goroutine takes the lock once for a hundred numbers"},
	Verify: "Run again: requests must no longer be in state syscall at this place, and the number of threads must fall.",
	Cases:  []string{"badge-reader", "voucher-numbers"},
}

var execCause = diagnose.Cause{
	ID:    "exec-per-request",
	Title: "Requests start processes and wait for them",
	Doc: "A handler runs a command. Forking, loading and ending a process takes at least a millisecond of CPU before the " +
		"command has done anything, and each process has its own memory.",
	Knows: "The trace shows requests that wait for a process to start, write or exit; the profile shows the service's cost of " +
		"starting it; and the kernel counts the CPU of even short-lived processes, once the service has waited for " +
		"them. Together this must take at least 15 % of request time or, on saturated CPUs, of the CPU that the load uses. It " +
		"includes the command's own work, so the gain is an upper bound.",
	Remedy: "Do the work within the service (a library), keep one process running and send it the requests, or cache its " +
		"output. If the service exists to run a process per request, limit how many run at a time.",
	Example: diagnose.Example{Lang: "go",
		Before: "out, err := exec.Command(\"git\", \"rev-parse\", ref).Output() // in each request",
		After:  "hash, err := repository.ResolveRevision(ref) // go-git, in the process"},
	Verify: "Run again: process.cpu.reaped must fall to zero, and throughput must rise.",
	Cases:  []string{"charter-seals"},
}

var leakCause = diagnose.Cause{
	ID:    "goroutine-leak",
	Title: "Blocked goroutines pile up",
	Doc: "Goroutines of one kind grow in number while the load is constant: each is blocked, and nothing will ever end it. " +
		"Memory grows with them, and the memory they hold is never freed.",
	Knows: "Two goroutine profiles, from the beginning and the end of the steady span, are subtracted by stack. A kind " +
		"counts if it grew by at least 100 and by a quarter of all goroutines at the end, while the runtime's count of " +
		"goroutines rose in every quarter of the span. Goroutines of connections do not count, nor does growth along with " +
		"requests in flight: an overloaded open loop piles those up. If the runtime finds goroutines that nothing can wake " +
		"(the leak profile), confidence is high. A library's goroutines are named where requests start them, if the " +
		"execution traces show it. Without two profiles this is not judged. Goroutines parked from the start do not grow.",
	Remedy: "End the goroutine with the request: give the channel a buffer of one, pass a context and select on its Done, " +
		"close what it ranges over.",
	Example: diagnose.Example{Lang: "go",
		Before: "answer := make(chan quote)\ngo func() { answer <- ask() }() // blocks forever once no one reads",
		After:  "answer := make(chan quote, 1)\ngo func() { answer <- ask() }()"},
	Verify:      "Run again for longer: /sched/goroutines must stay level after the warm-up.",
	Cases:       []string{"cart-watchers", "price-quotes-hedge", "score-subscribers"},
	Grows:       true,
	FollowsFrom: []string{"http-client-churn", "db-pool-churn"}, // whose connections, or pools, pile up
}

var churnCause = diagnose.Cause{
	ID:    "goroutine-churn",
	Title: "Requests start many short goroutines",
	Doc:   "Each request creates many goroutines, and creating, scheduling and growing them costs CPU.",
	Knows: "The trace counts goroutines created per request, at least 8, and the CPU profile the cost of starting, growing " +
		"and ending them, at least 8 % of CPU; both must be reached. A fan-out of a handful costs below 3 %.",
	Remedy: "Use a bounded pool of workers, or give each goroutine a larger piece of work.",
	Example: diagnose.Example{Lang: "go",
		Before: "for _, cell := range cells {\n\tgo price(cell)\n}",
		After:  "for part := range slices.Chunk(cells, len(cells)/runtime.GOMAXPROCS(0)+1) {\n\tgo priceAll(part)\n}"},
	Verify: "Run again: goroutines per request must fall, and throughput rise.",
	Cases:  []string{"matrix-quotes"},
	// Drivers and clients start one or two for each call.
	FollowsFrom: []string{"db-unbatched-write", "db-n-plus-one", "downstream-serial"}, SamePlace: true,
}
