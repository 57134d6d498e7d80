package evidence

import (
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/series"
)

// Saturation is the utilisation at which CPUs count as fully used. A saturated host
// of two cores measures 0.95 to 1.0, because a wake-up takes a moment in which a
// CPU is idle; services that wait for something stay below 0.9.
const Saturation = laws.Full

// CPU is how many CPUs each party used over the steady span (1 is one CPU all the
// time). NaN is unknown, so that no comparison with it holds.
type CPU struct {
	CPUs      float64 // of the host
	Busy      float64 // all that ran on the host
	Target    float64 // the service's own process, or with its children where they are not measured separately
	Children  float64 // processes that it started; 0 where they are not measured separately
	Reaped    float64 // of these, those that started and ended between two samples
	Generator float64
	Database  float64 // 0 if requests use no other server
	// Peers is the CPU of other programs on this host that the target calls, as far as they were seen; 0
	// where none was. It is demand of the requests, as the database's CPU is.
	Peers float64
	// outside is the most that servers use whose CPU is unknown, where Database is NaN.
	outside float64
	// Limit is how many CPUs the target may use: the host's, its quota, its
	// GOMAXPROCS, whichever is least.
	Limit float64
	// Quota is its cgroup's limit; NaN when there is none.
	Quota float64
	// spare: the host's CPUs are busy, but do not limit this load.
	spare bool
}

// CPU returns the use of CPUs. Host figures count only if the target runs on the
// same host as redline; elsewhere they would be the generator's.
func (p *Set) CPU() CPU {
	return p.cpu.Get(p.readCPU)
}

// readCPU combines the counters, with three corrections. Children are separate from
// the process: their CPU would hide the requests' wait for them. Reaped children,
// which no sampler sees, are added. Without the target's CPU the host's cannot be
// attributed, and is dropped.
func (p *Set) readCPU() CPU {
	cpus := func(names ...string) float64 {
		total := 0.0
		for _, name := range names {
			rate, ok := p.Rate(name, "")
			if !ok {
				return math.NaN() // a partial sum would pass for the whole
			}
			total += rate / 1e9
		}
		return total
	}
	gauge := func(name string) float64 {
		if v, ok := p.Mean(name, ""); ok {
			return v
		}
		return math.NaN()
	}
	c := CPU{
		CPUs: gauge(series.HostCPUs), Busy: cpus(series.HostBusy),
		Target:    cpus(series.ProcessUser, series.ProcessSystem),
		Generator: cpus(series.GeneratorCPU), Database: cpus(series.DBCPU),
		Quota: gauge(series.CgroupQuota),
	}
	// The profile covers only the process itself, and a child's CPU is a wait to
	// the requests: separate it where the probe counts the process's own.
	if own := cpus("/process/cpu/user:cpu-seconds", "/process/cpu/system:cpu-seconds"); own > 0 && own < c.Target {
		c.Children, c.Target = c.Target-own, own
	}
	if reaped := cpus(series.ProcessReaped); reaped > 0 {
		c.Children, c.Reaped = c.Children+reaped, reaped
	}
	if math.IsNaN(c.Database) && p.alone() {
		c.Database = 0
	}
	p.addPeers(&c)
	if math.IsNaN(c.CPUs) && p.Record.Run.Host.CPUs > 0 {
		c.CPUs = float64(p.Record.Run.Host.CPUs)
	}
	if math.IsNaN(c.Target) {
		c.Busy, c.CPUs = math.NaN(), math.NaN()
	}
	c.Limit = c.CPUs
	procs := gauge("/sched/gomaxprocs:threads")
	if n := p.Record.Run.Target.GOMAXPROCS; math.IsNaN(procs) && n > 0 {
		procs = float64(n)
	}
	if math.IsNaN(c.Quota) && p.stopped() {
		c.Limit = c.Target // the quota was not read, but throttling shows that it is exhausted
	}
	for _, limit := range []float64{c.Quota, procs} {
		if limit > 0 && !(limit >= c.Limit) {
			c.Limit = limit
		}
	}
	c.spare = p.leavesSpare(c)
	return c
}

// outside bounds the CPUs that other servers use for requests: one for each request that waits for them, whose
// mean number is their rate times that wait (Little's law). What a server does for a request in parallel or later is
// not in it. +Inf without traces.
func (p *Set) outside() float64 {
	if !p.Traced() {
		return math.Inf(1)
	}
	return p.Waits().NS(slices.Concat(servers, databases)...) / 1e9 * p.Load().Rate
}

// leastOutside is the least share of request time at which waits for other servers
// count: by Little's law, a hundredth of a CPU per request in flight.
const leastOutside = 0.01

// alone reports whether requests are known to use no database, upstream or other
// server: by what they wait for, or without traces, if the database is within the process, by the service's connections.
func (p *Set) alone() bool {
	if !p.Traced() {
		unseen, watched := p.Max(series.PeersUnseen, "")
		return p.UsesOnly(callstack.SQLite) && watched && unseen == 0 && len(p.Peers()) == 0
	}
	outside := servers
	if !p.UsesOnly(callstack.SQLite) { // SQLite is no server: its waits are for files and locks
		outside = slices.Concat(servers, databases)
	}
	return p.Waits().Share(outside...) < leastOutside
}

// LeastQueue is the least share of request time queued for a CPU at which requests
// compete for CPUs. Below it, idle CPUs would make them faster by less than that
// share.
const LeastQueue = 0.05

