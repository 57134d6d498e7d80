package wait

import "github.com/redline-go/redline/diagnose"

var lockCause = diagnose.Cause{
	ID:    "lock-contention",
	Title: "Requests wait for a lock",
	Doc: "Goroutines that serve requests are blocked in Lock at one place, while one of them, or a background task, holds " +
		"it. Throughput stops growing with connections, and CPUs stay partly idle.",
	Knows: "The execution trace shows requests in state lock; their places are grouped by the type or function " +
		"that locks. A group counts from 20 % of the mean request and 100 µs, or from half of what the slowest " +
		"requests take longer than the median ones. The mutex profile names who held the lock, and the trace " +
		"what the holder did meanwhile; the part of the wait in which the holder was ready and had no CPU is " +
		"the CPUs' doing and does not count. What runs under the lock is named by the CPU profile. Where the " +
		"runtime counts time waited for mutexes in every window, a tail is reported with confidence when that " +
		"time is high in the slow windows. A mutex that is taken often and hardly waited for has no time in " +
		"that state. Waits in RLock are rwlock-writer.",
	Remedy: "Hold the lock for less (no I/O, encoding or allocation under it), shard it, use atomics, or copy on write.",
	Example: diagnose.Example{Lang: "go",
		Before: "mu.Lock()\nresp, err := client.Get(url) // everyone waits for the network\ncache[key] = resp\nmu.Unlock()",
		After:  "resp, err := client.Get(url)\nmu.Lock()\ncache[key] = resp\nmu.Unlock()"},
	Verify: "Run again with redline run and compare: the share of time in state lock at this place must fall, and throughput " +
		"rise until the CPUs are busy.",
	Cases: []string{"wallet-transfers", "seat-holds", "stock-compaction", "payout-approval", "session-counters"},
	// A lock is held longer when its holder is slowed by these.
	FollowsFrom: []string{"cpu-throttled", "disk-sync"},
	HeldBy:      []string{"grows-with-state"},
}

var writerCause = diagnose.Cause{
	ID:    "rwlock-writer",
	Title: "Readers wait behind a writer",
	Doc: "Goroutines that serve requests are blocked in RLock: a writer holds the lock, or is queued before them and waits " +
		"for a slow reader.",
	Knows: "As lock-contention, where most of the time that is waited at the lock is waited in RLock. Writers that wait for " +
		"each other are lock-contention.",
	Remedy: "Shorten what the writer does under the lock, or publish an immutable copy through atomic.Pointer.",
	Example: diagnose.Example{Lang: "go",
		Before: "mu.Lock()\nrules = load() // readers wait for all of it\nmu.Unlock()",
		After:  "fresh := load()\nrules.Store(fresh) // atomic.Pointer[Rules]; readers never wait"},
	Verify:      "Run again: requests must not be in state lock at this place any more.",
	Cases:       []string{"tariff-reload", "flags-publisher"},
	FollowsFrom: []string{"cpu-throttled"},
}

var channelCause = diagnose.Cause{
	ID:    "channel-bottleneck",
	Title: "Requests wait for a channel's few consumers",
	Doc: "Requests are blocked handing over to, or waiting for an answer from, one goroutine that serves them one after " +
		"another. One CPU at most is busy with it.",
	Knows: "The trace shows requests blocked at a channel, a select or a condition, and who ends that: a goroutine that " +
		"serves no request. The goroutine profiles show how many of its kind there are. By Little's law more requests must " +
		"wait than 1.3 for each of them: where fewer do, each has a worker of its own, and the wait is reported as what that " +
		"worker does. Where another request ends the wait, or several workers that mostly wait themselves do, it is " +
		"concurrency-limit; where the workers wait for a ticker, sleep; where they wake all waiters at once, an " +
		"event.",
	Remedy: "More consumers, batches per hand-over, or no hand-over at all; a buffer helps only against bursts.",
	Example: diagnose.Example{Lang: "go",
		Before: "go func() {\n\tfor job := range jobs {\n\t\thandle(job)\n\t}\n}()",
		After:  "for range runtime.GOMAXPROCS(0) {\n\tgo func() {\n\t\tfor job := range jobs {\n\t\t\thandle(job)\n\t\t}\n\t}()\n}"},
	Verify: "Run again with more consumers: the time waited at the channel must fall, and throughput rise with their number " +
		"until the CPUs or what they call are busy.",
	Cases: []string{"order-sequencer", "click-forwarder", "thumb-workers"},
	// A worker's own trouble is reported first if it promises as much.
	FollowsFrom: []string{"cpu-throttled"},
}

