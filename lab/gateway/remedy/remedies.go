package remedy

// Remedy is one step of the ladder: a switch, and the findings that call for
// it. Its JSON form is what `gateway remedies --json` prints.
type Remedy struct {
	Name  string `json:"name"`
	Env   string `json:"env"`
	On    string `json:"on"`
	Title string `json:"title"`
	// Cures are the causes that call for it (docs/causes.md).
	Cures []string `json:"cures"`
	// Match are substrings of a finding's function, SQL or detail that distinguish it
	// from other remedies of the same cause, any of which is enough; none
	// means that the cause is enough.
	Match []string `json:"match,omitempty"`
	// Last marks a remedy that is taken only when no other is called for: it
	// would hide what the others cure.
	Last bool `json:"last,omitempty"`
}

// Remedies returns the steps in the order in which equal claims are settled.
func Remedies() []Remedy {
	return []Remedy{
		{Name: "index", Env: "GATEWAY_INDEX", On: "1", Title: "add an index on orders(user_id, created_at)",
			Cures: []string{"db-slow-query", "db-saturated"}, Match: []string{`"orders"`, "FROM orders"}},
		{Name: "pool", Env: "GATEWAY_POOL", On: "64", Title: "size the pool, and keep as many idle connections as may be open",
			Cures: []string{"db-pool-churn", "db-pool-wait"}},
		{Name: "write-batch", Env: "GATEWAY_WRITE_BATCH", On: "1", Title: "insert items and events of an order in one statement each",
			Cures: []string{"db-n-plus-one", "db-slow-query", "db-saturated"},
			Match: []string{`INSERT INTO "order_items"`, `INSERT INTO "order_events"`}},
		{Name: "batched", Env: "GATEWAY_BATCHED", On: "1", Title: "load items and events of an order in one query each",
			Cures: []string{"db-n-plus-one", "db-slow-query", "db-saturated"}, Match: []string{"order_items", "order_events"}},
		{Name: "prepared", Env: "GATEWAY_PREPARED", On: "1", Title: "prepare each statement once per connection",
			Cures: []string{"db-unprepared", "db-saturated"}},
		{Name: "audit-batch", Env: "GATEWAY_AUDIT_BATCH", On: "1", Title: "write the audit trail in groups behind a deeper queue",
			Cures: []string{"channel-bottleneck", "disk-sync"}, Match: []string{"audit"}},
		{Name: "async-log", Env: "GATEWAY_ASYNC_LOG", On: "1",
			Title: "log one line per request from a bounded queue that counts what it drops",
			Cures: []string{"cpu-logging", "disk-sync", "blocking-syscall", "lock-contention", "cpu-syscall",
				"cpu-format"}, Match: []string{"journal", "log"}},
		{Name: "append-json", Env: "GATEWAY_APPEND_JSON", On: "1",
			Title: "encode replies by appending to a buffer instead of through reflection and a map",
			Cures: []string{"cpu-json", "cpu-reflect"}},
		{Name: "regexp-once", Env: "GATEWAY_REGEXP_ONCE", On: "1", Title: "compile the validation patterns once",
			Cures: []string{"cpu-regexp-compile"}},
		{Name: "trimmed", Env: "GATEWAY_TRIMMED", On: "1", Title: "run only the middleware that a route needs",
			Cures: []string{"cpu-router", "cpu-format", "cpu-crypto", "cpu-clock", "lock-contention"}, Match: []string{"middleware"}},
		{Name: "sharded", Env: "GATEWAY_SHARDED", On: "1", Title: "shard the rate-limit table",
			Cures: []string{"lock-contention"}, Match: []string{"ratelimit"}},
		{Name: "pooled", Env: "GATEWAY_POOLED", On: "1", Title: "reuse buffers instead of allocating them per request",
			Cures: []string{"alloc-hot", "gc-assist", "gc-cpu"}, Match: []string{"buffer"}},
		{Name: "gc", Env: "GATEWAY_GC", On: "400/512MiB", Title: "raise the GC target under a memory limit",
			Cures: []string{"gc-assist", "gc-cpu"}},
		{Name: "workers", Env: "GATEWAY_WORKERS", On: "none", Title: "let the server handle as many requests as connect",
			Cures: []string{"concurrency-limit"}},
		{Name: "unlocked-reads", Env: "GATEWAY_LEDGER_LOCK", On: "0",
			Title: "read without the process-wide lock; the database's own isolation is enough",
			Cures: []string{"lock-contention"}, Match: []string{"ledger"}},
		{Name: "unpaced", Env: "GATEWAY_PACE", On: "none", Title: "drop the pacing of reads",
			Cures: []string{"sleep"}, Match: []string{"pace"}},
		{Name: "risk-off", Env: "GATEWAY_RISK", On: "0", Title: "score risk when an order is written, not each time it is read",
			Cures: []string{"downstream-slow"}},
		{Name: "cache", Env: "GATEWAY_CACHE", On: "1", Title: "keep orders in the process, dropped when they are written", Last: true,
			Cures: []string{"cpu-saturated", "db-saturated", "db-slow-query", "cpu-hot-function", "sched-latency"}},
	}
}
