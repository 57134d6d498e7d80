package wait

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// Channel finds queues in front of too few consumers, and concurrency limits that
// are set too low. The two look alike to the request that waits; who ends the wait
// distinguishes them.
//
// A request that ends another's wait releases a slot. A goroutine of the service
// that ends it is a consumer, and Little's law says whether there are too few: if
// more requests wait than there are consumers, there is a queue. A goroutine that
// the request started is not a queue but works for it, and the wait counts as what that
// goroutine waits for.
var Channel = diagnose.Analyzer{
	Name:  "channel",
	Stage: diagnose.Wait,
	Doc: "Groups waits at channels, selects, conditions and WaitGroups by place, at least 20 % of request time or half of the " +
		"tail's extra time. If another request ends the wait (it releases a slot) or a semaphore's Acquire is on the stack, " +
		"concurrency is limited. If a goroutine that outlives requests ends it, and more requests wait than there are such " +
		"goroutines (by Little's law), it is a queue: one goroutine is a bottleneck, several that mostly wait themselves are " +
		"a limit. A wait for goroutines that the request started counts as whatever those wait for.",
	Causes: []diagnose.Cause{channelCause, limitCause},
	Needs:  []diagnose.Need{diagnose.NeedAnatomy},
	Run:    runChannel,
}

// runChannel sorts the sites by use and judges each use by its own rule: a queue
// for one goroutine limits the service by itself (Serial); of a limit see nature.
func runChannel(p *diagnose.Pass) ([]diagnose.Finding, error) {
	var queues, limits []waits.Site
	w := p.Waits()
	limits = append(limits, w.Sites(callstack.SemaphoreW)...)
	for _, kind := range []callstack.Wait{callstack.ChannelWait, callstack.JoinWait} {
		for _, s := range w.Sites(kind) {
			switch classify(p, s) {
			case queue:
				queues = append(queues, s)
			case limit:
				limits = append(limits, s)
			case ownWork:
				if s.Share >= waitgain.LeastShare {
					p.Reject("channel-bottleneck", "requests spend %s of their time waiting at %s, for goroutines "+
						"that work for them alone", diagnose.Percent(s.Share), diagnose.At(s.Place))
				}
			}
		}
	}
	var found []diagnose.Finding
	for _, s := range byServer(p, queues) {
		one, single := alone(p, s)
		queued := s
		if single {
			queued = s.Scaled(beforeOne(p, s, one))
		}
		ready := 0.0
		if single && one.Utilization-one.Queued < leastWorking {
			ready = readyOnSaturated(p, s)
		}
		v, ok := waitgain.Decide(p, queued.Scaled(1-ready), waitgain.Serial)
		if !ok {
			rejectReady(p, "channel-bottleneck", queued, ready, "the goroutine that serves them")
			continue
		}
		if single {
			found = append(found, servesAlone(p, s, one, v))
		} else {
			found = append(found, bottleneck(p, s, v))
		}
	}
	for _, s := range waits.ByOwner(limits) {
		queued, ready, kind := s.Scaled(min(beforeWorker(p, s), beforeOwn(p, s))), readyOnSaturated(p, s), nature(p, s)
		if kind == waitgain.Queueing && p.CPU().Saturated() {
			ready = p.OwnPart(s) // who holds one of more slots than there are CPUs competes for them when it runs, too
		}
		if v, ok := waitgain.Decide(p, queued.Scaled(1-ready), kind); ok {
			found = append(found, limited(p, queued, v))
		} else {
			rejectReady(p, "concurrency-limit", queued, ready, "who holds a slot")
		}
	}
	return found, nil
}

// leastWorking is the part of the time in which a goroutine must work, rather than wait for a CPU, for requests that queue for it to
// queue for its work: at less, a queue for one server is shorter than its service (M/M/1: U/(1-U)).
const leastWorking = 0.5

// readyOnSaturated returns the part of a wait, 0 to 1, in which who ends it is ready to run while the host's CPUs are saturated, by
// whomever. That part is the queue for the CPUs: neither more goroutines nor more slots shorten it.
func readyOnSaturated(p *diagnose.Pass, s waits.Site) float64 {
	if !p.CPU().Saturated() {
		return 0
	}
	return p.ReadyPart(s)
}

// rejectReady says of a wait that would count if who ends it did not wait for a CPU that it does.
func rejectReady(p *diagnose.Pass, cause string, s waits.Site, ready float64, who string) {
	if ready > 0 && s.Share >= waitgain.LeastShare {
		p.Reject(cause, "requests spend %s of their time waiting at %s, but for %s of that %s runs or waits for one of the CPUs, "+
			"which are saturated", diagnose.Percent(s.Share), diagnose.At(s.Place), diagnose.Percent(ready), who)
	}
}