var limitCause = diagnose.Cause{
	ID:    "concurrency-limit",
	Title: "Requests wait for a slot of a concurrency limit",
	Doc: "Requests wait at a semaphore, a client's pool, a pool of workers or a channel used as one, while CPUs are idle " +
		"and what they would call has room.",
	Knows: "The trace shows requests blocked at a semaphore, or at a channel or condition that other requests' goroutines " +
		"release, or for a pool of two workers or more that are themselves waiting for most of the time while more requests " +
		"wait than there are workers. While CPUs are busy a limit of more slots than CPUs is admission control and worth " +
		"nothing. A wait for a database connection is db-pool-wait.",
	Remedy: "Size the limit by Little's law: the rate wanted times how long a slot is held.",
	Example: diagnose.Example{Lang: "go",
		Before: "slots := make(chan struct{}, 2) // 2 / 12 ms = 166 calls a second",
		After:  "slots := make(chan struct{}, 24) // 2000/s x 12 ms"},
	Verify: "Raise the limit and run again: the wait must fall and throughput rise; if the calls behind it become slower " +
		"instead, the limit was right.",
	Cases:       []string{"invoice-renderers", "terminal-leases", "address-checks", "parcel-desk"},
	FollowsFrom: []string{"db-slow-query", "db-lock-wait", "db-n-plus-one", "db-pool-churn", "db-pool-wait", "downstream-slow"},
}

var flightCause = diagnose.Cause{
	ID:    "singleflight-convoy",
	Title: "Requests wait for one computation in flight",
	Doc: "Many requests wait for the one that computes what all of them want, and all of them are as slow as it is: when " +
		"a cached value has expired, or because the key is coarser than what is asked for.",
	Knows: "The trace shows requests blocked in a single-flight group, or at a channel or WaitGroup that " +
		"another request ends for all at once after it went through the same function. Where the one in flight " +
		"waits for a slow statement, that is reported first, and the convoy as what follows from it; where it " +
		"waits for another service, what it waits for is reported with it. A semaphore's release wakes one " +
		"request.",
	Remedy: "Finer keys, or serve the stale value while one request renews it.",
	Example: diagnose.Example{Lang: "go",
		Before: "if expired(v) {\n\tv, _, _ = group.Do(key, load) // all wait\n}\nreturn v",
		After:  "if expired(v) {\n\tgo group.Do(key, load) // one renews\n}\nreturn v // all go on with the last value"},
	Verify: "Run again: the slowest requests must come down to the median.",
	Cases:  []string{"league-table", "relief-regions"},
	FollowsFrom: []string{"downstream-slow", "db-slow-query", "db-lock-wait", "db-n-plus-one", "db-pool-wait",
		"cpu-throttled"},
}

var sleepCause = diagnose.Cause{
	ID:    "sleep",
	Title: "Requests sleep",
	Doc: "Goroutines that serve requests wait for a timer: a sleep, a polling loop, a rate limiter, a back-off, or the next " +
		"tick of a goroutine that works in batches.",
	Knows: "The trace shows which waits a timer ended, directly, through a context's deadline, or through a goroutine that " +
		"itself stood and waited for a timer. They count from 20 % of the mean request, or half of the tail's extra time. A " +
		"select that is ended partly by its own timer and partly by goroutines that had nothing to do until then, or by one " +
		"that wakes all who wait, is a long poll: the request waits for an event for as long as it is meant to, and nothing " +
		"is named. A pause that always ends by its timer cannot be distinguished from an intended one, and is named, unless " +
		"an open loop kept its rate with 99 of 100 requests within 10 ms.",
	Remedy: "Remove the timer from the request path, or wait for the event itself.",
	Example: diagnose.Example{Lang: "go",
		Before: "for !job.Done() {\n\ttime.Sleep(25 * time.Millisecond)\n}",
		After:  "<-job.done // closed by who finishes it"},
	Verify: "Run again: no time may be left in state sleep at this place, and latency must fall by as much.",
	Cases: []string{"report-status", "coupon-retry", "metrics-coalescer", "geo-quota", "payout-approval", "parcel-desk", "inbox-longpoll",
		"pdf-queue"},
}

var schedCause = diagnose.Cause{
	ID:    "sched-latency",
	Title: "Requests are ready to run and wait for a CPU",
	Doc: "Goroutines that serve requests are runnable but not running: more goroutines than CPUs are ready at a time, often " +
		"because of background work that comes in bursts.",
	Knows: "The trace shows requests runnable for 30 % of their time and 500 µs, or for half of what the slowest take longer " +
		"than the median. While requests themselves keep the CPUs busy that is a symptom and not named. It is named where " +
		"30 % of the service's CPU goes into work outside requests, which is then the place, or where CPUs are not busy on " +
		"average. While requests spend a fifth of their time in system calls, whose threads keep their Ps, those are " +
		"the cause. The runtime's own latencies of scheduling must be high in the slow windows for confidence in a tail.",
	Remedy: "Less CPU per request, background work bounded or moved away, admission control, more CPUs.",
	Example: diagnose.Example{Lang: "go",
		Before: "for _, shelf := range shelves {\n\tgo recompute(shelf)\n}",
		After:  "for _, shelf := range shelves {\n\trecompute(shelf)\n\ttime.Sleep(pause) // one at a time, with gaps\n}"},
	Verify: "Run again: the time requests are runnable must fall, and the tail with it.",
	Cases:  []string{"recommendation-refresh", "index-builder", "league-table"},
	FollowsFrom: []string{"background-work", "cpu-throttled", "gomaxprocs-mismatch", "gc-cpu", "alloc-hot", "cpu-hot-function", "cpu-json",
		"cpu-logging", "cpu-regexp-compile", "cpu-regexp-match", "cpu-format", "cpu-crypto", "cpu-compress", "goroutine-churn",
		"gc-assist", "gc-limit-thrash", "gc-forced", "heap-large-live", "memory-pressure", "disk-sync",
		"http-client-churn", "db-pool-churn", "exec-per-request", "instrumentation-cost", "grows-with-state", "atomic-contention",
		"cpu-clock", "cpu-copy", "cpu-map", "cpu-reflect", "cpu-router", "cpu-sort", "cpu-syscall", "cpu-template-parse", "cpu-tls"},
}

