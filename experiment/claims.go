package experiment

import "slices"

// Claim is what one of five field reports on the tuning of Go services says.
type Claim struct {
	ID      string // the report's letter and a word
	Text    string // what is claimed
	Claimed string // the report's figure, "" where it gives none
	// Elsewhere is the verb that settles the claim, where no experiment of the lab does.
	Elsewhere string
}

// Claims returns the claims in the order of their reports.
func Claims() []Claim { return slices.Clone(claims) }

// claims are those of five reports, by the letter that their IDs begin with:
//
//	A  a payment gateway, tuned in seven steps
//	B  a service tuned by benchmarks
//	C  the limits of one server under concurrency
//	D  a stack of Gin, GORM and PostgreSQL
//	E  a baseline of microservices in four dimensions
var claims = []Claim{
	{ID: "A-http-server", Text: "limits on the HTTP server; keep-alive off", Claimed: "+1,800 requests/s"},
	{ID: "A-json-codegen", Text: "JSON by generated code instead of reflection", Claimed: "+3,200 requests/s"},
	{ID: "A-db-pool", Text: "a larger database pool whose connections are kept", Claimed: "+4,500 requests/s"},
	{ID: "A-semaphore", Text: "a semaphore of 100 in the handler", Claimed: "+3,100 requests/s"},
	{ID: "A-ladder", Text: "all steps on the order gateway", Claimed: "15.75x the rate; p95 320 to 18 ms", Elsewhere: "redline lab ladder order (docs/lab.md)"},
	{ID: "A-affinity", Text: "the service pinned to the cores of one node", Claimed: "less jitter"},
	{ID: "A-somaxconn", Text: "an accept backlog of 65535", Claimed: "no overflow in bursts"},
	{ID: "A-gomaxprocs", Text: "GOMAXPROCS at 1.5 times the cores for I/O", Claimed: "more throughput"},
	{ID: "A-gogc", Text: "GOGC=50 for low latency", Claimed: "shorter pauses"},
	{ID: "A-largepages", Text: "large pages for the heap", Claimed: "fewer TLB misses"},
	{ID: "A-fasthttp", Text: "fasthttp instead of net/http", Claimed: "2.57x; p99 18.7 to 5.2 ms"},
	{ID: "A-connpool", Text: "connections from a pool instead of dialled", Claimed: "124 to 18 ns (6.89x)"},
	{ID: "A-escape", Text: "objects that stay off the heap", Claimed: "no allocation"},
	{ID: "A-align", Text: "load, latency and allocation on one clock in 100 ms windows", Claimed: "within 0.3 ms", Elsewhere: "redline run (docs/alignment.md)"},
	{ID: "A-block-sites", Text: "blocking and lock sites named from profiles", Elsewhere: "redline diagnose (docs/causes.md)"},
	{ID: "A-gc-bimodal", Text: "two peaks of pauses betray long-lived intermediates", Claimed: "2 and 180 ms"},
	{ID: "A-pgx-reuse", Text: "a reuse of connections below 0.85 means leaks or overload", Claimed: "a ratio"},
	{ID: "A-wire", Text: "MessagePack with zstd instead of JSON", Claimed: "3.2 to 0.02 allocations"},
	{ID: "A-ring", Text: "a ring buffer instead of a channel", Claimed: "below 200 to 800 ns"},
	{ID: "A-false-sharing", Text: "hot counters padded to a cache line each", Claimed: "less jitter"},
	{ID: "A-middleware", Text: "middleware only on the routes that need it", Claimed: "less I/O"},
	{ID: "A-gateway-final", Text: "the gateway under mixed traffic, before and after", Claimed: "6,820 to 13,540 transactions/s; p99 1,842 to 86 ms", Elsewhere: "redline lab ladder order (docs/lab.md)"},
	{ID: "A-canary", Text: "a release in three stages that stops by itself", Claimed: "p95 above 120 ms three times"},
	{ID: "A-elastic-workers", Text: "workers that grow with CPU and queue", Claimed: "holds 14,200 transactions/s"},
	{ID: "A-degrade", Text: "a breaker, then a local cache with a Bloom filter", Claimed: "99.995 % available"},
	{ID: "A-xa", Text: "two-phase commit over two databases and Redis", Claimed: "23 ms"},
	{ID: "A-risk-feedback", Text: "slow rules lose weight by themselves", Claimed: "37 incidents fewer"},
	{ID: "B-jsoniter", Text: "a faster JSON package", Claimed: "1,920 to 5,400 requests/s (2.81x)"},
	{ID: "B-bench-traps", Text: "benchmarks mislead without warm-up, by dead code and set-up", Elsewhere: "redline bench (docs/bench.md)"},
	{ID: "B-objpool", Text: "buffers from a pool instead of new ones", Claimed: "12,400 to 18,900 requests/s (1.52x)"},
	{ID: "B-inline", Text: "inlining removes the cost of calls"},
	{ID: "B-structures", Text: "a map for points, an order for ranges", Claimed: "O(1) against O(log n)"},
	{ID: "B-encode", Text: "short field names; gzip", Claimed: "70 % and 85 % fewer bytes"},
	{ID: "B-batch-flush", Text: "writes in groups", Claimed: "12,400 to 26,800 writes/s (2.16x)"},
	{ID: "B-gate", Text: "a load test in CI that fails on a regression of 5 %", Elsewhere: "redline gate (docs/verify.md)"},
	{ID: "B-forecast", Text: "capacity forecast from 90 days", Claimed: "two weeks ahead", Elsewhere: "redline forecast (docs/forecast.md)"},
	{ID: "B-chaos", Text: "a fault drill each week"},
	{ID: "B-debt", Text: "a score of performance debt", Elsewhere: "redline lint"},
	{ID: "C-limits", Text: "how many connections one host holds", Claimed: "35,000 idle, 12,000 with JSON, 5,000 with a database", Elsewhere: "redline doctor --ceilings (docs/capacity.md)"},
	{ID: "C-goroutine-cost", Text: "workers instead of a goroutine per task", Claimed: "42,000 to 117,000 tasks/s (2.79x)"},
	{ID: "C-numa", Text: "affinity to one node", Claimed: "124,800 to 179,300 requests/s"},
	{ID: "C-fast-clock", Text: "a clock that is kept, and a fast random", Claimed: "32.7 to 1.2 ns (27.3x); 18.5 to 0.9 ns (20.6x)"},
	{ID: "C-inline-flag", Text: "a compiler flag for more inlining", Claimed: "+12.3 %"},
	{ID: "C-assist-knee", Text: "assist jumps below GOGC 75 with 1.2 million objects", Claimed: "p99 0.8, 3.2, 11.7 ms"},
	{ID: "C-gogc-loop", Text: "GOGC by a control loop", Claimed: "holds its target"},
	{ID: "C-leak", Text: "a leak found from the heap's growth", Elsewhere: "redline run (docs/causes/heap-leak.md)"},
	{ID: "C-syncpool-span", Text: "buffers of 512 B from a pool", Claimed: "12,480 to 86 allocations (145x)"},
	{ID: "C-timeouts", Text: "server timeouts by the load", Claimed: "5, 8 and 30 s"},
	{ID: "C-iouring", Text: "io_uring instead of epoll for an echo", Claimed: "+35 %; p99 124 to 78 µs"},
	{ID: "C-h2", Text: "HTTP/2 instead of keep-alive", Claimed: "11,842 to 1,024 connections"},
	{ID: "C-grpc-pool", Text: "a pool of gRPC connections", Claimed: "92.7 % reuse"},
	{ID: "C-million", Text: "a million connections on one host"},
	{ID: "D-router", Text: "a tree of 10,000 routes instead of a scan", Claimed: "84.2 to 3.7 µs (22.8x)"},
	{ID: "D-middleware", Text: "seven middlewares trimmed, some asynchronous", Claimed: "-17 % latency"},
	{ID: "D-http2", Text: "HTTP/2 with 128 streams", Claimed: "9,100 to 21,400 requests/s"},
	{ID: "D-unsafe-json", Text: "JSON into a buffer that is kept", Claimed: "fewer allocations"},
	{ID: "D-gorm-tags", Text: "struct tags parsed once", Claimed: "842 to 573 ns (1.47x)"},
	{ID: "D-tx-scope", Text: "a transaction per unit of business; reads elsewhere", Claimed: "+38 %"},
	{ID: "D-batch", Text: "10,000 rows in batches", Claimed: "8.2 to 0.37 s (22x)"},
	{ID: "D-pool-knee", Text: "a formula for the pool's size", Claimed: "a knee"},
	{ID: "D-gomaxprocs-gogc", Text: "GOMAXPROCS and GOGC together, 16,000 connections", Claimed: "18,200, 24,700 and 20,100 requests/s"},
	{ID: "D-joint", Text: "traces, profiles and statements joined", Elsewhere: "redline run (docs/how-it-measures.md)"},
	{ID: "D-ladder", Text: "the whole stack, tuned", Claimed: "4.1x; p99 below 42 ms", Elsewhere: "redline lab ladder stack (docs/lab.md)"},
	{ID: "E-baseline", Text: "a baseline of a host in four dimensions", Claimed: "Fibonacci(40) in 287 ms", Elsewhere: "redline baseline (docs/baseline.md)"},
	{ID: "E-container", Text: "settings by the container's limits", Claimed: "40 % fewer collections"},
	{ID: "E-ebpf", Text: "the kernel's path per packet, checked by its counters", Claimed: "within 0.8 %", Elsewhere: "redline run (kernel.calibration in docs/observing.md)"},
	{ID: "E-goroutine-leak", Text: "50 more goroutines three times over mean a leak", Elsewhere: "redline run (docs/causes/goroutine-leak.md)"},
	{ID: "E-reuseport", Text: "several listeners by SO_REUSEPORT", Claimed: "42.6 to 18.3 ms"},
	{ID: "E-atomic", Text: "an atomic counter instead of a mutex", Claimed: "p99 124 to 42 µs (2.95x)"},
	{ID: "E-conn-reuse", Text: "a pool of HTTP/1.1 against gRPC's keep-alive"},
	{ID: "E-struct-layout", Text: "struct fields by size", Claimed: "24 to 16 bytes (1.5x)"},
	{ID: "E-zero-copy", Text: "a view instead of copies", Claimed: "120 to 480 MB/s (4x)"},
	{ID: "E-ctx-prune", Text: "flat chains of contexts", Claimed: "p99 12.7 to 2.1 ms (6.05x)"},
	{ID: "E-cardinality", Text: "fewer series on the metrics page", Claimed: "1.2 to 0.38 s"},
}
