package remedy

import "maps"

// Fault is a setting in which everything is healthy but one thing. Its JSON
// form is what `gateway faults --json` prints.
type Fault struct {
	Name string            `json:"name"`
	Env  map[string]string `json:"env"` // every switch
	// Cause is what the top finding must name.
	Cause string `json:"cause"`
	// Also are causes that name the same fault from its other side.
	Also []string `json:"also,omitempty"`
	// Where is a substring of the finding's function or SQL.
	Where string `json:"where"`
	Load  Load   `json:"load"`
}

// Load is a closed loop under which the fault is the largest thing.
type Load struct {
	Connections int `json:"connections"`
}

// Faults returns the single-fault settings, at least one for each switch.
// Faults of the database are shown without the cache, which would hide them;
// faults of CPU and memory with it, because next to the database client's work
// they would be small, as they are in real services.
func Faults() []Fault {
	database := func(name, env, value, cause, where string, connections int) Fault {
		return fault(SoundUncached(), name, env, value, cause, where, connections)
	}
	processor := func(name, env, value, cause, where string, connections int) Fault {
		return fault(Sound(), name, env, value, cause, where, connections)
	}
	faults := []Fault{
		database("no-index", "GATEWAY_INDEX", "0", "db-slow-query", `"orders"`, 32),
		database("pool-default", "GATEWAY_POOL", "default", "db-pool-churn", "store", 64),
		database("pool-small", "GATEWAY_POOL", "2", "db-pool-wait", "store", 32),
		database("n-plus-one", "GATEWAY_BATCHED", "0", "db-n-plus-one", "order_", 16),
		database("unprepared", "GATEWAY_PREPARED", "0", "db-unprepared", "", 8),
		database("ledger-lock", "GATEWAY_LEDGER_LOCK", "1", "lock-contention", "ledger", 32),
		database("workers-small", "GATEWAY_WORKERS", "2", "concurrency-limit", "middleware", 32),
		processor("paced", "GATEWAY_PACE", "500", "sleep", "pace", 16),
		processor("audit-each", "GATEWAY_AUDIT_BATCH", "0", "channel-bottleneck", "audit", 32),
		processor("risk-serial", "GATEWAY_RISK", "1", "downstream-slow", "risk", 8),
		processor("json-reencoded", "GATEWAY_APPEND_JSON", "0", "cpu-json", "reply", 4),
		processor("log-sync", "GATEWAY_ASYNC_LOG", "0", "cpu-logging", "journal", 4),
		processor("regexp-per-request", "GATEWAY_REGEXP_ONCE", "0", "cpu-regexp-compile", "validate", 4),
		processor("buffers-fresh", "GATEWAY_POOLED", "0", "alloc-hot", "buffer", 4),
		processor("gc-eager", "GATEWAY_GC", "5", "gc-assist", "", 16),
	}
	also := map[string][]string{
		"audit-each": {"disk-sync"}, // what the channel's consumer waits for
		"gc-eager":   {"gc-cpu"},
	}
	for i := range faults {
		faults[i].Also = also[faults[i].Name]
	}
	return faults
}

func fault(base map[string]string, name, env, value, cause, where string, connections int) Fault {
	v := maps.Clone(base)
	v[env] = value
	return Fault{Name: name, Env: v, Cause: cause, Where: where, Load: Load{Connections: connections}}
}
