package wait

import (
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/waitgain"
)

const (
	// leastOutside is the part of a limit's wait in which the holders of its slots must wait for something outside
	// of this host's CPUs for the CPUs not to be what lengthens it.
	leastOutside = 0.5
	// mostOne: slots are whole, and all are taken while requests wait, so that fewer than this are one.
	mostOne = 1.5
)

// nature returns what busy CPUs mean for the wait for a slot. Where its holders wait for a timer or another
// service, they hold it no longer on busy CPUs. No more slots than CPUs cannot be the queue for the CPUs. Otherwise a
// limit bounds the service only while CPUs are idle.
func nature(p *diagnose.Pass, s waits.Site) waitgain.Nature {
	if p.HeldOutside(s) >= leastOutside {
		return waitgain.Outside
	}
	if _, _, own := p.OwnSlots(s.Part); !own && slots(p, s) <= p.CPU().CPUs {
		return waitgain.Serial
	}
	return waitgain.Queueing
}

// slots returns how many requests are past the limit at a time: as many as there
// are workers, which are always busy, or else by Little's law the rate times the
// time that a request does not wait for the limit.
func slots(p *diagnose.Pass, s waits.Site) float64 {
	if e := p.Ender(s.Part); e.By == waits.ByWorker && e.Workers > 0 {
		return e.Workers
	}
	return p.Load().Rate * max(0, p.Waits().MeanNS()-s.NS) / 1e9
}

// beforeOwn returns the part of a wait for a request's own goroutines that a higher limit could save, 0 to 1: however
// many run at a time, they take as long as the longest, and that is at least the mean of all.
func beforeOwn(p *diagnose.Pass, s waits.Site) float64 {
	here, started, own := p.OwnSlots(s.Part)
	if !own || !(s.Share > 0) {
		return 1
	}
	return min(1, (1-here/started)/s.Share)
}

// limited makes the finding of a limit. Its remedy is a number, from Little's law.
func limited(p *diagnose.Pass, s waits.Site, v waitgain.Verdict) diagnose.Finding {
	if here, started, own := p.OwnSlots(s.Part); own {
		return limitedOwn(p, s, v, here, started)
	}
	f := v.Finding(p, "concurrency-limit", s)
	f.Title = fmt.Sprintf("%s for a slot of a concurrency limit at %s", v.Requests(), diagnose.At(s.Place))
	inside, rate := slots(p, s), p.Load().Rate
	e := p.Ender(s.Part)
	who, most := "the holder of the slot", ""
	if workers := e.By == waits.ByWorker && e.Workers > 0; workers {
		who = "the goroutine that serves them"
		f.Title = fmt.Sprintf("%s at %s for %s of %s", v.Requests(), diagnose.At(s.Place), oneOf(inside), callstack.Short(e.Entry))
		crowd(p, &f, s, e)
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, inside/max(rate, 1e-9)*1e9, diagnose.Nanosec,
			"each of them takes %s per request (%s of them at %s requests/s: utilisation law)",
			diagnose.Span(inside/max(rate, 1e-9)*1e9), diagnose.Number(inside), diagnose.Rate(rate)))
	} else {
		if v.Of == diagnose.OfRequest && inside < mostOne && rate*s.NS/1e9 > waits.Crowd {
			f.Title = fmt.Sprintf("%s at %s, where a limit of 1 makes them serial", v.Requests(), diagnose.At(s.Place))
		}
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, inside, diagnose.Count,
			"by Little's law at most about %s requests hold a slot at any time (%s/s, and %s each besides this wait)",
			diagnose.Times(inside), diagnose.Rate(rate), diagnose.Span(max(0, p.Waits().MeanNS()-s.NS))))
		most = "at most "
	}
	meanwhile(p, &f, s, who)
	f.Remedy = "Raise the limit"
	if callstack.Limited(s.Part.Stack) {
		f.Title = fmt.Sprintf("%s for one of the connections that an HTTP client may open to a host, at %s", v.Requests(),
			diagnose.At(s.Place))
		f.Remedy = "Raise MaxConnsPerHost of the client's Transport"
	}
	if from, to := diagnose.Number(max(1, inside)), diagnose.Number(max(2, inside*v.Gain)); inside > 0 && v.Gain > 1 && from != to {
		f.Remedy += fmt.Sprintf(" from %sabout %s to about %s (Little's law at the rate that the idle CPUs would carry)", most, from, to)
	}
	if callstack.Limited(s.Part.Stack) {
		f.Remedy += ", as far as the other end can serve that many, and read responses to the end promptly."
	} else {
		f.Remedy += ", and hold a slot only for the work that needs it."
	}
	if _, kind, part := p.Meanwhile(s); kind.Call() && part >= mostlyCalls {
		// What holds the slot takes as long as the call: without it there is no queue either.
		f.Remedy += fmt.Sprintf(" %s of that time goes into a call: if its response is the same for many requests, cache it, "+
			"which saves the call and the queue for it.", diagnose.Percent(part))
	}
	p.Queue(f, s)
	return f
}

// mostlyCalls is the part of a queue's time in which who holds the slot waits for a call, from which the call makes the queue.
const mostlyCalls = 0.5

// oneOf names one of the goroutines that serve a queue.
func oneOf(workers float64) string {
	if workers < mostOne {
		return "the one goroutine"
	}
	return fmt.Sprintf("one of the %s goroutines", diagnose.Number(workers))
}

// limitedOwn makes the finding of a limit on the goroutines that a request starts for itself. Without it they
// would all run at a time, and the request would not wait to start them.
func limitedOwn(p *diagnose.Pass, s waits.Site, v waitgain.Verdict, here, started float64) diagnose.Finding {
	f, at := v.Finding(p, "concurrency-limit", s), diagnose.At(s.Place)
	limit := diagnose.Number(here)
	f.Title = fmt.Sprintf("%s to start goroutines of their own at %s, where a limit of %s lets them run %s at a time", v.Requests(), at,
		limit, limit)
	if here < mostOne {
		f.Title = fmt.Sprintf("%s at %s, where a limit of 1 makes their own goroutines serial", v.Requests(), at)
	}
	p.Reached("concurrency-limit", nil) // whatever the goroutines wait for, they wait in turn
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, started, diagnose.Count,
		"a request starts %s here and waits %s until one finishes", diagnose.Counted(started, "goroutine", "goroutines"),
		diagnose.Counted(s.Part.Times, "time", "times")))
	meanwhile(p, &f, s, "the goroutine")
	f.Remedy = fmt.Sprintf("Raise the limit at %s from %s to %s if the goroutines do not need each other's results (to less if the "+
		"service they call cannot serve as many). If they do, the limit is right, and one call for all of them saves the time.", at, limit,
		diagnose.Number(max(here+1, started)))
	return f
}