var syscallCause = diagnose.Cause{
	ID:    "blocking-syscall",
	Title: "Requests wait in system calls",
	Doc: "Requests spend their time in a blocking system call or in C, each of them on a thread of its own; threads grow " +
		"with them.",
	Knows: "The trace shows requests in system calls other than the network's: reads of files and devices, locks of files, " +
		"children, cgo. They count from 20 % of the mean request, or half of the tail's extra time. Syncing and writing files " +
		"is disk-sync, writing logs cpu-logging.",
	Remedy: "Bound how many run at once, cache the result, or move the call off the request path.",
	Example: diagnose.Example{Lang: "go",
		Before: "syscall.Flock(fd, syscall.LOCK_EX) // every request, in the kernel's queue",
		After:  "n := <-numbers // one goroutine takes the lock once for a hundred numbers"},
	Verify: "Run again: requests must not be in state syscall at this place, and the number of threads must fall.",
	Cases:  []string{"badge-reader", "voucher-numbers"},
}

var execCause = diagnose.Cause{
	ID:    "exec-per-request",
	Title: "Requests start processes and wait for them",
	Doc: "A handler runs a command. Forking, loading and ending a process takes a millisecond of CPU and more before the " +
		"command has done anything, and each has memory of its own.",
	Knows: "The trace shows requests that wait for a process to start, to write or to end, the profile what starting it costs " +
		"the service, and the kernel what the processes used: it adds that to the service when it has waited for them, " +
		"however short they live. Together they must take 15 % of request time, or of the CPU that the load uses where CPUs are " +
		"used up. The command's own work is in there, so the gain is an upper bound.",
	Remedy: "Do the work within the service (a library), keep one process running and send it the requests, or keep its answers. " +
		"Where a process for each request is the purpose, bound how many run at a time.",
	Example: diagnose.Example{Lang: "go",
		Before: "out, err := exec.Command(\"git\", \"rev-parse\", ref).Output() // in each request",
		After:  "hash, err := repository.ResolveRevision(ref) // go-git, in the process"},
	Verify: "Run again: process.cpu.reaped must fall to nothing, and throughput rise.",
	Cases:  []string{"charter-seals"},
}

var leakCause = diagnose.Cause{
	ID:    "goroutine-leak",
	Title: "Blocked goroutines pile up",
	Doc: "Goroutines of one kind grow in number while the load is constant: each is blocked and nothing will end it. " +
		"Memory grows with them, and what they hold is never freed.",
	Knows: "Two goroutine profiles, from the beginning and the end of the steady span, are subtracted by stack. A kind counts " +
		"that grew by at least 100, and by a quarter of all goroutines at the end, while the runtime's count of goroutines rose in " +
		"all quarters of the span alike. Goroutines of connections do not count, nor does growth that goes with requests under way: " +
		"an overloaded open loop piles those up. Where the runtime finds goroutines that nothing can wake (the leak profile), " +
		"the kind is named with high confidence. Without two profiles it is not judged. Many goroutines that are parked from " +
		"the start do not grow.",
	Remedy: "End the goroutine with the request: give the channel a buffer of one, pass a context and select on its Done, " +
		"close what it ranges over.",
	Example: diagnose.Example{Lang: "go",
		Before: "answer := make(chan quote)\ngo func() { answer <- ask() }() // blocks for ever once no one reads",
		After:  "answer := make(chan quote, 1)\ngo func() { answer <- ask() }()"},
	Verify: "Run again for longer: /sched/goroutines must stay level after the warm-up.",
	Cases:  []string{"cart-watchers", "price-quotes-hedge", "score-subscribers"},
	Grows:  true,
}

var churnCause = diagnose.Cause{
	ID:    "goroutine-churn",
	Title: "Requests start many short goroutines",
	Doc:   "Each request creates many goroutines, and creating, scheduling and growing them costs CPU.",
	Knows: "The trace counts goroutines created per request, at least 8, and the CPU profile the cost of starting, growing " +
		"and ending them, at least 8 % of CPU; both must be passed. A fan-out of a handful costs below 3 %.",
	Remedy: "A bounded pool of workers, or larger pieces of work per goroutine.",
	Example: diagnose.Example{Lang: "go",
		Before: "for _, cell := range cells {\n\tgo price(cell)\n}",
		After:  "for part := range slices.Chunk(cells, len(cells)/runtime.GOMAXPROCS(0)+1) {\n\tgo priceAll(part)\n}"},
	Verify: "Run again: goroutines per request must fall, and throughput rise.",
	Cases:  []string{"matrix-quotes"},
}
