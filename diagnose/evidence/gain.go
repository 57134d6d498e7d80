package evidence

import (
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/notation"
)

// leastRoom: if lifting a limit of the target's own gains at least this factor, the
// limit is reported before what the CPU is spent on.
const leastRoom = 1.3

// fairShare is the part of the host's CPUs that the load gets if it and other programs both want all.
const fairShare = 0.5

// Names of the CPUs as resources.
const (
	hostCPUs   = "the host's %s"
	targetCPUs = "the %s that the service may use"
)

// Model returns the service under this load, for package laws. If own is set, CPU that
// other programs used counts as available: it does not bound the gain.
func (p *Set) Model(own bool) laws.Model {
	c, load := p.CPU(), p.Load()
	m := laws.Model{Open: load.Open, Think: load.Think / 1e9, Response: p.response()}
	busy, servers := c.Busy, c.CPUs
	switch {
	case own || c.spare:
		busy = c.known()
	case c.Saturated() && !c.Full():
		// Other programs keep what they took: the load has only what they leave.
		busy, servers = c.Used(), c.Used()
	}
	if c.CPUs > 0 && busy > 0 {
		m.Resources = append(m.Resources, laws.Resource{Name: named(hostCPUs, c.CPUs), Servers: servers, Busy: busy,
			Fixed: p.standing() + p.idling() + c.others(busy)})
	}
	if c.Target > 0 && c.Limit > 0 && (c.Limit < c.CPUs || len(m.Resources) == 0) {
		m.Resources = append(m.Resources, laws.Resource{Name: named(targetCPUs, c.Limit), Servers: c.Limit, Busy: c.Target,
			Fixed: p.idling()})
	}
	if at := m.Tightest(); c.Saturated() && at >= 0 {
		// When CPUs are saturated, every wait that this host's work ends is a queue
		// for them, wherever the request waits. A wait that a timer ends is not.
		m.Resources[at].Queue = m.Response * (1 - p.Waits().Share(callstack.SleepWait, callstack.EventWait))
	}
	return m
}

// others returns how many of the busy CPUs serve no request, because other programs use them.
func (c CPU) others(busy float64) float64 {
	if !(busy > c.Used()) {
		return 0
	}
	return busy - c.Used()
}

func named(format string, n float64) string {
	cpus := notation.Short(n) + " CPUs"
	if cpus == "1 CPUs" {
		cpus = "1 CPU"
	}
	return fmt.Sprintf(format, cpus)
}

// response is the mean request's time in seconds as the load measured it, because a
// client's think time adds to that; otherwise the trace's. Times are given as shares
// of it.
func (p *Set) response() float64 {
	if s := p.Load().Service; s > 0 {
		return s / 1e9
	}
	if mean := p.Waits().MeanNS(); mean > 0 {
		return mean / 1e9
	}
	return 1 // a unit: shares are known even so
}

// known returns the CPUs that the service, its children, the generator, the database and other
// peers use, as far as they are known.
func (c CPU) known() float64 {
	sum := 0.0
	for _, one := range []float64{c.Target, c.Children, c.Generator, c.Database, c.Peers} {
		if one > 0 {
			sum += one
		}
	}
	return sum
}

// relativeError returns the standard error of a share of n observations, as a part of the share; 0
// where there are none.
func relativeError(share, n float64) float64 {
	if !(share > 0 && n > 0) {
		return 0
	}
	return math.Sqrt(max(0, 1-share) / (share * n))
}

// TimeError returns the standard error of a share of request time, 0 to 1, as a part of it: of the
// mean over the requests that are whole in traces. What part a request spends varies between
// requests by no more than share*(1-share) (Bhatia and Davis, American Mathematical Monthly
// 107(4), 2000). 0 without traces.
func (p *Set) TimeError(share float64) float64 {
	if !p.Traced() {
		return 0
	}
	return relativeError(share, float64(p.Anatomy.Requests))
}

