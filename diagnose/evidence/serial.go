package evidence

import (
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/series"
)

// leastBehind is the least share of request time spent in a queue for what it leads
// to to count as a resource: below it the queue comes and goes.
const leastBehind = 0.2

// serial is a goroutine or a lock that requests queue for. It is always busy, so it
// bounds the rate at servers over the time that each request takes of it
// (utilisation law).
type serial struct {
	laws.Resource
	inside func(usage.Booked) bool // whether a CPU sample was taken inside it
	// runs is the part of its time in which it runs, 0 to 1; the rest it waits.
	runs float64
}

// part returns the part of a serial resource's time that some work takes, 0 to 1.
func (s serial) part(p *Set, w Work) float64 {
	use, err := p.Use()
	if err != nil || w.Roles == 0 && w.Function == "" {
		return 0
	}
	all := use.Part(s.inside)
	if all == 0 {
		return 0
	}
	of := use.Part(func(u usage.Booked) bool { return s.inside(u) && w.selects(u) })
	if whole := use.Part(w.selects); w.Share < whole {
		of *= w.Share / whole // only a part of what the function does is removed
	}
	return s.runs * of / all
}

// serials returns the goroutines and locks that requests queue for.
func (p *Set) serials() []serial { return p.serial.Get(p.readSerials) }

func (p *Set) readSerials() (list []serial) {
	queues := []callstack.Wait{callstack.ChannelWait, callstack.JoinWait, callstack.LockWait, callstack.ReadLockWait, callstack.LogWait}
	for _, kind := range queues {
		for _, site := range p.Waits().Sites(kind) {
			if one, ok := p.serialAt(site); ok {
				list = append(list, one)
			}
		}
	}
	return list
}

// serialAt turns a site into a resource if, by Little's law, more requests wait
// there than it has servers. It is then always busy, so its demand is known without
// measuring its service time.
func (p *Set) serialAt(site waits.Site) (s serial, ok bool) {
	if site.Share < leastBehind || site.Via != "" {
		return s, false
	}
	s.Servers, s.Queue = 1, site.Share*p.response()
	switch e := p.Ender(site.Part); {
	case site.Wait == callstack.LockWait || site.Wait == callstack.ReadLockWait ||
		site.Wait == callstack.LogWait && site.Part.State == breakdown.StateLock:
		holders := p.holders(site)
		s.Name = "the lock at " + callstack.At(site.Place)
		s.inside = func(u usage.Booked) bool {
			return slices.ContainsFunc(u.Stack, func(f code.Frame) bool { return slices.Contains(holders, f.Function) })
		}
	case e.By == waits.ByWorker && !p.Event(site.Part):
		s.Servers = max(1, e.Workers)
		s.Name = "the goroutine of " + callstack.Short(e.Entry)
		if e.Workers > 1 {
			s.Name = fmt.Sprintf("the %s goroutines of %s", notation.Short(e.Workers), callstack.Short(e.Entry))
		}
		s.inside = func(u usage.Booked) bool { return p.Began(u.Stack) == e.Entry }
	default:
		return s, false
	}
	// Little's law: more requests wait than it has servers, so it is never idle.
	if p.Load().Rate*site.NS/1e9 <= waits.Crowd*s.Servers {
		return s, false
	}
	s.Busy, s.runs = s.Servers, p.OwnPart(site)
	return s, s.runs > 0
}

// holders returns the functions that hold a lock: those that ran while requests
// waited, or else the one that unlocks it.
func (p *Set) holders(site waits.Site) []string {
	holders := p.Holders(site)
	if at, ok := p.Stacks.Place(site.Part.Waker); ok && len(holders) == 0 {
		holders = []string{at.Function}
	}
	return holders
}

// Serialised bounds the gain at a place where requests queue for one goroutine or lock that
// is always busy, if all its work for them is removed and its CPU time freed. ok is false
// if the place is not such a resource.
func (p *Set) Serialised(site waits.Site) (g laws.Gain, ok bool) {
	s, ok := p.serialAt(site)
	if !ok {
		return g, false
	}
	m := p.Model(true)
	cut := laws.Cut{Time: site.Share * m.Response, Busy: map[string]float64{}, Error: p.TimeError(site.Share)}
	if rate := p.Load().Rate; rate > 0 && inTurn(site.Part) {
		cut.Time += s.runs * s.Servers / rate // requests hold it in turn, each for its own time
	}
	if use, err := p.Use(); err == nil {
		for _, r := range m.Resources {
			cut.Busy[r.Name] = use.Part(s.inside) * p.Own()
		}
	}
	return m.Gain(cut), true
}

