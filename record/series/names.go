package series

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
	ProcessReaped      = "process.cpu.reaped"       // counter, ns of children too short-lived to be seen, in steps of 10 ms
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

	// Hardware counters of the target's threads.
	PerfCycles          = "perf.cycles"           // counter, 1
	PerfInstructions    = "perf.instructions"     // counter, 1 retired
	PerfCacheReferences = "perf.cache_references" // counter, 1 accesses to the last level of cache
	PerfCacheMisses     = "perf.cache_misses"     // counter, 1 of these, misses
	PerfBranches        = "perf.branches"         // counter, 1 retired
	PerfBranchMisses    = "perf.branch_misses"    // counter, 1 mispredicted

	// The target's container and the host.
	CgroupThrottled   = "cgroup.cpu.throttled"    // counter, ns
	CgroupThrottles   = "cgroup.cpu.nr_throttled" // counter, 1 periods
	CgroupQuota       = "cgroup.cpu.quota"        // gauge, 1 CPUs allowed; absent when unlimited
	CgroupPeriods     = "cgroup.cpu.nr_periods"   // counter, 1 periods of the quota in which the group wanted to run
	CgroupMemory      = "cgroup.memory"           // gauge, bytes
	CgroupMemoryLimit = "cgroup.memory.limit"     // gauge, bytes; absent when unlimited
	CgroupMemoryHigh  = "cgroup.memory.high"      // gauge, bytes above which the group is slowed down; absent when unlimited
	// CgroupMemoryInactive is the memory that the kernel reclaims before it kills.
	CgroupMemoryInactive = "cgroup.memory.inactive_file"   // gauge, bytes of page cache that was not used of late
	CgroupMemoryHighs    = "cgroup.memory.events.high"     // counter, 1 times the group was slowed down above memory.high
	CgroupMemoryMaxes    = "cgroup.memory.events.max"      // counter, 1 times memory was about to pass the limit
	CgroupOOMs           = "cgroup.memory.events.oom"      // counter, 1 allocations about to fail at the limit
	CgroupOOMKills       = "cgroup.memory.events.oom_kill" // counter, 1 processes of the group ended for want of memory

	// Time stalled (PSI): some tasks of the target's group waited, or all that
	// could have run did. Of the host where the group keeps none of its own.
	PressureCPU        = "pressure.cpu.some"    // counter, ns
	PressureCPUFull    = "pressure.cpu.full"    // counter, ns; absent for the host
	PressureMemory     = "pressure.memory.some" // counter, ns
	PressureMemoryFull = "pressure.memory.full" // counter, ns
	PressureIO         = "pressure.io.some"     // counter, ns
	PressureIOFull     = "pressure.io.full"     // counter, ns

	HostPressureCPU        = "host.pressure.cpu.some"    // counter, ns
	HostPressureMemory     = "host.pressure.memory.some" // counter, ns
	HostPressureMemoryFull = "host.pressure.memory.full" // counter, ns
	HostPressureIO         = "host.pressure.io.some"     // counter, ns
	HostPressureIOFull     = "host.pressure.io.full"     // counter, ns

	HostBusy  = "host.cpu.busy"  // counter, ns over all CPUs, all but idle, iowait and steal
	HostSteal = "host.cpu.steal" // counter, ns
	HostCPUs  = "host.cpus"      // gauge, 1 CPUs online

	// The database. Statement series carry the label queryid.
	StatementCalls = "postgres.statement.calls" // counter, 1
	StatementTime  = "postgres.statement.time"  // counter, ns of execution
	StatementRows  = "postgres.statement.rows"  // counter, 1
	StatementPlan  = "postgres.statement.plan"  // counter, ns of planning; absent unless track_planning
	StatementReads = "postgres.statement.read"  // counter, 1 shared blocks read from outside the buffer cache
	StatementHits  = "postgres.statement.hit"   // counter, 1 shared blocks found in it
	// Blocks are 8 kB unless the server was built otherwise.
	StatementDirtied = "postgres.statement.dirtied" // counter, 1 shared blocks dirtied
	StatementTemp    = "postgres.statement.temp"    // counter, 1 temporary blocks read and written: sorts and hashes beyond work_mem
	StatementWAL     = "postgres.statement.wal"     // counter, bytes of write-ahead log; from version 13
	DBSessions       = "postgres.sessions"          // counter, 1 sessions opened in the database
	DBCommits        = "postgres.commits"           // counter, 1 transactions committed
	DBRollbacks      = "postgres.rollbacks"         // counter, 1
	DBBackends       = "postgres.backends"          // gauge, 1 client backends of the target; label state
	DBWaits          = "postgres.waits"             // gauge, 1 active backends that wait; label event ("Lock:tuple")
	DBBlocked        = "postgres.blocked"           // gauge, 1 backends that wait for another backend
	DBBlockers       = "postgres.blockers"          // gauge, 1 sessions that hold a lock others wait for; label state
	DBCPU            = "postgres.cpu"               // counter, ns of CPU of the server's processes, when local
	DBMax            = "postgres.max_connections"   // gauge, 1
	DBDeadlocks      = "postgres.deadlocks"         // counter, 1
	DBTempFiles      = "postgres.temp.files"        // counter, 1 files that queries spilled to
	DBTempBytes      = "postgres.temp.bytes"        // counter, bytes written to them
	DBReads          = "postgres.blocks.read"       // counter, 1 blocks of the database read from outside the buffer cache
	DBHits           = "postgres.blocks.hit"        // counter, 1 blocks found in it
	DBOldest         = "postgres.transaction.age"   // gauge, ns since the oldest open transaction of the target began; 0 without one

	// The connections of the target as the server sees them, by the name that
	// they gave (label application, "other" beyond a bound).
	DBConnections   = "postgres.connections"        // gauge, 1; labels application, state
	DBConnectsSeen  = "postgres.connections.opened" // counter, 1 new ones met; those that come and go between two readings are not
	DBConnectionAge = "postgres.connections.age"    // gauge, ns median age

	// The whole server, read once a second.
	DBWAL            = "postgres.wal"             // counter, bytes of write-ahead log
	DBCheckpoints    = "postgres.checkpoints"     // counter, 1; label kind=timed|requested
	DBCheckpointTime = "postgres.checkpoint.time" // counter, ns; label phase=write|sync
	DBBuffersWritten = "postgres.buffers.written" // counter, 1 blocks; label by=checkpointer|bgwriter|backend
	DBIO             = "postgres.io.operations"   // counter, 1 of relations; labels by (kind of process), op; from version 16
	DBIOTime         = "postgres.io.time"         // counter, ns; likewise; absent unless track_io_timing

	// The target's connection pools, where it shows them to the probe; label
	// pool. Gauges without a label are the sum over all pools.
	PoolInUse    = "pool.in_use"    // gauge, 1
	PoolIdle     = "pool.idle"      // gauge, 1
	PoolMax      = "pool.max_open"  // gauge, 1; 0 means unlimited
	PoolAcquires = "pool.acquires"  // counter, 1; absent for database/sql
	PoolWaits    = "pool.waits"     // counter, 1 acquisitions that found no idle connection
	PoolWaitTime = "pool.wait_time" // counter, ns of these; with pgxpool of all acquisitions
	PoolClosed   = "pool.closed"    // counter, 1 connections closed by the pool's limits

	// Collections as the runtime prints them (GODEBUG=gctrace=1), of targets
	// without a probe. Counters belong to the window in which a cycle ended.
	GCCycles = "gc.cycles"    // counter, 1
	GCForced = "gc.forced"    // counter, 1 of these, by runtime.GC
	GCPause  = "gc.pause"     // counter, ns the world was stopped
	GCMark   = "gc.mark"      // counter, ns of concurrent marking, by the clock
	GCAssist = "gc.assist"    // counter, ns of CPU that goroutines marked for their allocations
	GCCPU    = "gc.cpu"       // counter, ns of CPU of collections, assists and idle marking included
	GCLive   = "gc.heap.live" // gauge, bytes that the last cycle found alive
	GCPeak   = "gc.heap.peak" // gauge, bytes as the last cycle ended
	GCGoal   = "gc.heap.goal" // gauge, bytes at which the last cycle aimed
	GCProcs  = "gc.procs"     // gauge, 1 GOMAXPROCS

	// The target's network namespace, from its /proc/net: of all sockets in it,
	// so those of the generator too where both share it.
	NetActiveOpens       = "net.tcp.active_opens"        // counter, 1 connections opened outwards
	NetPassiveOpens      = "net.tcp.passive_opens"       // counter, 1 connections accepted by the kernel
	NetAttemptFails      = "net.tcp.attempt_fails"       // counter, 1 handshakes that failed
	NetEstabResets       = "net.tcp.estab_resets"        // counter, 1 established connections that were reset
	NetInSegments        = "net.tcp.in_segs"             // counter, 1
	NetOutSegments       = "net.tcp.out_segs"            // counter, 1 without retransmitted ones
	NetRetransmits       = "net.tcp.retrans_segs"        // counter, 1
	NetInErrors          = "net.tcp.in_errs"             // counter, 1 segments refused, bad checksums included
	NetOutResets         = "net.tcp.out_rsts"            // counter, 1
	NetEstablished       = "net.tcp.established"         // gauge, 1 established or in CLOSE_WAIT
	NetListenOverflows   = "net.tcp.listen_overflows"    // counter, 1 connections refused because an accept queue was full
	NetListenDrops       = "net.tcp.listen_drops"        // counter, 1 the same, and those refused for want of memory and the like
	NetRequestQueueFull  = "net.tcp.request_queue_full"  // counter, 1 SYNs that found the queue of handshakes full, cookies or drop
	NetTimeouts          = "net.tcp.timeouts"            // counter, 1 retransmission timers that ran out
	NetLostRetransmits   = "net.tcp.lost_retransmits"    // counter, 1 segments retransmitted and lost again
	NetSynRetransmits    = "net.tcp.syn_retransmits"     // counter, 1 SYN and SYN-ACK
	NetMemoryPressures   = "net.tcp.memory_pressures"    // counter, 1 entries into memory pressure (tcp_mem)
	NetPrunes            = "net.tcp.prunes"              // counter, 1 receive queues pruned for want of buffer
	NetBacklogDrops      = "net.tcp.backlog_drops"       // counter, 1 segments dropped because a socket's backlog was full
	NetZeroWindows       = "net.tcp.zero_windows"        // counter, 1 times a socket here closed its receive window
	NetTimeWaits         = "net.tcp.time_waits"          // counter, 1 TIME_WAIT sockets that ran out
	NetTimeWaitOverflows = "net.tcp.time_wait_overflows" // counter, 1 refused because there were too many
	NetSockets           = "net.sockets"                 // gauge, 1 sockets of all kinds
	NetTCPInUse          = "net.tcp.in_use"              // gauge, 1 TCP sockets that are bound or connected, IPv4 and IPv6
	NetTCPOrphans        = "net.tcp.orphans"             // gauge, 1 closed by their process and still sending; of the host
	NetTCPTimeWait       = "net.tcp.time_wait"           // gauge, 1
	NetTCPAllocated      = "net.tcp.allocated"           // gauge, 1 TCP sockets; of the host
	NetTCPMemory         = "net.tcp.memory"              // gauge, bytes in buffers; of the host
	SoftnetProcessed     = "softnet.processed"           // counter, 1 packets, over the host's CPUs
	SoftnetDropped       = "softnet.dropped"             // counter, 1 packets dropped because a CPU's backlog was full
	SoftnetSqueezed      = "softnet.time_squeeze"        // counter, 1 times a CPU's packet budget ran out with packets left

	// The target's own TCP sockets, sampled by sock_diag.
	SocketsEstablished  = "sockets.established"       // gauge, 1
	SocketsOutwards     = "sockets.outwards"          // gauge, 1 established connections that the target opened; label to=self|other: towards a port it listens on itself, or not
	SocketsCloseWait    = "sockets.close_wait"        // gauge, 1 closed by the peer and not by the target
	SocketsTimeWait     = "sockets.time_wait"         // gauge, 1 of the target's ports and destinations
	SocketsTimeWaitPeer = "sockets.time_wait.to_peer" // gauge, 1 the most towards one address and port
	SocketsPorts        = "sockets.ports"             // gauge, 1 local ports that connections outwards may take
	SocketsRTT          = "sockets.rtt"               // gauge, ns smoothed round trip of established sockets; label q=p50|max
	SocketsSegments     = "sockets.segments_out"      // counter, 1 segments sent, retransmitted ones included
	SocketsRetransmits  = "sockets.retransmits"       // counter, 1 segments
	SocketsBusy         = "sockets.busy"              // counter, ns sockets had data to send
	SocketsLimited      = "sockets.limited"           // counter, ns of these; label by=rwnd|sndbuf|path: the receiver's window, the send buffer, the rest
	SocketsCwndFull     = "sockets.cwnd_full"         // gauge, 1 sockets whose congestion window is full
	SocketsUnacked      = "sockets.unacked"           // gauge, 1 segments in flight
	SocketsSendQueue    = "sockets.send_queue"        // gauge, bytes not acknowledged
	SocketsReceiveQueue = "sockets.receive_queue"     // gauge, bytes the target has not read
	SocketsAcceptQueue  = "sockets.accept_queue"      // gauge, 1 connections waiting for accept, the most in the window; label listen
	SocketsBacklog      = "sockets.backlog"           // gauge, 1 connections that queue may hold; label listen

	// The target's kernel events, counted by eBPF. Latencies carry q=p50|p99|max.
	TCPOpens        = "tcp.opens"          // counter, 1 connections established; label dir=in|out
	TCPCloses       = "tcp.closes"         // counter, 1 established connections that closed; label dir
	TCPConnectFails = "tcp.connect_fails"  // counter, 1 connections outwards that were not established
	TCPRetransmits  = "tcp.retransmits"    // counter, 1 segments
	TCPRetransmitBy = "tcp.retransmits.by" // counter, 1 of these; label local (a listening port) or remote (address and port)
	TCPHandshake    = "tcp.handshake"      // gauge, ns from SYN-ACK to ACK of connections inwards; label q
	TCPConnect      = "tcp.connect"        // gauge, ns from SYN to established of connections outwards; label q
	TCPLifetime     = "tcp.lifetime"       // gauge, ns from established to closed; label q
	RunQueueLatency = "runqueue.latency"   // gauge, ns from runnable to running of the target's threads; label q
	RunQueueWaits   = "runqueue.waits"     // counter, 1
	BlockLatency    = "block.latency"      // gauge, ns from issue to completion, of the host; labels op=read|write|flush|other, q
	BlockRequests   = "block.requests"     // counter, 1 completed; label op
	BlockTime       = "block.time"         // counter, ns of these; label op
	FsyncLatency    = "fsync.latency"      // gauge, ns of fsync and fdatasync of the target; label q
	FsyncCalls      = "fsync.calls"        // counter, 1 that ended
	FsyncTime       = "fsync.time"         // counter, ns of these
	// KernelCalibration is eBPF's own count in the namespace minus the kernel's,
	// because the source opened.
	KernelCalibration = "kernel.calibration" // gauge, 1; label of=retransmits|active_opens|passive_opens

	// Spans, as services exported them. Those of a service are its entries: spans
	// of kind server or consumer, or without a parent, by when they ended.
	SpansReceived = "spans.received" // counter, 1 spans that arrived in the window, dropped ones included
	SpansDropped  = "spans.dropped"  // counter, 1 of these, spans that were not looked at because there were too many
	SpanCalls     = "span.calls"     // counter, 1; label service
	SpanErrors    = "span.errors"    // counter, 1 of these, with status error; label service
	SpanDuration  = "span.duration"  // gauge, ns; labels service, q=p50|p90|p99|max
)
