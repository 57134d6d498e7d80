package evidence

import (
	"math"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/series"
)

// Saturation is the utilisation from which CPUs count as fully used. A saturated
// host of two cores measures 0.95 to 1.0, because of moments when a wake-up is
// under way; services that wait for something stay below 0.9.
const Saturation = laws.Full

// CPU is the use of CPUs over the steady span, in CPUs (1 is one CPU all the time).
// NaN is unknown, so that no comparison with it holds.
type CPU struct {
	CPUs      float64 // of the host
	Busy      float64 // all that ran on the host
	Target    float64 // the service's own process, or its whole tree where that is not known apart
	Children  float64 // processes that it started; 0 where they are not known apart
	Generator float64
	Database  float64 // 0 if requests ask nothing outside of the service
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

// readCPU puts the accounts together. Three corrections matter: children are not
// the process (a child that requests wait for hid the wait behind its CPU), reaped
// processes are seen by no sampler, and without the target's CPU the host's is not
// attributable and dropped.
func (p *Set) readCPU() CPU {
	cpus := func(names ...string) float64 {
		total := 0.0
		for _, name := range names {
			rate, ok := p.Rate(name, "")
			if !ok {
				return math.NaN() // a part of it would be taken for the whole
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
	// The profile knows the process alone, and a child that requests wait for is
	// no cost of theirs: separate it where the probe counts the process's own.
	if own := cpus("/process/cpu/user:cpu-seconds", "/process/cpu/system:cpu-seconds"); own > 0 && own < c.Target {
		c.Children, c.Target = c.Target-own, own
	}
	if reaped := cpus(series.ProcessReaped); reaped > 0 {
		c.Children += reaped // those that came and went between two looks
	}
	if math.IsNaN(c.Database) && p.alone() {
		c.Database = 0
	}
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
		c.Limit = c.Target // the quota was not read, but it is used up
	}
	for _, limit := range []float64{c.Quota, procs} {
		if limit > 0 && !(limit >= c.Limit) {
			c.Limit = limit
		}
	}
	c.spare = p.leavesSpare(c)
	return c
}

// leastOutside is the part of request time from which others on the host work for
// requests: by Little's law it is a hundredth of a CPU for each request in flight.
const leastOutside = 0.01

// alone reports whether requests are known to ask no database, upstream or other
// server.
func (p *Set) alone() bool {
	outside := []callstack.Wait{callstack.HTTPWait, callstack.HTTPOpen, callstack.RPCWait, callstack.NetworkWait}
	if !p.UsesOnly(callstack.SQLite) { // which is no server: its waits are for files and locks
		outside = append(outside, callstack.DatabaseWait, callstack.PrepareWait, callstack.ConnectWait)
	}
	return p.Traced() && p.Waits().Share(outside...) < leastOutside
}

// LeastQueue is the part of request time in the queue for a CPU, from which CPUs
// are what requests share. Below it, idle CPUs would make them faster by at most
// that part.
const LeastQueue = 0.05

// leavesSpare reports whether busy CPUs do not limit this load: what it is known to
// use leaves some of them, and its requests hardly wait for one. Other programs
// keep them busy, or services that it calls, and give way (workers-small).
func (p *Set) leavesSpare(c CPU) bool {
	return c.known()/c.CPUs < Saturation && !(c.Target/c.Limit >= Saturation) && p.Traced() && p.queuesAtMost(c) < LeastQueue
}

// queuesAtMost bounds the part of request time in the queue for this host's CPUs. How long
// the processes of a database stand in it is not observed; no request waits for them longer
// than it waits for the database, and not while another session's lock holds its own up.
func (p *Set) queuesAtMost(c CPU) float64 {
	most := p.Waits().Share(callstack.Queued)
	if c.Database > 0 {
		most += p.Waits().Share(callstack.DatabaseWait, callstack.PrepareWait, callstack.ConnectWait) * (1 - p.blocked())
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

// mostStopped is the part of its periods in which a quota runs out, from which it
// is used up.
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
// to its limit, or it, the generator and the database the whole host. CPUs that
// other programs took are busy too, but then requests are not held up by their own
// work.
func (c CPU) Full() bool {
	return c.Saturated() && (c.Target/c.Limit >= Saturation || !(c.Used()/c.CPUs < Saturation))
}

const (
	// limitUsed is the part of what a target may use, from which the limit is used
	// up on average. The corpus' invoice-quota and barcode-one-proc use 0.99 of
	// theirs; parcel-burst-quota, which is stopped in bursts, 0.6.
	limitUsed = 0.85
)

// Room returns by what factor the target's use of CPU could grow into CPUs of
// the host that are free if its own limit (quota, GOMAXPROCS) were lifted; 1
// where it has none, does not use it up, or one of the figures is unknown.
func (c CPU) Room() float64 {
	own := c.Target
	if c.Limit == c.Quota {
		own += c.Children // a quota is the whole group's
	}
	free := c.CPUs - c.Busy
	if !(c.Limit < c.CPUs) || !(own >= limitUsed*c.Limit) || !(free > 0) {
		return 1
	}
	return math.Min(laws.Most, (own+free)/own)
}

// leastAwake: above this part, the difference between what requests run and what
// the target's CPUs did is an error of measurement. parts-mmap has 0.3.
const leastAwake = 0.7

// Own returns how many CPUs the service uses for itself: Target without what the observation
// takes. Shares of the CPU profile are parts of it. NaN where Target is unknown.
func (p *Set) Own() float64 { return p.CPU().Target * (1 - p.Observed()) }

// awake returns the part of requests' running time in which a CPU ran them, 0 to 1.
// To Go's trace a goroutine runs while its thread is stopped, in a page fault or by
// the kernel, and others queue behind it: time that no saving of CPU gives back.
func (p *Set) awake() float64 {
	c, load := p.CPU(), p.Load()
	running := p.Waits().NS(callstack.Busy) * load.Rate / 1e9 // CPUs
	if part := c.Target / running; part < leastAwake {
		return part
	}
	return 1
}

// Used returns the CPUs that serving the load took: the service's and its
// children's, the generator's and the database's, where they are known, and all
// that was busy where the database's are not. CPUs that other programs of the host
// took are not the load's, and would hide what it is made of.
func (c CPU) Used() float64 {
	if known := c.Target + c.Children + c.Generator + c.Database; known > 0 {
		if math.IsNaN(c.Busy) {
			return known
		}
		return math.Min(known, c.Busy)
	}
	return c.Busy
}
