package diagnose

import (
	"math"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

// Saturation is the utilisation from which CPUs count as fully used. A saturated
// host of two cores measures 0.95 to 1.0, because of moments when a wake-up is
// under way; services that wait for something stay below 0.9.
const Saturation = 0.92

// CPU is who used the CPUs over the steady span, in CPUs (1 is one CPU all the
// time). NaN is unknown.
type CPU struct {
	CPUs      float64 // of the host
	Busy      float64 // all that ran on the host
	Target    float64 // the service's own process, or its whole tree where that is not known apart
	Children  float64 // processes that it started; 0 where they are not known apart
	Generator float64
	Database  float64
	// Limit is how many CPUs the target may use: the host's, its quota, its
	// GOMAXPROCS, whichever is least.
	Limit float64
	// Quota is its cgroup's limit; NaN when there is none.
	Quota float64
}

// CPU returns the use of CPUs. Host figures count only where the target runs on
// the same host as redline; elsewhere they would speak of the generator.
func (p *Pass) CPU() CPU {
	if p.cpu == nil {
		c := p.readCPU()
		p.cpu = &c
	}
	return *p.cpu
}

func (p *Pass) readCPU() CPU {
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
		CPUs: gauge(record.HostCPUs), Busy: cpus(record.HostBusy),
		Target:    cpus(record.ProcessUser, record.ProcessSystem),
		Generator: cpus(record.GeneratorCPU), Database: cpus(record.DBCPU),
		Quota: gauge(record.CgroupQuota),
	}
	// The profile knows the process alone, and a child that requests wait for is
	// no cost of theirs: tell it apart where the probe counts the process's own.
	if own := cpus("/process/cpu/user:cpu-seconds", "/process/cpu/system:cpu-seconds"); own > 0 && own < c.Target {
		c.Children, c.Target = c.Target-own, own
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
	return c
}

// mostStopped of the periods in which a quota runs out, so that it is used up.
const mostStopped = 0.5

// stopped reports whether the target's quota runs out in most of its periods.
func (p *Pass) stopped() bool {
	times, ok := p.Rate(record.CgroupThrottles, "")
	return ok && times*quotaPeriod >= mostStopped
}

// HostUse returns the host's utilisation, 0 to 1; NaN when unknown.
func (c CPU) HostUse() float64 { return c.Busy / c.CPUs }

// Use returns the utilisation of whichever is nearer its limit: the host's CPUs,
// or what the target may use of them; NaN when both are unknown.
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

// told is the use for readers; nil when the host's is unknown.
func (c CPU) told() *record.CPUUse {
	if !(c.CPUs > 0 && c.Busy > 0) {
		return nil
	}
	known := func(v float64) float64 {
		if v > 0 {
			return v
		}
		return 0
	}
	return &record.CPUUse{CPUs: c.CPUs, Busy: c.Busy, Full: c.HostUse() >= Saturation, Target: known(c.Target), Generator: known(c.Generator), Database: known(c.Database)}
}

// Saturated reports whether CPUs are known to be fully used.
func (c CPU) Saturated() bool { return c.Use() >= Saturation }

// Full reports whether the load itself is known to use CPUs fully: the service up to
// its limit, or it, the generator and the database all of the host. CPUs that
// other programs took are busy, too, but what holds requests up then is not their
// own work.
func (c CPU) Full() bool {
	return c.Saturated() && (c.Target/c.Limit >= Saturation || !(c.Used()/c.CPUs < Saturation))
}

const (
	// limitUsed of what a target may use from which the limit is used up on
	// average. The corpus' invoice-quota and barcode-one-proc use 0.99 of theirs;
	// parcel-burst-quota, which is stopped in bursts, 0.6.
	limitUsed = 0.85
	// leastRoom: from this factor a limit of the target's own is told before what
	// its CPU is spent on.
	leastRoom = 1.3
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
	return math.Min(maxCeiling, (own+free)/own)
}

// WaitGain bounds what removing a wait that takes a share of request time could
// gain. Amdahl's bound holds for the latency of an open loop below saturation;
// throughput can grow only into the CPUs that are idle, or that other programs took:
// what the load could have is not made less by who had it this time.
func (p *Pass) WaitGain(share float64) float64 {
	if c := p.CPU(); c.Saturated() && !c.Full() {
		return p.OutsideGain(share)
	}
	gain := Ceiling(share)
	use := p.CPU().Use()
	if math.IsNaN(use) || p.Load().Open && use < Saturation {
		return gain
	}
	return math.Max(1, math.Min(gain, 1/math.Min(1, use)))
}

// OutsideGain bounds what removing a wait could gain whose end does not depend on
// this host's CPUs: a timer, an answer from elsewhere. What other programs use of
// the host does not bound it, only what the load itself does.
func (p *Pass) OutsideGain(share float64) float64 {
	gain, c := Ceiling(share), p.CPU()
	use := c.Target / c.Limit
	for _, own := range []float64{c.Target + c.Generator, c.Target + c.Generator + c.Database} {
		if part := own / c.CPUs; part > use || math.IsNaN(use) {
			use = part
		}
	}
	if math.IsNaN(use) || p.Load().Open && use < Saturation {
		return gain
	}
	return math.Max(1, math.Min(gain, 1/math.Min(1, use)))
}

// CPUGain bounds what saving a share of the target's CPU could gain. Where CPUs
// are saturated every process on them gains, so the saving counts against all
// that is busy; below that only the request's own time on (and queued for) a CPU
// shrinks. It assumes saturation where neither is known. While a limit of the
// target's own keeps it from CPUs that are free, a saving is worth no more than
// lifting that limit, which is the lesser change.
func (p *Pass) CPUGain(share float64) float64 {
	gain := p.cpuGain(share)
	for _, lifted := range []float64{p.CPU().Room(), p.Stops().Gain} {
		if lifted >= leastRoom {
			gain = math.Min(gain, lifted)
		}
	}
	return gain
}

func (p *Pass) cpuGain(share float64) float64 {
	c := p.CPU()
	if own := c.Target / c.Limit; own >= Saturation {
		return Ceiling(share)
	}
	if !c.Saturated() && p.Has(NeedAnatomy) {
		return Ceiling(share * p.Waits().OnCPU() * p.awake())
	}
	if used := c.Used(); used > 0 && c.Target > 0 {
		return Ceiling(share * math.Min(1, c.Target/used))
	}
	return Ceiling(share)
}

// leastAwake: below this part the difference between what requests run and what
// the target's CPUs did is no error of measurement. parts-mmap has 0.3.
const leastAwake = 0.7

// awake returns the part of requests' running time in which a CPU ran them, 0 to
// 1. To Go's trace a goroutine runs while its thread stands still, in a page fault
// or since the kernel stopped it, and others queue behind it: time that no saving
// of CPU gives back.
func (p *Pass) awake() float64 {
	c, load := p.CPU(), p.Load()
	running := p.Waits().NS(callstack.Busy) * load.Rate / 1e9 // CPUs
	if part := c.Target / running; part < leastAwake {
		return part
	}
	return 1
}

// Used returns the CPUs that serving the load took: the service's and its
// children's, the generator's and the database's, where they are known, and all that was busy
// where the database's are not. CPUs that other programs of the host took are
// not the load's, and would hide what it is made of.
func (c CPU) Used() float64 {
	if known := c.Target + c.Children + c.Generator + c.Database; known > 0 {
		if math.IsNaN(c.Busy) {
			return known
		}
		return math.Min(known, c.Busy)
	}
	return c.Busy
}