// use is what a channel or condition is used for.
type use int

// The uses. other is none of these: an event, or waits about which nothing is
// known.
const (
	queue use = iota
	limit
	ownWork
	other
)

// classify distinguishes a queue from a limit by the trace's waker, and by the
// profiles if there is none. Workers that mostly wait themselves are a limit,
// because more of them would help without a CPU; thumb-workers compute,
// parcel-desk's wait.
func classify(p *diagnose.Pass, s waits.Site) use {
	if s.Via != "" {
		return ownWork
	}
	switch e := p.Ender(s.Part); e.By {
	case waits.ByNeighbor:
		if p.PartIn(s, callstack.ClientWait) >= mostlyLater {
			if s.Share >= waitgain.LeastShare {
				p.Reject("concurrency-limit", "requests spend %s of their time waiting at %s for what a later request brings, as their "+
					"caller intends", diagnose.Percent(s.Share), diagnose.At(s.Place))
			}
			return other
		}
		return limit
	case waits.ByOwn, waits.ByShared:
		return ownWork
	case waits.ByWorker:
		switch {
		case p.Event(s.Part):
			return other // an event, announced to all who wait for it
		case e.Workers >= 2 && waitsMostly(p, s):
			return limit
		case samePlace(p, s) && !e.Sent:
			return limit // goroutines of the same function take and return it
		}
		return queue
	}
	return unseen(p, s)
}

// mostlyLater is the part of a wait in which the goroutine of the request that ends it must still wait for its client for that
// request to come only meanwhile, such as a message for those who poll. Who holds a slot has it while others wait.
const mostlyLater = 0.5

// samePlace reports whether the goroutine that ends a wait is in the function that
// waits: it releases there what it took.
func samePlace(p *diagnose.Pass, s waits.Site) bool {
	at, ok := p.Stacks.Place(s.Part.Waker)
	return ok && callstack.Enclosing(at.Function) == callstack.Enclosing(s.Place.Function)
}

// waitsMostly reports whether the goroutines that end a site's waits themselves
// wait, rather than run, for at least half of the followed time.
func waitsMostly(p *diagnose.Pass, s waits.Site) bool {
	var all, waits int64
	for _, c := range s.Part.Behind {
		all += c.NS
		switch p.Stacks.Root(c) {
		case callstack.Busy, callstack.Queued, callstack.Collector, callstack.StopWait:
		default:
			waits += c.NS
		}
	}
	return all > 0 && 2*waits >= all
}

// unseen classifies a wait without a waker, by the profiles: a goroutine outside
// any request that receives in the user's code is a consumer; a blocked send
// without one takes a slot.
func unseen(p *diagnose.Pass, s waits.Site) use {
	if s.Wait == callstack.JoinWait {
		return other
	}
	if callstack.Channel(s.Part.Stack) == callstack.Sending && !consumed(p) {
		return limit
	}
	return queue
}

// consumed reports whether the block or CPU profile shows a goroutine outside any
// request that receives in the user's code. True if neither profile exists, because
// a consumer is the commoner use of a channel.
func consumed(p *diagnose.Pass) bool {
	seen := false
	for _, profile := range []struct{ typ, value string }{{"block", "delay"}, {"cpu", "cpu"}} {
		prof, err := p.Profile(profile.typ, profile.value)
		if err != nil {
			continue
		}
		seen = true
		for _, s := range prof.Samples {
			if receives(s.Stack) && p.Stacks.Innermost(s.Stack) >= 0 && !p.Stacks.Serves(s.Stack) {
				return true
			}
		}
	}
	return !seen
}

func receives(stack []code.Frame) bool {
	for _, f := range stack {
		if strings.HasPrefix(f.Function, "runtime.chanrecv") || strings.HasPrefix(f.Function, "runtime.selectgo") {
			return true
		}
	}
	return false
}