// CPUError returns the standard error of a share of the service's CPU, 0 to 1, as a part of it: that
// of a part of the profile's samples. 0 without a profile.
func (p *Set) CPUError(share float64) float64 {
	use, err := p.Use()
	if err != nil {
		return 0
	}
	return relativeError(share, float64(use.Samples))
}

// Waited bounds the gain of removing a wait with a share of request time, 0 to 1.
// Throughput can grow only into CPUs that are idle or that other programs used.
func (p *Set) Waited(share float64) laws.Gain { return p.delay(share, false) }

// Elsewhere bounds the gain of removing a wait that does not depend on this host's CPUs,
// such as for a timer or a remote response.
func (p *Set) Elsewhere(share float64) laws.Gain { return p.delay(share, true) }

// Polled is Elsewhere for a wait that also costs CPU: a part of the service's, 0 to 1,
// which is saved too.
func (p *Set) Polled(share, cpu float64) laws.Gain {
	m := p.Model(true)
	cut := laws.Cut{Time: share * m.Response, Busy: map[string]float64{}, Error: p.TimeError(share)}
	for _, r := range m.Resources {
		cut.Busy[r.Name] = cpu * math.Max(0, p.Own())
	}
	return m.Gain(cut)
}

func (p *Set) delay(share float64, own bool) laws.Gain {
	m, c := p.Model(own), p.CPU()
	if !own && c.Saturated() && !c.Full() {
		// Without the wait the load needs more CPU, and the scheduler divides the CPUs fairly.
		for i := range m.Resources {
			if r := &m.Resources[i]; r.Name == named(hostCPUs, c.CPUs) {
				r.Servers = math.Max(r.Servers, fairShare*c.CPUs)
			}
		}
	}
	return m.Gain(laws.Cut{Time: share * m.Response, Error: p.TimeError(share)})
}

// Freed bounds the gain of removing a wait that has a share of request time and occupies
// CPUs: numbers of the service's, and of the host's in all.
func (p *Set) Freed(share, own, host float64) laws.Gain {
	m, c := p.Model(false), p.CPU()
	if !c.Saturated() && host > 0 && c.Busy > 0 {
		// What is left of a request queues less for the CPUs, in proportion to what is free.
		share += (1 - share) * p.queued() * math.Min(1, host/c.Busy)
	}
	return m.Gain(laws.Cut{Time: share * m.Response, Error: p.TimeError(share),
		Busy: map[string]float64{named(targetCPUs, c.Limit): own, named(hostCPUs, c.CPUs): host}})
}

// still are waits that no CPU shortens.
var still = []callstack.Wait{callstack.SleepWait, callstack.SyncWait, callstack.EventWait}

// withinComputing bounds a gain of CPU on a host that other programs fill: requests of a closed loop get shorter by no more than they
// compute, or wait for who computes. Who answers a call may be on this host, and wait for a CPU as well.
func (p *Set) withinComputing(g laws.Gain) laws.Gain {
	c := p.CPU()
	if !c.Saturated() || c.Full() || p.Load().Open || !p.Traced() {
		return g
	}
	share, w := 1.0, p.Waits()
	for _, kind := range still {
		for _, site := range w.Sites(kind) {
			share -= site.Share * (1 - p.OwnPart(site))
		}
	}
	most := laws.Amdahl(max(0, share))
	g.Factor, g.Low, g.High = min(g.Factor, most), min(g.Low, most), min(g.High, most)
	return g
}

// Untraced returns the difference between the load's mean request and the mean of those
// that are complete in traces, in ns. A trace cuts a request with a probability
// proportional to its length (length-biased sampling, the inspection paradox), so the
// longest are missing. 0 on saturated CPUs: there the generator waits for a CPU too,
// and measures requests as longer.
func (p *Set) Untraced() float64 {
	if !p.Traced() || p.Anatomy.Cut == 0 || p.CPU().Saturated() {
		return 0
	}
	return math.Max(0, p.Load().Service-p.Waits().MeanNS())
}

