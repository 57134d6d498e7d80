package wait

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record"
)

const (
	// leastShare of the mean request: a fifth bounds the gain at 1.25, and the
	// waits of healthy services at one site stay well below it.
	leastShare = 0.20
	// leastNS per request: a wait below 100 µs is a hand-over between goroutines,
	// whatever its share of a request that does little.
	leastNS = 100e3
	// leastTail of the time above the median: the site that explains most of it.
	leastTail = 0.50
	// leastGapNS: tails that exceed the median by less than 5 ms are within what
	// scheduling and collection do to any service.
	leastGapNS = 5e6
	// dominant share of the mean request: most requests stand at this one place,
	// so what they wait for is never idle even while CPUs are busy.
	dominant = 0.50
)

// verdict is how much a wait explains.
type verdict struct {
	share, gain float64
	of          string
	confidence  record.Confidence
}

// nature is what ends a wait, which says what busy CPUs mean for it.
type nature int

const (
	// queueing for something several requests hold at a time: on busy CPUs they
	// hold it for longer, and the queue is the CPUs' own.
	queueing nature = iota
	// serial: one request holds it at a time, which limits a service on its own.
	serial
	// outside: a timer or another service ends it, whatever the CPUs do.
	outside
)

// judge weighs a wait.
func judge(p *diagnose.Pass, s diagnose.Site, kind nature) (verdict, bool) {
	if s.Share >= leastShare && s.NS >= leastNS {
		v := verdict{share: s.Share, of: diagnose.OfRequest, gain: p.WaitGain(s.Share), confidence: record.High}
		if kind == outside {
			v.gain = p.OutsideGain(s.Share)
		}
		if p.CPU().Saturated() {
			v.confidence = record.Medium
			if kind == serial && s.Share >= dominant {
				// At least worth the comparison that would settle it.
				v.gain = max(v.gain, diagnose.MinGain)
			}
		}
		return v, true
	}
	w := p.Waits()
	if s.Tail >= leastTail && w.GapNS() >= leastGapNS && 2*float64(p.Anatomy.MedianNS) <= float64(p.Anatomy.TailNS) && !p.CPU().Saturated() {
		explained := s.TailNS / float64(p.Anatomy.TailNS)
		return verdict{share: s.Tail, of: diagnose.OfTail, gain: diagnose.Ceiling(explained), confidence: record.Medium}, true
	}
	return verdict{}, false
}

// finding makes the finding of a wait; the caller adds title, remedy and further
// evidence.
func (v verdict) finding(p *diagnose.Pass, cause string, s diagnose.Site) diagnose.Finding {
	f := diagnose.Finding{
		Cause: cause, Share: v.share, ShareOf: v.of, GainCeiling: v.gain, Confidence: v.confidence,
		Where: diagnose.WhereOf(s.Place),
	}
	if v.of == diagnose.OfTail {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, s.TailNS, diagnose.Nanosec,
			"the slowest requests wait %s longer here than the median ones, of %s that they take longer in all",
			diagnose.Span(s.TailNS), diagnose.Span(p.Waits().GapNS())))
	} else {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, s.NS, diagnose.Nanosec,
			"the mean request waits %s here of %s, in %.1f waits", diagnose.Span(s.NS), diagnose.Span(p.Waits().MeanNS()), s.Times))
	}
	if use := p.CPU().Use(); use == use {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProcess, use, diagnose.Ratio, "CPUs are %s busy meanwhile", diagnose.Percent(min(1, use))))
	}
	return f
}

// requests words who waits.
func (v verdict) requests() string {
	if v.of == diagnose.OfTail {
		return "Slow requests wait " + diagnose.Percent(v.share) + " of their extra time"
	}
	return "Requests wait " + diagnose.Percent(v.share) + " of their time"
}
