// Code generated from catalogue.txt by its test. DO NOT EDIT.

package series

// The names of the catalogue: kind, unit and meaning of each.
const (

	// Load, as the generator sees it. Latency counts from the intended time.
	LoadRequests    = "load.requests"    // counter, 1: requests that ended in the window
	LoadErrors      = "load.errors"      // counter, 1: requests that failed, by kind
	LoadSent        = "load.sent"        // counter, 1: requests sent in the window
	LoadInFlight    = "load.in_flight"   // gauge, 1: requests sent and not ended
	LoadQueued      = "load.queued"      // gauge, 1: requests due and not sent (open loop)
	LoadConnections = "load.connections" // gauge, 1: established connections
	LoadDials       = "load.dials"       // counter, 1: connections opened in the window
	LoadLatency     = "load.latency"     // gauge, ns: from the intended start to the end of a request; q is p50, p90, p99 or max
	LoadService     = "load.service"     // gauge, ns: from sending to the end of a request; q is p50, p90, p99 or max
	LoadLag         = "load.lag"         // gauge, ns: from the intended start to sending; q is p50, p90, p99 or max
	LoadBytesIn     = "load.bytes_in"    // counter, bytes: bytes read from connections
	LoadBytesOut    = "load.bytes_out"   // counter, bytes: bytes written to connections
	GeneratorCPU    = "generator.cpu"    // counter, ns: CPU of the generator's process
	GeneratorDelay  = "generator.delay"  // counter, ns: time the generator's threads stood in a kernel run queue

	// The target's process.
	ProcessUser        = "process.cpu.user"           // counter, ns: CPU in user mode
	ProcessSystem      = "process.cpu.system"         // counter, ns: CPU in the kernel
	ProcessReaped      = "process.cpu.reaped"         // counter, ns: CPU of children too short-lived to be seen, in steps of 10 ms
	ProcessRunDelay    = "process.run_delay"          // counter, ns: time threads stood in a kernel run queue
	ProcessRSS         = "process.rss"                // gauge, bytes: resident memory
	ProcessThreads     = "process.threads"            // gauge, 1: threads
	ProcessFDs         = "process.fds"                // gauge, 1: open descriptors
	ProcessFDLimit     = "process.fd_limit"           // gauge, 1: soft RLIMIT_NOFILE
	ProcessMajorFaults = "process.faults.major"       // counter, 1: page faults that needed storage
	ProcessMinorFaults = "process.faults.minor"       // counter, 1: page faults that did not need storage
	ProcessVoluntary   = "process.switch.voluntary"   // counter, 1: context switches of threads that waited
	ProcessInvoluntary = "process.switch.involuntary" // counter, 1: context switches of threads that were preempted
	ProcessReadBytes   = "process.io.read"            // counter, bytes: bytes read from storage
	ProcessWriteBytes  = "process.io.write"           // counter, bytes: bytes written to storage

	// Hardware counters of the target's threads.
	PerfCycles          = "perf.cycles"           // counter, 1: CPU cycles
	PerfInstructions    = "perf.instructions"     // counter, 1: instructions retired
	PerfCacheReferences = "perf.cache_references" // counter, 1: accesses to the last level of cache
	PerfCacheMisses     = "perf.cache_misses"     // counter, 1: accesses that missed the last level of cache
	PerfBranches        = "perf.branches"         // counter, 1: branches retired
	PerfBranchMisses    = "perf.branch_misses"    // counter, 1: branches mispredicted

	// The target's container and the host.
	CgroupThrottled      = "cgroup.cpu.throttled"          // counter, ns: time for which the quota stopped the group's threads
	CgroupThrottles      = "cgroup.cpu.nr_throttled"       // counter, 1: periods in which the quota was used up
	CgroupQuota          = "cgroup.cpu.quota"              // gauge, 1: CPUs allowed; absent when unlimited
	CgroupPeriods        = "cgroup.cpu.nr_periods"         // counter, 1: periods of the quota in which the group wanted to run
	CgroupMemory         = "cgroup.memory"                 // gauge, bytes: memory charged to the group
	CgroupMemoryLimit    = "cgroup.memory.limit"           // gauge, bytes: the tightest limit; absent when unlimited
	CgroupMemoryHigh     = "cgroup.memory.high"            // gauge, bytes: memory above which the group is slowed down; absent when unlimited
	CgroupMemoryInactive = "cgroup.memory.inactive_file"   // gauge, bytes: page cache that the kernel reclaims before it kills
	CgroupMemoryHighs    = "cgroup.memory.events.high"     // counter, 1: times the group was slowed down above memory.high
	CgroupMemoryMaxes    = "cgroup.memory.events.max"      // counter, 1: times memory was about to pass the limit
	CgroupOOMs           = "cgroup.memory.events.oom"      // counter, 1: allocations about to fail at the limit
	CgroupOOMKills       = "cgroup.memory.events.oom_kill" // counter, 1: processes of the group killed for lack of memory

	// Time stalled (PSI): some tasks of the target's group waited, or all that could have run did. Of the
	// host where the group keeps none of its own.
	PressureCPU        = "pressure.cpu.some"    // counter, ns: some tasks waited for a CPU
	PressureCPUFull    = "pressure.cpu.full"    // counter, ns: all tasks that could run waited for a CPU; absent for the host
	PressureMemory     = "pressure.memory.some" // counter, ns: some tasks waited for memory
	PressureMemoryFull = "pressure.memory.full" // counter, ns: all tasks that could run waited for memory
	PressureIO         = "pressure.io.some"     // counter, ns: some tasks waited for I/O
	PressureIOFull     = "pressure.io.full"     // counter, ns: all tasks that could run waited for I/O

	HostPressureCPU        = "host.pressure.cpu.some"    // counter, ns: some tasks of the host waited for a CPU
	HostPressureMemory     = "host.pressure.memory.some" // counter, ns: some tasks of the host waited for memory
	HostPressureMemoryFull = "host.pressure.memory.full" // counter, ns: all tasks of the host that could run waited for memory
	HostPressureIO         = "host.pressure.io.some"     // counter, ns: some tasks of the host waited for I/O
	HostPressureIOFull     = "host.pressure.io.full"     // counter, ns: all tasks of the host that could run waited for I/O

	HostBusy  = "host.cpu.busy"  // counter, ns: CPU time of all CPUs but idle, iowait and steal
	HostSteal = "host.cpu.steal" // counter, ns: time that the hypervisor gave to others
	HostCPUs  = "host.cpus"      // gauge, 1: CPUs online

	// The database. Statement series carry the label queryid.
	StatementCalls = "postgres.statement.calls" // counter, 1: executions that ended
	StatementTime  = "postgres.statement.time"  // counter, ns: execution time
	StatementRows  = "postgres.statement.rows"  // counter, 1: rows returned or changed
	StatementPlan  = "postgres.statement.plan"  // counter, ns: planning time; absent unless track_planning
	StatementReads = "postgres.statement.read"  // counter, 1: shared blocks read from outside the buffer cache
	StatementHits  = "postgres.statement.hit"   // counter, 1: shared blocks found in the buffer cache

	// Blocks are 8 kB unless the server was built otherwise.
	StatementDirtied = "postgres.statement.dirtied" // counter, 1: shared blocks dirtied
	StatementTemp    = "postgres.statement.temp"    // counter, 1: temporary blocks read and written: sorts and hashes beyond work_mem
	StatementWAL     = "postgres.statement.wal"     // counter, bytes: write-ahead log written; from version 13
	DBSessions       = "postgres.sessions"          // counter, 1: sessions opened in the database
	DBCommits        = "postgres.commits"           // counter, 1: transactions committed
	DBRollbacks      = "postgres.rollbacks"         // counter, 1: transactions rolled back
	DBBackends       = "postgres.backends"          // gauge, 1: client backends of the target, by state
	DBWaits          = "postgres.waits"             // gauge, 1: active backends that wait, by event ("Lock:tuple")
	DBBlocked        = "postgres.blocked"           // gauge, 1: backends that wait for another backend
	DBBlockers       = "postgres.blockers"          // gauge, 1: sessions that hold a lock others wait for, by state
	DBCPU            = "postgres.cpu"               // counter, ns: CPU of the server's processes, when local
	DBMax            = "postgres.max_connections"   // gauge, 1: connections that the server allows
	DBDeadlocks      = "postgres.deadlocks"         // counter, 1: deadlocks that the server broke
	DBTempFiles      = "postgres.temp.files"        // counter, 1: temporary files that queries spilled to
	DBTempBytes      = "postgres.temp.bytes"        // counter, bytes: bytes that queries wrote to temporary files
	DBReads          = "postgres.blocks.read"       // counter, 1: blocks of the database read from outside the buffer cache
	DBHits           = "postgres.blocks.hit"        // counter, 1: blocks of the database found in the buffer cache
	DBOldest         = "postgres.transaction.age"   // gauge, ns: since the oldest open transaction of the target began; 0 without one

	// The connections of the target as the server sees them, by the name that they gave (label
	// application, "other" beyond a bound).
	DBConnections   = "postgres.connections"        // gauge, 1: client connections
	DBConnectsSeen  = "postgres.connections.opened" // counter, 1: new connections met; those that come and go between two readings are not
	DBConnectionAge = "postgres.connections.age"    // gauge, ns: median age of the client connections

	// The whole server, read once a second.
	DBWAL            = "postgres.wal"             // counter, bytes: write-ahead log written by the server
	DBCheckpoints    = "postgres.checkpoints"     // counter, 1: checkpoints; kind is timed or requested
	DBCheckpointTime = "postgres.checkpoint.time" // counter, ns: time spent in checkpoints; phase is write or sync
	DBBuffersWritten = "postgres.buffers.written" // counter, 1: blocks written; by is checkpointer, bgwriter or backend
	DBIO             = "postgres.io.operations"   // counter, 1: operations on relations, by kind of process; from version 16
	DBIOTime         = "postgres.io.time"         // counter, ns: time of operations on relations; absent unless track_io_timing

	// The target's connection pools, where it shows them to the probe; label pool. Gauges without a label
	// are the sum over all pools.
	PoolInUse    = "pool.in_use"    // gauge, 1: connections handed out
	PoolIdle     = "pool.idle"      // gauge, 1: connections that wait to be used
	PoolMax      = "pool.max_open"  // gauge, 1: the pool's bound; 0 means unlimited
	PoolAcquires = "pool.acquires"  // counter, 1: connections taken from the pool; absent for database/sql
	PoolWaits    = "pool.waits"     // counter, 1: acquisitions that found no idle connection
	PoolWaitTime = "pool.wait_time" // counter, ns: time of the waits for a connection; with pgxpool of all acquisitions
	PoolClosed   = "pool.closed"    // counter, 1: connections closed by the pool's limits

	// Collections as the runtime prints them (GODEBUG=gctrace=1), of targets without a probe. Counters
	// belong to the window in which a cycle ended.
	GCCycles = "gc.cycles"    // counter, 1: collections that ended
	GCForced = "gc.forced"    // counter, 1: collections that runtime.GC forced
	GCPause  = "gc.pause"     // counter, ns: time the world was stopped
	GCMark   = "gc.mark"      // counter, ns: concurrent marking, by the clock
	GCAssist = "gc.assist"    // counter, ns: CPU that goroutines spent on marking for their allocations
	GCCPU    = "gc.cpu"       // counter, ns: CPU of collections, assists and idle marking included
	GCLive   = "gc.heap.live" // gauge, bytes: heap that the last cycle found alive
	GCPeak   = "gc.heap.peak" // gauge, bytes: heap as the last cycle ended
	GCGoal   = "gc.heap.goal" // gauge, bytes: heap that the last cycle aimed at
	GCProcs  = "gc.procs"     // gauge, 1: GOMAXPROCS

	// The target's network namespace, from its /proc/net: of all sockets in it, so those of the generator
	// too where both share it.
	NetActiveOpens       = "net.tcp.active_opens"        // counter, 1: connections opened outwards
	NetPassiveOpens      = "net.tcp.passive_opens"       // counter, 1: connections accepted by the kernel
	NetAttemptFails      = "net.tcp.attempt_fails"       // counter, 1: handshakes that failed
	NetEstabResets       = "net.tcp.estab_resets"        // counter, 1: established connections that were reset
	NetInSegments        = "net.tcp.in_segs"             // counter, 1: segments received
	NetOutSegments       = "net.tcp.out_segs"            // counter, 1: segments sent, without retransmitted ones
	NetRetransmits       = "net.tcp.retrans_segs"        // counter, 1: segments retransmitted
	NetDuplicates        = "net.tcp.duplicate_segs"      // counter, 1: segments sent again needlessly, as their receiver reports (D-SACK)
	NetInErrors          = "net.tcp.in_errs"             // counter, 1: segments refused, bad checksums included
	NetOutResets         = "net.tcp.out_rsts"            // counter, 1: resets sent
	NetEstablished       = "net.tcp.established"         // gauge, 1: connections established or in CLOSE_WAIT
	NetListenOverflows   = "net.tcp.listen_overflows"    // counter, 1: connections refused because an accept queue was full
	NetListenDrops       = "net.tcp.listen_drops"        // counter, 1: connections refused: accept queue full, no memory and the like
	NetRequestQueueFull  = "net.tcp.request_queue_full"  // counter, 1: SYNs that found the queue of handshakes full (cookie sent, or dropped)
	NetTimeouts          = "net.tcp.timeouts"            // counter, 1: retransmission timers that ran out
	NetLostRetransmits   = "net.tcp.lost_retransmits"    // counter, 1: segments retransmitted and lost again
	NetSynRetransmits    = "net.tcp.syn_retransmits"     // counter, 1: SYN and SYN-ACK segments retransmitted
	NetMemoryPressures   = "net.tcp.memory_pressures"    // counter, 1: entries into memory pressure (tcp_mem)
	NetPrunes            = "net.tcp.prunes"              // counter, 1: receive queues pruned because the buffer was full
	NetBacklogDrops      = "net.tcp.backlog_drops"       // counter, 1: segments dropped because a socket's backlog was full
	NetZeroWindows       = "net.tcp.zero_windows"        // counter, 1: times a socket here closed its receive window
	NetTimeWaits         = "net.tcp.time_waits"          // counter, 1: TIME_WAIT sockets that ran out
	NetTimeWaitOverflows = "net.tcp.time_wait_overflows" // counter, 1: TIME_WAIT sockets refused because there were too many
	NetSockets           = "net.sockets"                 // gauge, 1: sockets of all kinds
	NetTCPInUse          = "net.tcp.in_use"              // gauge, 1: TCP sockets that are bound or connected, IPv4 and IPv6
	NetTCPOrphans        = "net.tcp.orphans"             // gauge, 1: sockets closed by their process and still sending; of the host
	NetTCPTimeWait       = "net.tcp.time_wait"           // gauge, 1: sockets in TIME_WAIT
	NetTCPAllocated      = "net.tcp.allocated"           // gauge, 1: TCP sockets; of the host
	NetTCPMemory         = "net.tcp.memory"              // gauge, bytes: memory in TCP buffers; of the host
	SoftnetProcessed     = "softnet.processed"           // counter, 1: packets, over the host's CPUs
	SoftnetDropped       = "softnet.dropped"             // counter, 1: packets dropped because a CPU's backlog was full
	SoftnetSqueezed      = "softnet.time_squeeze"        // counter, 1: times a CPU's packet budget ran out with packets left

	// The target's own TCP sockets, sampled by sock_diag.
	SocketsEstablished  = "sockets.established"       // gauge, 1: established connections
	SocketsOutwards     = "sockets.outwards"          // gauge, 1: connections that the target opened; to is self (its own port) or other
	SocketsCloseWait    = "sockets.close_wait"        // gauge, 1: connections closed by the peer and not by the target
	SocketsTimeWait     = "sockets.time_wait"         // gauge, 1: sockets in TIME_WAIT of the target's ports and destinations
	SocketsTimeWaitPeer = "sockets.time_wait.to_peer" // gauge, 1: the most sockets in TIME_WAIT towards one address and port
	SocketsPorts        = "sockets.ports"             // gauge, 1: local ports that connections outwards may take
	SocketsRTT          = "sockets.rtt"               // gauge, ns: smoothed round trip of established sockets; q is p50 or max
	SocketsSegments     = "sockets.segments_out"      // counter, 1: segments sent, retransmitted ones included
	SocketsRetransmits  = "sockets.retransmits"       // counter, 1: segments retransmitted
	SocketsBusy         = "sockets.busy"              // counter, ns: time sockets had data to send
	SocketsLimited      = "sockets.limited"           // counter, ns: part of sockets.busy: waiting for rwnd (receiver), sndbuf or path
	SocketsCwndFull     = "sockets.cwnd_full"         // gauge, 1: sockets whose congestion window is full
	SocketsUnacked      = "sockets.unacked"           // gauge, 1: segments in flight
	SocketsSendQueue    = "sockets.send_queue"        // gauge, bytes: bytes sent and not acknowledged
	SocketsReceiveQueue = "sockets.receive_queue"     // gauge, bytes: bytes that the target has not read
	SocketsAcceptQueue  = "sockets.accept_queue"      // peak, 1: connections waiting for accept, the most in the window
	SocketsBacklog      = "sockets.backlog"           // gauge, 1: connections that the accept queue may hold

	// The programs on this host that the target asks over TCP.
	PeersCPU    = "peers.cpu"    // counter, ns: CPU of a program that the target asks at this port; of further programs under other and 0
	PeersUnseen = "peers.unseen" // gauge, 1: far ends of the target's connections on this host whose process redline cannot see

	// The target's kernel events, counted by eBPF. Latencies carry q=p50|p99|max.
	TCPOpens          = "tcp.opens"          // counter, 1: connections established; dir is in or out
	TCPCloses         = "tcp.closes"         // counter, 1: established connections that closed; dir is in or out
	TCPConnectFails   = "tcp.connect_fails"  // counter, 1: connections outwards that were not established
	TCPRetransmits    = "tcp.retransmits"    // counter, 1: segments retransmitted
	TCPRetransmitBy   = "tcp.retransmits.by" // counter, 1: segments retransmitted, by local (a listening port) or remote (address and port)
	TCPHandshake      = "tcp.handshake"      // gauge, ns: from SYN-ACK to ACK of connections inwards
	TCPConnect        = "tcp.connect"        // gauge, ns: from SYN to established of connections outwards
	TCPLifetime       = "tcp.lifetime"       // gauge, ns: from established to closed
	RunQueueLatency   = "runqueue.latency"   // gauge, ns: from runnable to running of the target's threads
	RunQueueWaits     = "runqueue.waits"     // counter, 1: waits for a CPU that ended
	BlockLatency      = "block.latency"      // gauge, ns: the host's block requests, issue to completion; op is read, write, flush or other
	BlockRequests     = "block.requests"     // counter, 1: block-device requests completed
	BlockTime         = "block.time"         // counter, ns: time of the completed block-device requests, summed
	FsyncLatency      = "fsync.latency"      // gauge, ns: duration of the target's fsync and fdatasync calls
	FsyncCalls        = "fsync.calls"        // counter, 1: fsync and fdatasync calls that ended
	FsyncTime         = "fsync.time"         // counter, ns: time of the fsync and fdatasync calls, summed
	KernelCalibration = "kernel.calibration" // gauge, 1: eBPF's count minus the kernel's since the source opened; of is what is counted

	// Spans, as services exported them. Those of a service are its entries: spans of kind server or
	// consumer, or without a parent, by when they ended.
	SpansReceived = "spans.received" // counter, 1: spans that arrived in the window, dropped ones included
	SpansDropped  = "spans.dropped"  // counter, 1: spans that redline did not look at, because there were too many
	SpanCalls     = "span.calls"     // counter, 1: entries of the service that ended
	SpanErrors    = "span.errors"    // counter, 1: entries of the service with status error
	SpanDuration  = "span.duration"  // gauge, ns: duration of the service's entries; q is p50, p90, p99 or max
)