// Doing returns the part of the time of a site's queue that a function accounts for, 0 to
// 1; 0 if requests do not queue for a single goroutine or lock there.
func (p *Set) Doing(site waits.Site, function string) float64 {
	s, ok := p.serialAt(site)
	if !ok || function == "" {
		return 0
	}
	return s.part(p, Work{Share: 1, Function: function})
}

// inTurn reports whether requests themselves hold what other requests wait for: at least half of
// the wait is behind another request.
func inTurn(part breakdown.Part) bool {
	var all, requests int64
	for _, c := range part.Behind {
		all += c.NS
		if len(c.Links) > 0 && c.Links[0].Request {
			requests += c.NS
		}
	}
	return all > 0 && 2*requests >= all
}

// Under describes the work done while requests wait for a lock; see usage.Table. more
// are functions known to hold it, in addition to those in the trace.
func (p *Set) Under(site waits.Site, more ...string) string {
	use, err := p.Use()
	if err != nil {
		return ""
	}
	return use.Under(append(p.Holders(site), more...))
}

// Alongside returns the goroutines that serve one request after another, as resources that
// bound the rate whatever else gets cheaper. A goroutine's demand is its own time: running,
// or in the kernel (fsync). Waiting for a CPU, a lock, a channel or a response depends on
// other load and is not demand; nor, on saturated CPUs, is what system calls take beyond the
// quickest of them. So the bound errs upwards. It does not hold for a goroutine
// that serves batches, which grow with the rate.
func (p *Set) Alongside() (list []laws.Resource) {
	if p.Anatomy == nil {
		return nil
	}
	for _, s := range p.Anatomy.Serial {
		if s.Requests < 2*s.Goroutines {
			continue
		}
		n := float64(s.Goroutines)
		if busy := n * (s.OnCPU + p.inKernel(s)); busy > 0 {
			name := "the goroutine of "
			if s.Goroutines > 1 {
				name = fmt.Sprintf("the %d goroutines of ", s.Goroutines)
			}
			list = append(list, laws.Resource{Name: name + callstack.Short(s.Goroutine), Servers: n, Busy: busy, Counted: true})
		}
	}
	return list
}

// inKernel returns the part of a goroutine's time, 0 to 1, in which the kernel works for it.
func (p *Set) inKernel(s breakdown.Serial) float64 {
	switch saturated := p.CPU().Saturated(); {
	case s.Kernel > 0 && saturated:
		return s.KernelAlone
	case s.Kernel > 0:
		return s.Kernel
	default:
		waits := math.Max(0, s.Utilization-s.OnCPU-s.Queued) * p.callsPart(s.Goroutine)
		if saturated {
			waits -= p.Load().Rate * p.wakeUp() // it comes back from the kernel once per request at least
		}
		return waits
	}
}

// callsPart returns which part of the waits of the goroutines that began in a function, 0 to
// 1, is for system calls: not for a CPU, and not for other goroutines or servers. It stands in
// for calls that the bundle does not count.
func (p *Set) callsPart(entry string) float64 {
	behind, _ := p.Path().Behind(entry)
	var kernel, all float64
	for _, n := range behind.Nodes {
		switch n.State {
		case breakdown.StateRunning, breakdown.StateRunnable, breakdown.StateAssist, breakdown.StateSTW, breakdown.StateStoppedByCall:
			continue
		case breakdown.StateSyscall:
			kernel += n.Share
		}
		all += n.Share
	}
	if all == 0 {
		return 0
	}
	return kernel / all
}

// wakeUp returns the mean time in seconds that a thread of the target spends in the kernel's
// run queue before it runs; 0 if unknown.
func (p *Set) wakeUp() float64 {
	stood, _ := p.Sum(series.ProcessRunDelay, "")
	gave, _ := p.Sum(series.ProcessVoluntary, "")
	lost, _ := p.Sum(series.ProcessInvoluntary, "")
	if !(gave+lost > 0) {
		return 0
	}
	return stood / (gave + lost) / 1e9
}

func on(stack []code.Frame, function string) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool { return f.Function == function })
}