// leavesSpare reports whether busy CPUs do not limit this load: the load is known
// to leave some unused, and its requests hardly wait for one. Other programs, or
// services that the target calls, keep them busy and give way (workers-small).
func (p *Set) leavesSpare(c CPU) bool {
	return c.known()/c.CPUs < Saturation && !(c.Target/c.Limit >= Saturation) && p.Traced() && p.queuesAtMost(c) < LeastQueue
}

// queuesAtMost bounds the part of request time in the queue for this host's CPUs. How long
// the service's children, or the processes of a database or of other peers, queue is not observed. It is at
// most the time that requests wait for them, for the database less the time in which their session waits for
// another's lock.
func (p *Set) queuesAtMost(c CPU) float64 {
	most := p.Waits().Share(callstack.Queued)
	if c.Peers > 0 {
		most += p.Waits().Share(p.asked(c)...)
	}
	if c.Children > 0 {
		most += p.Waits().Share(callstack.ChildWait)
	}
	if c.Database > 0 {
		most += p.Waits().Share(databases...) * (1 - p.blocked())
	}
	return most
}

// blocked returns the part of the database's active sessions that wait for another's lock,
// 0 to 1; 0 where sessions were not observed.
func (p *Set) blocked() float64 {
	active, _ := p.Series(series.DBBackends, series.Labels("state", "active")).Sum()
	blocked, _ := p.Series(series.DBBlocked, "").Sum()
	if !(active > 0) {
		return 0
	}
	return math.Min(1, blocked/active)
}

// mostStopped: a quota that runs out in this part of its periods counts as exhausted.
const mostStopped = 0.5

// stopped reports whether the target's quota runs out in most of its periods.
func (p *Set) stopped() bool {
	times, ok := p.Rate(series.CgroupThrottles, "")
	return ok && times*quotaPeriod >= mostStopped
}

// HostUse returns the host's utilisation, 0 to 1; NaN when unknown.
func (c CPU) HostUse() float64 { return c.Busy / c.CPUs }

// Use returns the larger utilisation, 0 to 1, of the host's CPUs and of the target's share
// of them; NaN if both are unknown.
func (c CPU) Use() float64 {
	host, own := c.HostUse(), c.Target/c.Limit
	switch {
	case math.IsNaN(host):
		return own
	case math.IsNaN(own):
		return host
	}
	return math.Max(host, own)
}

// Saturated reports whether CPUs are known to be fully used, and requests to wait
// for them.
func (c CPU) Saturated() bool { return c.Use() >= Saturation && !c.spare }

// Full reports whether the load itself is known to use CPUs fully: the service up
// to its limit, or it, the generator, the database and other peers the whole host. CPUs that
// other programs took are busy too, but then it is not the load's own work that
// delays requests.
func (c CPU) Full() bool {
	return c.Saturated() && (c.Target/c.Limit >= Saturation || !(c.Used()/c.CPUs < Saturation))
}

const (
	// limitUsed: a target that uses this part of its limit exhausts it on average.
	// The corpus' invoice-quota and barcode-one-proc use 0.99 of theirs;
	// parcel-burst-quota, which is stopped in bursts, 0.6.
	limitUsed = 0.85
)

// Room returns by what factor the target's use of CPU could grow into CPUs of
// the host that are free if its own limit (quota, GOMAXPROCS) were lifted; 1
// where it has none, does not exhaust it, or one of the figures is unknown.
func (c CPU) Room() float64 { return c.room(c.CPUs - c.Busy) }

// RoomAlone is Room on a host without other programs: what they take is not the load's, and a
// service whose own limit were lifted would get its part of it. Room where the load's use is unknown.
func (c CPU) RoomAlone() float64 { return c.room(c.CPUs - c.Used()) }

func (c CPU) room(free float64) float64 {
	own := c.Target
	if c.Limit == c.Quota {
		own += c.Children // a quota is the whole group's
	}
	if !(c.Limit < c.CPUs) || !(own >= limitUsed*c.Limit) || !(free > 0) {
		return 1
	}
	return math.Min(laws.Most, (own+free)/own)
}

// leastAwake: above this ratio of the target's CPU time to its requests' running
// time, the difference is measurement error. parts-mmap has 0.3.
const leastAwake = 0.7

// Own returns how many CPUs the service itself uses: Target less the cost of observing it.
// Shares of the CPU profile are shares of this. NaN where Target is unknown.
func (p *Set) Own() float64 { return p.CPU().Target * (1 - p.Observed()) }

// awake returns the part of requests' running time in which a CPU ran them, 0 to 1.
// Go's trace counts a goroutine as running while a page fault or the kernel stops
// its thread. Saving CPU does not shorten that time.
func (p *Set) awake() float64 {
	c, load := p.CPU(), p.Load()
	running := p.Waits().NS(callstack.Busy) * load.Rate / 1e9 // CPUs
	if part := c.Target / running; part < leastAwake {
		return part
	}
	return 1
}

// Used returns the CPUs that serving the load took: those of the service, its
// children, the generator, the database and other peers, as far as they are known; where the
// database's are unknown, at most those that requests could wait for. CPUs that other programs took
// are not the load's.
func (c CPU) Used() float64 {
	database := c.Database
	if math.IsNaN(database) && !math.IsNaN(c.Busy) {
		database = c.outside
	}
	if known := c.Target + c.Children + c.Generator + database + c.Peers; known > 0 {
		if math.IsNaN(c.Busy) {
			return known
		}
		return math.Min(known, c.Busy)
	}
	return c.Busy
}
