package wait

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
)

// Channel finds queues before too few consumers and limits on concurrency that
// are set too low. The two look alike to the waiter; who ends the wait tells
// them apart.
var Channel = diagnose.Analyzer{
	Name:  "channel",
	Stage: diagnose.Wait,
	Doc: "Groups channel and select waits by place, from 20 % of request time or half of the tail's extra time. " +
		"Where another request ends the wait (it releases a slot) or a semaphore's Acquire is on the stack, the " +
		"channel limits concurrency; where a consumer's goroutine does, it is a queue before too few consumers. " +
		"Waits for goroutines that the request itself started are neither.",
	Causes: []diagnose.Cause{{
		ID:     "channel-bottleneck",
		Title:  "Requests wait for a channel's few consumers",
		Doc:    "Requests are blocked on one channel that one or few goroutines serve.",
		Remedy: "More consumers, batches per hand-over, or no hand-over at all; a buffer helps only against bursts.",
	}, {
		ID:          "concurrency-limit",
		Title:       "Requests wait for a slot of a concurrency limit",
		Doc:         "Requests wait at a semaphore, a client's pool or a channel used as one, while CPUs are idle.",
		Remedy:      "Size the limit by Little's law: the rate wanted times how long a slot is held.",
		FollowsFrom: []string{"db-slow-query", "db-lock-wait", "db-n-plus-one", "db-pool-churn", "db-pool-wait", "downstream-slow", "sleep"},
	}},
	Needs: []diagnose.Need{diagnose.NeedAnatomy},
	Run:   runChannel,
}

func runChannel(p *diagnose.Pass) ([]diagnose.Finding, error) {
	w := p.Waits()
	var queues, limits []diagnose.Site
	limits = append(limits, w.Sites(callstack.SemaphoreW)...)
	for _, s := range w.Sites(callstack.ChannelWait) {
		switch classify(p, s) {
		case queue:
			queues = append(queues, s)
		case limit:
			limits = append(limits, s)
		case ownWork:
			if s.Share >= leastShare {
				p.Reject("channel-bottleneck", "requests wait %s of their time at %s, for goroutines that they started themselves", diagnose.Percent(s.Share), diagnose.At(s.Place))
			}
		}
	}
	var found []diagnose.Finding
	for _, s := range diagnose.ByOwner(queues) {
		if v, ok := judge(p, s, serial); ok {
			found = append(found, bottleneck(p, s, v))
		}
	}
	for _, s := range diagnose.ByOwner(limits) {
		kind := queueing
		if slots(p, s) <= p.CPU().CPUs {
			kind = serial // no more of them than CPUs: it can not be the CPUs' queue
		}
		if v, ok := judge(p, s, kind); ok {
			found = append(found, limited(p, s, v))
		}
	}
	return found, nil
}

// use is what a channel is used for.
type use int

const (
	queue use = iota
	limit
	ownWork
)

// classify tells a queue from a limit. Without a waker the profiles decide: a
// goroutine outside any request that receives in the user's code is a consumer;
// a blocked send without one is a slot being taken.
func classify(p *diagnose.Pass, s diagnose.Site) use {
	if waker := s.Part.Waker; len(waker) > 0 {
		waiting := callstack.Enclosing(s.Place.Function)
		last := waker[len(waker)-1].Function
		switch {
		case p.Stacks.Serves(waker):
			return limit
		case last != callstack.Enclosing(last) && onStack(s.Part.Stack, callstack.Enclosing(last)):
			return ownWork // a closure that a function of this request started
		case callstack.Enclosing(place(p, waker)) == waiting:
			return limit
		}
		return queue
	}
	if callstack.Channel(s.Part.Stack) == callstack.Sending && !consumed(p) {
		return limit
	}
	if callstack.Channel(s.Part.Stack) != callstack.Sending && p.Anatomy.Spawned >= 1 {
		return ownWork
	}
	return queue
}

func place(p *diagnose.Pass, stack []record.Frame) string {
	f, _ := p.Stacks.Place(stack)
	return f.Function
}

func onStack(stack []record.Frame, enclosing string) bool {
	for _, f := range stack {
		if callstack.Enclosing(f.Function) == enclosing {
			return true
		}
	}
	return false
}

// consumed reports whether the block or CPU profile shows a goroutine outside
// any request that receives in the user's code. It is true when neither profile
// exists: the commoner use of a channel is assumed then.
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

func receives(stack []record.Frame) bool {
	for _, f := range stack {
		if strings.HasPrefix(f.Function, "runtime.chanrecv") || strings.HasPrefix(f.Function, "runtime.selectgo") {
			return true
		}
	}
	return false
}

func bottleneck(p *diagnose.Pass, s diagnose.Site, v verdict) diagnose.Finding {
	if s.Part.Waker == nil && v.confidence == record.High {
		v.confidence = record.Medium // who serves the channel was not seen
	}
	f := v.finding(p, "channel-bottleneck", s)
	doing := "at a channel"
	switch callstack.Channel(s.Part.Stack) {
	case callstack.Sending:
		doing = "to hand over on a channel"
	case callstack.Receiving:
		doing = "to receive from a channel"
	}
	consumer := "whoever serves this channel"
	if at, ok := p.Stacks.Place(s.Part.Waker); ok {
		consumer = callstack.Short(at.Function)
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, 1, diagnose.Ratio, "the waits are ended by %s (%s)", consumer, diagnose.At(at)))
	}
	f.Title = fmt.Sprintf("%s %s at %s", v.requests(), doing, diagnose.At(s.Place))
	f.Remedy = fmt.Sprintf("Start more goroutines of %s, or let it take several items at a time; if it only guards state, use a mutex or shard it.", consumer)
	return f
}

// slots estimates how many requests are past the limit at a time, by Little's
// law: the rate times the time a request is not waiting for it.
func slots(p *diagnose.Pass, s diagnose.Site) float64 {
	return p.Load().Rate * max(0, p.Waits().MeanNS()-s.NS) / 1e9
}

func limited(p *diagnose.Pass, s diagnose.Site, v verdict) diagnose.Finding {
	f := v.finding(p, "concurrency-limit", s)
	f.Title = fmt.Sprintf("%s for a slot of a concurrency limit at %s", v.requests(), diagnose.At(s.Place))
	inside := slots(p, s)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, inside, diagnose.Ratio,
		"by Little's law about %.1f requests are past the limit at a time (%.0f/s, %s each)", inside, p.Load().Rate, diagnose.Span(max(0, p.Waits().MeanNS()-s.NS))))
	f.Remedy = "Raise the limit"
	if wanted := inside * v.gain; wanted > inside && inside > 0 {
		f.Remedy += fmt.Sprintf(" from about %.0f to about %.0f (Little's law at the rate that the idle CPUs would carry)", max(1, inside), max(2, wanted))
	}
	f.Remedy += ", and hold a slot only for the part that needs it."
	return f
}
