package series

import (
	"maps"
	"slices"
	"strings"
)

// Info holds the fixed properties of a series of the catalogue.
type Info struct {
	Unit    string // ns, bytes, 1 or 1/s
	Counter bool   // an amount per window that is never negative; else a gauge
	Labels  string // names of the labels it may carry, comma separated
	Most    bool   // a gauge that is the largest of its window
}

// Known returns the fixed properties of a series name, and whether the name is one
// that a bundle may hold: one of names.go, or one of runtime/metrics, whose
// unit follows from its name and whose kind is not known here.
func Known(name string) (Info, bool) {
	if strings.HasPrefix(name, "/") {
		_, unit, ok := strings.Cut(name, ":")
		return Info{Unit: runtimeUnit(unit), Labels: "q,size"}, ok
	}
	info, ok := catalogue()[name]
	return info, ok
}

// runtimeUnit maps the unit in a runtime/metrics name to the catalogue's.
func runtimeUnit(unit string) string {
	switch {
	case strings.Contains(unit, "seconds"):
		return "ns"
	case unit == "bytes":
		return "bytes"
	default:
		return "1"
	}
}

func catalogue() map[string]Info {
	count, gauge := Info{Unit: "1", Counter: true}, Info{Unit: "1"}
	ns := Info{Unit: "ns", Counter: true}
	size, volume := Info{Unit: "bytes"}, Info{Unit: "bytes", Counter: true}
	quantile := Info{Unit: "ns", Labels: "q"}
	statement := func(i Info) Info { i.Labels = "queryid"; return i }
	pool := func(i Info) Info { i.Labels = "pool"; return i }
	return map[string]Info{
		LoadRequests: count, LoadErrors: {Unit: "1", Counter: true, Labels: "kind"}, LoadSent: count,
		LoadInFlight: gauge, LoadQueued: gauge, LoadConnections: gauge, LoadDials: count,
		LoadLatency: quantile, LoadService: quantile, LoadLag: quantile,
		LoadBytesIn: volume, LoadBytesOut: volume, GeneratorCPU: ns, GeneratorDelay: ns,

		ProcessUser: ns, ProcessSystem: ns, ProcessReaped: ns, ProcessRunDelay: ns, ProcessRSS: size, ProcessThreads: gauge,
		ProcessFDs: gauge, ProcessFDLimit: gauge, ProcessMajorFaults: count, ProcessMinorFaults: count,
		ProcessVoluntary: count, ProcessInvoluntary: count, ProcessReadBytes: volume, ProcessWriteBytes: volume,

		CgroupThrottled: ns, CgroupThrottles: count, CgroupQuota: gauge, CgroupMemory: size, CgroupMemoryLimit: size,
		CgroupPeriods: count, CgroupMemoryHigh: size, CgroupMemoryInactive: size,
		CgroupMemoryHighs: count, CgroupMemoryMaxes: count, CgroupOOMs: count, CgroupOOMKills: count,
		PressureCPU: ns, PressureMemory: ns, PressureIO: ns, PressureCPUFull: ns, PressureMemoryFull: ns, PressureIOFull: ns,
		HostPressureCPU: ns, HostPressureMemory: ns, HostPressureMemoryFull: ns, HostPressureIO: ns, HostPressureIOFull: ns,
		PerfCycles: count, PerfInstructions: count, PerfCacheReferences: count, PerfCacheMisses: count,
		PerfBranches: count, PerfBranchMisses: count,
		HostBusy: ns, HostSteal: ns, HostCPUs: gauge,

		StatementCalls: statement(count), StatementTime: statement(ns), StatementRows: statement(count),
		StatementPlan: statement(ns), StatementReads: statement(count), StatementHits: statement(count),
		StatementDirtied: statement(count), StatementTemp: statement(count), StatementWAL: statement(volume),
		DBSessions: count, DBCommits: count, DBRollbacks: count,
		DBBackends: {Unit: "1", Labels: "state"}, DBWaits: {Unit: "1", Labels: "event"}, DBBlocked: gauge,
		DBBlockers: {Unit: "1", Labels: "state"},
		DBCPU:      ns, DBMax: gauge,
		DBDeadlocks: count, DBTempFiles: count, DBTempBytes: volume, DBReads: count, DBHits: count, DBOldest: {Unit: "ns"},
		DBConnections: {Unit: "1", Labels: "application,state"}, DBConnectsSeen: {Unit: "1", Counter: true, Labels: "application"},
		DBConnectionAge: {Unit: "ns", Labels: "application"}, DBWAL: volume,
		DBCheckpoints: {Unit: "1", Counter: true, Labels: "kind"}, DBCheckpointTime: {Unit: "ns", Counter: true, Labels: "phase"},
		DBBuffersWritten: {Unit: "1", Counter: true, Labels: "by"},
		DBIO:             {Unit: "1", Counter: true, Labels: "by,op"}, DBIOTime: {Unit: "ns", Counter: true, Labels: "by,op"},

		PoolInUse: pool(gauge), PoolIdle: pool(gauge), PoolMax: pool(gauge), PoolAcquires: pool(count),
		PoolWaits: pool(count), PoolWaitTime: pool(ns), PoolClosed: pool(count),

		GCCycles: count, GCForced: count, GCPause: ns, GCMark: ns, GCAssist: ns, GCCPU: ns,
		GCLive: size, GCPeak: size, GCGoal: size, GCProcs: gauge,

		NetActiveOpens: count, NetPassiveOpens: count, NetAttemptFails: count, NetEstabResets: count,
		NetInSegments: count, NetOutSegments: count, NetRetransmits: count, NetInErrors: count, NetOutResets: count,
		NetEstablished: gauge, NetListenOverflows: count, NetListenDrops: count, NetRequestQueueFull: count,
		NetTimeouts: count, NetLostRetransmits: count, NetSynRetransmits: count, NetMemoryPressures: count,
		NetPrunes: count, NetBacklogDrops: count, NetZeroWindows: count, NetTimeWaits: count, NetTimeWaitOverflows: count,
		NetSockets: gauge, NetTCPInUse: gauge, NetTCPOrphans: gauge, NetTCPTimeWait: gauge, NetTCPAllocated: gauge,
		NetTCPMemory: size, SoftnetProcessed: count, SoftnetDropped: count, SoftnetSqueezed: count,

		SocketsEstablished: gauge, SocketsOutwards: {Unit: "1", Labels: "to"}, SocketsCloseWait: gauge, SocketsTimeWait: gauge, SocketsTimeWaitPeer: gauge, SocketsPorts: gauge,
		SocketsRTT: quantile, SocketsSegments: count, SocketsRetransmits: count, SocketsBusy: ns,
		SocketsLimited: {Unit: "ns", Counter: true, Labels: "by"}, SocketsCwndFull: gauge, SocketsUnacked: gauge, SocketsSendQueue: size, SocketsReceiveQueue: size,
		SocketsAcceptQueue: {Unit: "1", Labels: "listen", Most: true}, SocketsBacklog: {Unit: "1", Labels: "listen"},

		TCPOpens: {Unit: "1", Counter: true, Labels: "dir"}, TCPCloses: {Unit: "1", Counter: true, Labels: "dir"}, TCPConnectFails: count,
		TCPRetransmits: count, TCPRetransmitBy: {Unit: "1", Counter: true, Labels: "local,remote"},
		TCPHandshake: quantile, TCPConnect: quantile, TCPLifetime: quantile,
		RunQueueLatency: quantile, RunQueueWaits: count,
		BlockLatency: {Unit: "ns", Labels: "op,q"}, BlockRequests: {Unit: "1", Counter: true, Labels: "op"}, BlockTime: {Unit: "ns", Counter: true, Labels: "op"},
		FsyncLatency: quantile, FsyncCalls: count, FsyncTime: ns,
		KernelCalibration: {Unit: "1", Labels: "of"},

		SpansReceived: count, SpansDropped: count, SpanCalls: {Unit: "1", Counter: true, Labels: "service"},
		SpanErrors: {Unit: "1", Counter: true, Labels: "service"}, SpanDuration: {Unit: "ns", Labels: "service,q"},
	}
}

// Names returns the series of names.go, sorted. Those of runtime/metrics, which
// depend on the target's Go, are not among them.
func Names() []string { return slices.Sorted(maps.Keys(catalogue())) }
