package experiment

import "github.com/redline-go/redline/experiment/servers"

// more are the servers of an experiment on databases besides PostgreSQL, by ID.
var more = map[string][]string{
	"D-tx-scope.split": {servers.Replica},
	"A-xa":             {servers.Redis},
}

// storage are the experiments on databases.
var storage = in("storage", []Experiment{
	{ID: "A-db-pool", Title: "a pool that keeps 50 connections against the default's two",
		Baseline: "database/sql as it comes, bursts of 32 callers", Tuned: "200 open, 50 idle, 30 minutes of life, the same",
		Benchmark: "KeptConnections", Metric: "sec/op", Same: "each caller compares what it reads",
		Expect: "much better: the default closes the connections that a burst opened, and the next burst dials and logs in again",
		Safety: "200 is more than most servers can run at once, and ten services with 200 each make 2,000."},
	sizeOf("1", "PoolOf1", "better if the database has more than one core"),
	sizeOf("2", "PoolOf2", "little on two cores, which the callers share"),
	sizeOf("4", "PoolOf4", "no gain: four connections keep two cores busy"),
	sizeOf("8", "PoolOf8", "no gain, or worse: on the plateau, each further connection only adds a process"),
	sizeOf("16", "PoolOf16", "no gain, or worse"),
	{ID: "A-pgx-reuse", Title: "a connection from a pool against one per call",
		Baseline: "connect, log in, one query, close", Tuned: "pgxpool, one query",
		Benchmark: "Reuse", Metric: "sec/op", Same: "each answer is compared",
		Expect: "much better: a server process and a SCRAM login cost milliseconds, the query a tenth of one",
		Safety: "The ratio does not show leaks: a pool whose connections are never returned stalls with its ratio " +
			"unchanged (TestReuseShowsTrouble). It shows connections with too short a lifetime."},
	{ID: "A-pgx-reuse.prepared", Title: "a prepared join against its text with the value in it",
		Baseline: "simple protocol: parsed and planned at each call", Tuned: "prepared once per connection",
		Benchmark: "Prepared", Metric: "sec/op", Same: "each answer is compared",
		Expect: "better: parsing and planning cost more than reading three rows",
		Safety: "Prepared statements belong to a server connection: a pooler in transaction mode must support them " +
			"(PgBouncer 1.21 and later)."},
	{ID: "A-xa", Title: "two-phase commit over two databases and Redis against one transaction and Redis",
		Baseline: "a transaction in one database, then Redis", Tuned: "PREPARE TRANSACTION on two databases, then Redis",
		Benchmark: "TwoPhase", Metric: "sec/op",
		Same:   "after a crash at each step and recovery, a transfer is whole or not there",
		Expect: "reversed: four commits wait for the disk instead of one; it buys atomicity, not speed",
		Safety: "Redis cannot prepare: its write comes after the decision and may be repeated. A prepared transaction that " +
			"is never finished keeps its locks and holds back VACUUM."},
	{ID: "D-tx-scope", Title: "one transaction per order against a commit per statement", Factor: 1.38,
		Baseline: "six statements, each commits", Tuned: "the six in one transaction",
		Benchmark: "Transaction", Metric: "sec/op",
		Same:   "equal rows; a failure in the middle leaves none of the transaction's",
		Expect: "more than claimed if commits wait for a disk: one wait instead of six",
		Safety: "A transaction holds its locks until it ends: do not call another service in it."},
	{ID: "D-tx-scope.split", Title: "reads on a replica against all on the primary",
		Baseline:  "eight callers write one row and read nine, on the primary",
		Tuned:     "reads on a streaming replica, those of own writes where it has them",
		Benchmark: "Replica", Metric: "sec/op", Same: "each read is compared; reads of own writes are never stale",
		Expect: "no gain with both servers on one machine: they share its cores and its disk",
		Safety: "A replica lags: a read that does not wait for the position of its write returns older data (TestReplicaLags)."},
	ofBatch("batches", "Batches", "CreateInBatches(1000)", 8.2/0.37, "better: a statement and a commit per thousand rows"),
	ofBatch("raw", "RawRows", "one INSERT of raw SQL per 1,000 rows", 8.2/0.37, "better, and close to CreateInBatches: both have 6,000 parameters parsed per statement"),
	ofBatch("unnest", "Unnest", "one INSERT from unnest, a parameter per column", 0, "better than both: a short statement, and binary columns"),
	ofBatch("copy", "Copy", "COPY", 0, "best: no statement to parse, and rows are streamed"),
	{ID: "D-pool-knee", Title: "a pool by Little's law against one by rate x (time + 50 ms)",
		Baseline:  "the report's formula with the measured rate and service time, at most 128",
		Tuned:     "rate x service time, and twice its root, likewise measured",
		Benchmark: "PoolFormula", Metric: "sec/op", Same: "each caller compares what it reads",
		Expect: "no worse with a handful of connections instead of 128: no such query takes 50 ms",
		Safety: "Little's law needs the service time without queueing: measured under load it includes the wait, and " +
			"the computed size grows with that."},
})

// sizeOf is a step of the sweep over the pool's size. The plateau begins at the smallest size over which
// a connection for each caller gains nothing.
func sizeOf(size, benchmark, expect string) Experiment {
	return Experiment{ID: "A-db-pool." + size, Title: "a connection for each of 64 callers against a pool of " + size,
		Baseline: size + " kept for all, of 64 callers", Tuned: "64 kept, as the claimed 200 would",
		Benchmark: benchmark, Metric: "sec/op", Same: "each caller compares what it reads", Expect: expect,
		Safety: "With too small a pool, one slow statement makes all wait: count the time that a connection is held, " +
			"not only the query's."}
}

// ofBatch is a way to insert many rows.
func ofBatch(id, benchmark, way string, claimed float64, expect string) Experiment {
	return Experiment{ID: "D-batch." + id, Title: way + " against a GORM Create per row, per row", Factor: claimed,
		Baseline: "GORM's Create for each of up to 10,000 rows", Tuned: way,
		Benchmark: benchmark, Metric: "sec/op", Same: "equal rows in the table", Expect: expect,
		Safety: "A failed statement loses its whole batch; row by row, earlier rows stay."}
}