// queued returns the part of request time queued for a CPU, 0 to 1, by requests and
// by goroutines that they wait for.
func (p *Set) queued() float64 {
	w, sum := p.Waits(), 0.0
	for _, kind := range w.Kinds() {
		for _, site := range w.Sites(kind) {
			if kind == callstack.Queued {
				sum += site.Share
			} else {
				sum += site.Share * p.ReadyPart(site)
			}
		}
	}
	return math.Min(1, sum)
}

// Work is some of the service's CPU.
type Work struct {
	// Share of the service's CPU, 0 to 1.
	Share float64
	// Roles are the domains of its samples, or Function is on their stacks. They select
	// the samples that run inside a serial resource; if they select more than Share, the
	// result is scaled down to it. Zero values select nothing.
	Roles    callstack.Role
	Function string
	// Doing narrows what Function finds to samples with one of these roles
	// anywhere on their stacks; 0 takes all.
	Doing callstack.Role
}

// selects reports whether a sample is of the work.
func (w Work) selects(s usage.Booked) bool {
	return s.Domain.Has(w.Roles) || w.Function != "" && on(s.Stack, w.Function) && (w.Doing == 0 || s.Roles.Has(w.Doing))
}

// ofRequests returns the part of requests' running time that some work takes, 0 to 1: what goroutines do that serve none shortens no
// request while CPUs are idle.
func (p *Set) ofRequests(w Work) float64 {
	use, err := p.Use()
	if err != nil {
		return w.Share
	}
	whole, all := use.Part(w.selects), 1-use.Part(use.Apart)
	if !(whole > 0 && all > 0) {
		return w.Share
	}
	apart := use.Part(func(s usage.Booked) bool { return use.Apart(s) && w.selects(s) })
	return math.Min(1, w.Share*(1-apart/whole)/all)
}

// Ran bounds what removing work could gain. It frees CPUs, shortens the requests
// that do it, and frees the goroutine or lock that it runs inside. Where requests
// queue for that one, removing the work gains its part of it, however idle the CPUs
// are.
func (p *Set) Ran(w Work) laws.Gain {
	m, c := p.Model(false), p.CPU()
	cut := laws.Cut{Busy: map[string]float64{}, Error: p.CPUError(w.Share)}
	for _, r := range m.Resources {
		cut.Busy[r.Name] = w.Share * p.Own()
	}
	if !c.Saturated() {
		cut.Time = w.Share * m.Response
		if p.Traced() {
			cut.Time = p.ofRequests(w) * m.Response * p.Waits().OnCPU() * p.awake()
		}
	}
	for _, s := range p.serials() {
		if part := s.part(p, w); part > 0 {
			m.Resources = append(m.Resources, s.Resource)
			cut.Busy[s.Name] = part * s.Busy
		}
	}
	return p.withinComputing(m.Gain(cut))
}

// Alone returns the gain that removing a share of the service's CPU would have on a host
// without other programs, where CPUs bound the service. CPU that they take bounds the
// gain on this host, not how sick the service is. 0 where CPUs are idle.
func (p *Set) Alone(share float64) float64 {
	if !p.CPU().Saturated() {
		return 0
	}
	// A share of 1 would promise infinity; profiles contain nothing but the cause
	// now and then.
	return laws.Amdahl(min(0.99, share))
}

// Lifted returns the gain of lifting a limit of the target's own; +Inf if none is reached.
// Lifting it is the smaller change, so saving CPU does not rank above it.
func (p *Set) Lifted() float64 {
	least := math.Inf(1)
	for _, gain := range []float64{p.CPU().Room(), p.Stops().Gain} {
		if gain >= leastRoom {
			least = math.Min(least, gain)
		}
	}
	return least
}

// WaitGain is the factor of Waited.
func (p *Set) WaitGain(share float64) float64 { return p.Waited(share).Factor }

// OutsideGain is the factor of Elsewhere.
func (p *Set) OutsideGain(share float64) float64 { return p.Elsewhere(share).Factor }

// CPUGain is the factor of Ran, for work known only by its share of the service's CPU.
func (p *Set) CPUGain(share float64) float64 { return p.Ran(Work{Share: share}).Factor }
