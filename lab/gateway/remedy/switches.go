package remedy

import (
	"fmt"
	"slices"
)

// Switch is one setting as people and programs turn it.
type Switch struct {
	Name  string // flag --name
	Env   string // environment variable
	Doc   string // one line
	Naive string // the value as such services are found
	Sound string // the remedied value

	parse func(*Settings) func(string) error
}

// Switches returns all of them, in the order of help.
func Switches() []Switch {
	type S = Settings
	flag := func(name, env, doc string, field func(*S) *bool) Switch {
		return Switch{name, env, doc, "0", "1", func(s *S) func(string) error { return parseBool(field(s)) }}
	}
	return []Switch{
		flag("index", "GATEWAY_INDEX", "index orders by user and time", func(s *S) *bool { return &s.Index }),
		{"pool", "GATEWAY_POOL", "connections kept: a number, or default (2 idle, unlimited open)", "default", "64",
			func(s *S) func(string) error { return parseCount(&s.Pool, "default") }},
		flag("prepared", "GATEWAY_PREPARED", "prepare statements once per connection", func(s *S) *bool { return &s.Prepared }),
		flag("batched", "GATEWAY_BATCHED", "load items and events in one query each", func(s *S) *bool { return &s.Batched }),
		flag("write-batch", "GATEWAY_WRITE_BATCH", "insert an order's items and events in one statement each", func(s *S) *bool { return &s.BatchedWrites }),
		flag("append-json", "GATEWAY_APPEND_JSON", "encode replies without reflection", func(s *S) *bool { return &s.AppendJSON }),
		flag("async-log", "GATEWAY_ASYNC_LOG", "one log line per request, written from a queue", func(s *S) *bool { return &s.AsyncLog }),
		flag("regexp-once", "GATEWAY_REGEXP_ONCE", "compile patterns at start", func(s *S) *bool { return &s.RegexpOnce }),
		flag("trimmed", "GATEWAY_TRIMMED", "run only the middleware that a route needs", func(s *S) *bool { return &s.TrimmedChain }),
		flag("sharded", "GATEWAY_SHARDED", "shard the rate-limit table", func(s *S) *bool { return &s.ShardedTable }),
		flag("audit-batch", "GATEWAY_AUDIT_BATCH", "write the audit trail in groups", func(s *S) *bool { return &s.BatchedAudit }),
		flag("pooled", "GATEWAY_POOLED", "reuse buffers", func(s *S) *bool { return &s.PooledBuffers }),
		{"gc", "GATEWAY_GC", "garbage collector: default, PERCENT or PERCENT/LIMITMiB", "default", "400/512MiB",
			func(s *S) func(string) error { return parseGC(&s.GC) }},
		{"workers", "GATEWAY_WORKERS", "requests handled at once: a number, or none for no limit", "100", "none",
			func(s *S) func(string) error { return parseCount(&s.Workers, "none") }},
		{"ledger-lock", "GATEWAY_LEDGER_LOCK", "hold one lock of the process across every read", "0", "0",
			func(s *S) func(string) error { return parseNot(&s.UnlockedReads) }},
		{"pace", "GATEWAY_PACE", "reads let through per second, or none", "none", "none",
			func(s *S) func(string) error { return parseRate(&s.Pace) }},
		{"risk", "GATEWAY_RISK", "ask the risk service before every read", "0", "0",
			func(s *S) func(string) error { return parseBool(&s.Risk) }},
		flag("cache", "GATEWAY_CACHE", "keep orders in the process until they are written", func(s *S) *bool { return &s.Cache }),
	}
}

// Parse applies values by environment variable to the naive settings. Unknown
// names are ignored: the environment is shared.
func Parse(lookup func(env string) (string, bool)) (Settings, error) {
	var s Settings
	for _, w := range Switches() {
		value, ok := lookup(w.Env)
		if !ok || value == "" {
			value = w.Naive
		}
		if err := w.parse(&s)(value); err != nil {
			return Settings{}, fmt.Errorf("%s=%q: %w", w.Env, value, err)
		}
	}
	return s, nil
}

// Naive is the service as such services are found.
func Naive() map[string]string {
	return values(func(w Switch) string { return w.Naive })
}

// Sound is the service with every remedy, the cache included.
func Sound() map[string]string {
	return values(func(w Switch) string { return w.Sound })
}

// SoundUncached is the healthy service whose reads reach the database.
func SoundUncached() map[string]string {
	v := Sound()
	v["GATEWAY_CACHE"] = "0"
	return v
}

func values(of func(Switch) string) map[string]string {
	v := map[string]string{}
	for _, w := range Switches() {
		v[w.Env] = of(w)
	}
	return v
}

func known(env string) bool {
	return slices.ContainsFunc(Switches(), func(w Switch) bool { return w.Env == env })
}
