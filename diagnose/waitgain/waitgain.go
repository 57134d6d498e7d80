// Package waitgain decides what a wait explains: whether it is long enough, in the
// mean or in the tail, to be reported, and what removing it could gain. Every
// analyzer of waits uses it, so that they agree on what matters.
package waitgain

import (
	"cmp"
	"fmt"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/findings"
)

const (
	// LeastShare is the part of the mean request: a fifth bounds the gain at 1.25,
	// and the waits of healthy services at one site stay well below it.
	LeastShare = 0.20
	// LeastNS per request: a wait below 100 µs is a hand-over between goroutines, even if
	// it is a large share of a short request.
	LeastNS = 100e3
	// LeastStopped is the part of the mean request that a stop of the world must take, however short it is: no answer
	// needs it, and it is no hand-over, so anything that a comparison can show counts; a tenth, as for instrumentation.
	LeastStopped = 0.10
	// LeastTail is the part of the time above the median that a site must explain.
	LeastTail = 0.50
	// LeastGapNS: scheduling and collection alone can make a tail exceed the median
	// by up to 5 ms.
	LeastGapNS = 5e6
	// Dominant is the part of the mean request at which most requests are at one
	// place, so that what they wait for is never idle even while CPUs are busy.
	Dominant = 0.50
)

// Verdict is how much a wait explains: Share (0 to 1) of Of, and Gain as a factor.
// The zero value explains nothing.
type Verdict struct {
	Share, Gain float64
	Of          string
	Confidence  findings.Confidence
	// GainOf, Then and AtLeast are as in findings.Finding.
	GainOf, Then string
	AtLeast      bool
	Low, High    float64
}

// Nature is what ends a wait. It decides what busy CPUs mean for the wait.
type Nature int

const (
	// Queueing: several requests can hold it at a time. On busy CPUs they hold it longer,
	// so the CPUs cause the queue.
	Queueing Nature = iota
	// Serial: one request holds it at a time, which limits a service even while CPUs are
	// idle.
	Serial
	// Held: as Serial, but whoever holds it waits for something else meanwhile. Without the queue each request still waits for that
	// itself, and uses the same CPU.
	Held
	// Stopping: one goroutine stops all others, whatever they do, and CPUs are idle meanwhile.
	Stopping
	// Outside: a timer or another service ends it, independent of the CPUs.
	Outside
)

// Decide returns the verdict on a wait; false if it is too short, both in the mean request
// and in the tail.
func Decide(p *diagnose.Pass, s waits.Site, kind Nature) (Verdict, bool) {
	serial, enough := kind == Serial || kind == Held || kind == Stopping, s.Share >= LeastShare && s.NS >= LeastNS
	if kind == Stopping {
		enough = s.Share >= LeastStopped
	}
	if enough {
		worth := p.Waited(s.Share)
		if kind == Outside || !p.CPU().Full() && (serial || p.Waits().Share(callstack.Queued) < evidence.LeastQueue) {
			worth = p.Elsewhere(s.Share)
		}
		if kind == Outside && p.Asks(s.Wait) {
			worth = p.Unasked(s.Share, 0)
		}
		if chain, ok := p.Serialised(s); ok && kind == Serial && (s.Share >= Dominant || !p.CPU().Full()) &&
			chain.Factor > worth.Factor {
			shared := worth.Factor
			worth = chain
			// What is done there may also go on elsewhere: it then takes the CPU that it takes.
			if shared > 1 {
				worth.Low, worth.High = min(cmp.Or(worth.Low, shared), shared), max(worth.High, worth.Factor)
			}
		}
		v := Verdict{Share: s.Share, Of: diagnose.OfRequest, Gain: worth.Factor, GainOf: worth.Of, Then: worth.Then,
			AtLeast: worth.AtLeast, Low: worth.Low, High: worth.High, Confidence: findings.High}
		if p.CPU().Saturated() {
			v.Confidence = findings.Medium
			if serial && s.Share >= Dominant {
				// The gain is at least the smallest that a comparison could
				// confirm.
				v.Gain = max(v.Gain, diagnose.MinGain)
			}
		}
		return v, true
	}
	w := p.Waits()
	if s.Tail >= LeastTail && w.GapNS() >= LeastGapNS &&
		2*float64(p.Anatomy.MedianNS) <= float64(p.Anatomy.TailNS) && !p.CPU().Saturated() {
		explained := s.TailNS / float64(p.Anatomy.TailNS)
		return Verdict{Share: s.Tail, Of: diagnose.OfTail, Gain: diagnose.Ceiling(explained), Confidence: InTime(p, s.Wait)}, true
	}
	return Verdict{}, false
}

// Finding makes the finding of a wait; the caller adds title, remedy and further
// evidence.
func (v Verdict) Finding(p *diagnose.Pass, cause string, s waits.Site) diagnose.Finding {
	f := diagnose.Finding{
		Cause: cause, Share: v.Share, ShareOf: v.Of, GainCeiling: v.Gain, GainOf: v.GainOf, Then: v.Then,
		GainAtLeast: v.AtLeast, GainLow: v.Low, GainHigh: v.High, Confidence: v.Confidence,
		Where: diagnose.WhereOf(s.Place),
	}
	if v.Of == diagnose.OfTail {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, s.TailNS, diagnose.Nanosec,
			"the slowest requests wait %s longer here than the median ones, out of %s that they take longer overall",
			diagnose.Span(s.TailNS), diagnose.Span(p.Waits().GapNS())))
	} else {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, s.NS, diagnose.Nanosec,
			"the mean request waits %s of its %s here%s", diagnose.Span(s.NS), diagnose.Span(p.Waits().MeanNS()), entered(s)))
	}
	if use := p.CPU().Use(); use == use {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, use, diagnose.Ratio,
			"meanwhile CPUs are %s busy", diagnose.Percent(min(1, use))))
	}
	if p.Asks(s.Wait) {
		f.Evidence = append(f.Evidence, p.BusyPeers()...)
	}
	return f
}

// entered says how often a request waits at a site. For the network it says
// nothing: reading an answer waits once per piece, so waits do not count calls. Nor does it for a
// stop of the world, which one request calls for and all wait for.
func entered(s waits.Site) string {
	switch s.Wait {
	case callstack.DatabaseWait, callstack.PrepareWait, callstack.HTTPWait, callstack.HTTPOpen,
		callstack.RPCWait, callstack.OwnServer, callstack.NetworkWait, callstack.ClientWait, callstack.StopWait:
		return ""
	}
	switch {
	case s.Times >= 1.5:
		return fmt.Sprintf(", in %s waits", notation.Whole(s.Times))
	case s.Times >= 0.95:
		return ", in one wait"
	case !(s.Times > 0):
		return "" // not counted
	}
	// Fewer waits than requests: one request in ten may wait five times.
	return ", in " + diagnose.PerRequest(s.Times, "a wait", "waits")
}

// Requests describes who waits.
func (v Verdict) Requests() string {
	if v.Of == diagnose.OfTail {
		return "Slow requests wait " + diagnose.Percent(v.Share) + " of their extra time"
	}
	return "Requests wait " + diagnose.Percent(v.Share) + " of their time"
}
