package record

// The catalogue of series that more than one package relies on. A counter is
// stored as the amount in its window, a gauge as its value at the window's end.
// Series of runtime/metrics keep the runtime's own names (a cumulative metric
// is stored as a counter; a histogram metric as a counter of events plus the
// gauges of labels q=p50, q=p99 and q=max over the window's own events).
const (
	// Load, as the generator sees it. Latency counts from the intended time.
	LoadRequests    = "load.requests"    // counter, 1: requests that ended in the window
	LoadErrors      = "load.errors"      // counter, 1: of these, the failed ones; label kind
	LoadSent        = "load.sent"        // counter, 1: requests sent in the window
	LoadInFlight    = "load.in_flight"   // gauge, 1: requests sent and not ended
	LoadQueued      = "load.queued"      // gauge, 1: requests due and not sent (open loop)
	LoadConnections = "load.connections" // gauge, 1: established connections
	LoadDials       = "load.dials"       // counter, 1: connections opened in the window
	LoadLatency     = "load.latency"     // gauge, ns; label q=p50|p90|p99|max
	LoadService     = "load.service"     // gauge, ns; label q
	LoadLag         = "load.lag"         // gauge, ns; label q; sent minus intended
	LoadBytesIn     = "load.bytes_in"    // counter, bytes
	LoadBytesOut    = "load.bytes_out"   // counter, bytes
	GeneratorCPU    = "generator.cpu"    // counter, ns of CPU of the generator's process
	GeneratorDelay  = "generator.delay"  // counter, ns its threads stood in a kernel run queue

	// The target's process.
	ProcessUser        = "process.cpu.user"         // counter, ns
	ProcessSystem      = "process.cpu.system"       // counter, ns
	ProcessRunDelay    = "process.run_delay"        // counter, ns threads stood in a kernel run queue
	ProcessRSS         = "process.rss"              // gauge, bytes
	ProcessThreads     = "process.threads"          // gauge, 1
	ProcessFDs         = "process.fds"              // gauge, 1 open descriptors
	ProcessFDLimit     = "process.fd_limit"         // gauge, 1 soft RLIMIT_NOFILE
	ProcessMajorFaults = "process.faults.major"     // counter, 1
	ProcessMinorFaults = "process.faults.minor"     // counter, 1
	ProcessVoluntary   = "process.switch.voluntary" // counter, 1 context switches
	ProcessInvoluntary = "process.switch.involuntary"
	ProcessReadBytes   = "process.io.read"  // counter, bytes from storage
	ProcessWriteBytes  = "process.io.write" // counter, bytes to storage

	// The target's container and the host.
	CgroupThrottled   = "cgroup.cpu.throttled"    // counter, ns
	CgroupThrottles   = "cgroup.cpu.nr_throttled" // counter, 1 periods
	CgroupQuota       = "cgroup.cpu.quota"        // gauge, 1 CPUs allowed; absent when unlimited
	CgroupMemory      = "cgroup.memory"           // gauge, bytes
	CgroupMemoryLimit = "cgroup.memory.limit"     // gauge, bytes; absent when unlimited
	PressureCPU       = "pressure.cpu.some"       // counter, ns of stall (PSI)
	PressureMemory    = "pressure.memory.some"    // counter, ns
	PressureIO        = "pressure.io.some"        // counter, ns
	HostBusy          = "host.cpu.busy"           // counter, ns over all CPUs, all but idle, iowait and steal
	HostSteal         = "host.cpu.steal"          // counter, ns
	HostCPUs          = "host.cpus"               // gauge, 1 CPUs online

	// The database. Statement series carry the label queryid.
	StatementCalls = "postgres.statement.calls" // counter, 1
	StatementTime  = "postgres.statement.time"  // counter, ns of execution
	StatementRows  = "postgres.statement.rows"  // counter, 1
	StatementPlan  = "postgres.statement.plan"  // counter, ns of planning; absent unless track_planning
	StatementReads = "postgres.statement.read"  // counter, 1 shared blocks read from outside the buffer cache
	StatementHits  = "postgres.statement.hit"   // counter, 1 shared blocks found in it
	DBSessions     = "postgres.sessions"        // counter, 1 sessions opened in the database
	DBCommits      = "postgres.commits"         // counter, 1 transactions committed
	DBRollbacks    = "postgres.rollbacks"       // counter, 1
	DBBackends     = "postgres.backends"        // gauge, 1 client backends of the target; label state
	DBWaits        = "postgres.waits"           // gauge, 1 active backends that wait; label event ("Lock:tuple")
	DBBlocked      = "postgres.blocked"         // gauge, 1 backends that wait for another backend
	DBBlockers     = "postgres.blockers"        // gauge, 1 sessions that hold a lock others wait for; label state
	DBCPU          = "postgres.cpu"             // counter, ns of CPU of the server's processes, when local
	DBMax          = "postgres.max_connections" // gauge, 1

	// The target's database/sql pools, where its probe can see them.
	PoolInUse = "pool.in_use"   // gauge, 1
	PoolMax   = "pool.max_open" // gauge, 1; 0 means unlimited
)