// bottleneck makes the finding of a queue for several goroutines, or for one that
// the trace did not follow.
func bottleneck(p *diagnose.Pass, s waits.Site, v waitgain.Verdict) diagnose.Finding {
	e := p.Ender(s.Part)
	if s.Part.Waker == nil && v.Confidence == findings.High {
		v.Confidence = findings.Medium // who serves the channel was not seen
	}
	f := v.Finding(p, "channel-bottleneck", s)
	doing := "at a channel"
	switch callstack.Channel(s.Part.Stack) {
	case callstack.Sending:
		doing = "to send on a channel"
	case callstack.Receiving:
		doing = "to receive from a channel"
	}
	consumer := "whoever serves this channel"
	if at, ok := p.Stacks.Place(s.Part.Waker); ok {
		consumer = callstack.Short(at.Function)
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, 1, diagnose.Ratio,
			"%s ends the waits (%s)", consumer, diagnose.At(at)))
	}
	crowd(p, &f, s, e)
	meanwhile(p, &f, s, "the goroutine that serves them")
	f.Title = fmt.Sprintf("%s %s at %s", v.Requests(), doing, diagnose.At(s.Place))
	served(p, &f, e)
	f.Remedy = fmt.Sprintf("Start more goroutines of %s, or let it take several items at a time; if it only "+
		"guards state, use a mutex or shard it.", consumer)
	if s.Part.Waker == nil && callstack.Channel(s.Part.Stack) != callstack.Sending {
		f.Confidence = findings.Low
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, s.Times, diagnose.Count,
			"no trace shows what ends this wait: it may be a queue, or an event that requests are meant to wait for"))
		f.Remedy = fmt.Sprintf("Find out what ends the wait at %s. %s If requests wait for an event there, as in a long poll, nothing is "+
			"wrong.", diagnose.At(s.Place), f.Remedy)
	}
	p.Queue(f, s)
	return f
}

// served names the goroutine that serves a queue and the function in which it
// spends its CPU, which is to be made faster or divided among goroutines.
func served(p *diagnose.Pass, f *diagnose.Finding, e waits.Ender) {
	if e.By != waits.ByWorker || e.Entry == "" {
		return
	}
	use, err := p.Use()
	if err != nil {
		return
	}
	share, most := use.Began(e.Entry)
	if share < leastServed || most.Place.Function == "" {
		return
	}
	who := callstack.Short(e.Entry)
	f.Title += fmt.Sprintf(", for %s, which takes %s of the CPU", who, diagnose.Percent(share))
	f.Where.Detail = fmt.Sprintf("%s spends %s of its CPU in %s (%s)", who, diagnose.Percent(most.Share/share),
		callstack.Short(most.Place.Function), diagnose.At(most.Place))
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, share, diagnose.Ratio, "%s", f.Where.Detail))
}

// leastServed is the least part of the service's CPU for which a queue's server is
// named with it.
const leastServed = 0.1

// crowd adds how many requests wait for how many goroutines.
func crowd(p *diagnose.Pass, f *diagnose.Finding, s waits.Site, e waits.Ender) {
	if e.By != waits.ByWorker || !(e.Workers > 0) {
		return
	}
	waiting := p.Load().Rate * s.NS / 1e9
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, e.Workers, diagnose.Count,
		"at any time about %s for %s started in %s", diagnose.Counted(waiting, "request waits", "requests wait"),
		diagnose.Counted(e.Workers, "goroutine", "goroutines"), callstack.Short(e.Entry)))
}

// meanwhile adds what the goroutines that end a wait did while it lasted.
func meanwhile(p *diagnose.Pass, f *diagnose.Finding, s waits.Site, who string) {
	if text, _, part := p.Meanwhile(s); text != "" {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, part, diagnose.Ratio,
			"during the wait, %s %s (%s of the wait)", who, text, diagnose.Percent(part)))
	}
}

// beforeWorker returns the part of a wait that is queueing, 0 to 1, if workers do what
// the request waits for. The rest is their own time for it, workers over rate
// (utilisation law), which remains however many workers there are. 1 if the wait is for
// a slot.
func beforeWorker(p *diagnose.Pass, s waits.Site) float64 {
	e, rate := p.Ender(s.Part), p.Load().Rate
	if s.Wait == callstack.SemaphoreW || e.By != waits.ByWorker || !(e.Workers > 0) || !(rate > 0) || !(s.NS > 0) {
		return 1
	}
	return max(0, 1-max(0, e.Workers/rate*1e9-turn(p, s))/s.NS)
}

// beforeOne returns the part of a wait for one goroutine that is queueing, 0 to 1. The
// time that the goroutine itself waits on behalf of a request, such as for a response,
// remains however many goroutines there are; its running time can be reduced.
func beforeOne(p *diagnose.Pass, s waits.Site, one breakdown.Serial) float64 {
	if !(s.NS > 0) {
		return 1
	}
	return max(0, 1-max(0, (1-p.OwnPart(s))*float64(one.ServiceNS)-turn(p, s))/s.NS)
}

// turn returns how long, in ns of the mean request, requests wait at other places for a site's
// workers to serve them: a request that hands over on one channel waits for its result on
// another, so the first wait is only queueing.
func turn(p *diagnose.Pass, s waits.Site) (ns float64) {
	entry, w := p.Ender(s.Part).Entry, p.Waits()
	for _, kind := range w.Kinds() {
		for _, other := range w.Sites(kind) {
			if other.Via == callstack.ChannelWait && other.By == entry {
				ns += other.NS
			}
		}
	}
	return ns
}
