package shed

import (
	"math"
	"time"
)

// probe lowers the limit to see the latency without a queue.
type probe struct {
	begun     time.Time
	level     int
	need      int       // requests to measure
	measuring bool      // what was in flight before has drained
	until     time.Time // after that it is abandoned
}

// turn is where a fall of the limit began: by Little's law, latency falls with the
// limit if a queue that the limit allows causes it.
type turn struct{ limit, latency float64 }

// decide adjusts the limit after a window without a probe.
func (l *Limiter) decide(w window, cpu float64, now time.Time) {
	latency := w.mean()
	loaded := w.rejected || float64(2*w.peak) >= l.limit
	if !loaded {
		l.learn(w)
		if l.inTolerance(latency) {
			l.nextProbe = now.Add(l.options.Probe)
		}
		return
	}
	if l.baseline == 0 {
		l.baseline = latency // possibly with a queue in it: the probe below shows
	} else if latency < l.baseline*(1-l.options.Tolerance) {
		l.baseline += weight(w.n, enough) * (latency - l.baseline)
		l.anchor = min(l.anchor, l.baseline)
	}
	rate := w.rate()
	if l.rate == 0 {
		l.rate = rate
	}
	l.rate += weight(w.n, enough) * (rate - l.rate)
	before := l.limit
	l.move(latency, cpu)
	stubborn := l.stubborn(before, latency)
	// A limit that rejects nobody needs no check.
	if w.rejected && (stubborn || !now.Before(l.nextProbe)) {
		l.beginProbe(w, now)
	}
}

// enough is the number of requests at which a mean is stable.
const enough = 100

// weight is the weight of a mean of n requests against that of others.
func weight(n, others int) float64 { return float64(n) / float64(n+others) }

// learn updates the baseline with the latency of a window at light load. Under a limit far
// above what the service sustains, a queue can grow that looks like light load; so the
// baseline rises no further than the tolerance until a probe has confirmed it.
func (l *Limiter) learn(w window) {
	l.baseline += weight(w.n, min(l.seen, enough)) * (w.mean() - l.baseline)
	l.seen += w.n
	if l.anchor == 0 && l.seen >= enough {
		l.anchor = l.baseline
	}
	if l.anchor > 0 {
		l.baseline = min(l.baseline, l.anchor*(1+l.options.Tolerance))
		l.anchor = min(l.anchor, l.baseline)
	}
}

// inTolerance reports whether a latency is the baseline, give or take.
func (l *Limiter) inTolerance(latency float64) bool {
	return math.Abs(latency-l.baseline) <= l.options.Tolerance*l.baseline
}

// move applies the formula, by half: the mean of a window is an estimate.
func (l *Limiter) move(latency, cpu float64) {
	tolerance := l.options.Tolerance * (1 - min(1, max(0, cpu))/2)
	gradient := min(1+l.options.Tolerance, max(0.5, (1+tolerance)*l.baseline/latency))
	target := gradient*l.limit + math.Sqrt(gradient*l.limit)
	l.limit = min(float64(l.options.Max), max(float64(l.options.Min), (l.limit+target)/2))
	l.stats.Gradient = gradient
}

// stubborn reports that the limit was halved and latency did not follow: then the
// queue did not cause it.
func (l *Limiter) stubborn(before, latency float64) bool {
	if l.limit >= before || l.turn.limit == 0 {
		l.turn = turn{l.limit, latency}
		return false
	}
	if l.limit > l.turn.limit/2 {
		return false
	}
	if latency > 0.75*l.turn.latency {
		return true
	}
	l.turn = turn{l.limit, latency}
	return false
}

// beginProbe lowers the limit to half of what was in flight.
func (l *Limiter) beginProbe(w window, now time.Time) {
	latency := w.mean()
	l.probe = &probe{begun: now}
	l.probeAt(w.peak/2, latency, now)
}

// probeAt lowers the limit, for a probe even below Min.
func (l *Limiter) probeAt(level int, latency float64, now time.Time) {
	level = max(1, level)
	l.probe.level, l.probe.need, l.probe.measuring = level, few(level), false
	l.probe.until = now.Add(patience(latency))
	l.stats.Probes++
	l.drained(now)
}

// drained lets the probe measure once no more than its level is in flight.
func (l *Limiter) drained(now time.Time) {
	if l.probe != nil && !l.probe.measuring && l.inflight <= l.probe.level {
		l.probe.measuring = true
		l.open(now)
	}
}

// giveUp ends a probe that takes too long, because it cannot drain or gets few
// requests. It uses those that it got, if any.
func (l *Limiter) giveUp(now time.Time) {
	if l.probe == nil || !now.After(l.probe.until) {
		return
	}
	if w := l.window; l.probe.measuring && w.n >= 20 {
		l.accept(w.mean(), now)
	} else {
		l.probe, l.turn = nil, turn{}
		l.nextProbe = now.Add(l.options.Probe)
	}
	l.open(now)
}

// fell is the share of its former rate below which a service has no queue any more.
// At half of what it sustains it would serve half; chance moves the rate by some
// tenths.
const fell = 0.6

// endProbe takes what the probe saw as the baseline. If the service served about as
// many requests as before, it still had a queue: half the level is tried. A
// surprise, or a rate that could be either, must come from thrice as many requests.
// It reports whether the probe is over.
func (l *Limiter) endProbe(w window, now time.Time) bool {
	latency, p := w.mean(), l.probe
	share := w.rate() / l.rate
	clear := share > fell+0.2 || share < fell && l.inTolerance(latency)
	if !clear && p.need == few(p.level) {
		p.need *= 3
		p.until = now.Add(patience(latency))
		return false
	}
	if share > fell && p.level > 1 {
		l.probeAt(p.level/2, latency, now)
		return false
	}
	if l.inTolerance(latency) {
		latency = (latency + l.baseline) / 2 // the difference may be chance
	}
	l.accept(latency, now)
	return true
}

// few is the number of requests that a step of a probe measures, unless the result
// is surprising.
func few(level int) int { return max(20, 2*level) }

// accept ends the probe with a baseline.
func (l *Limiter) accept(latency float64, now time.Time) {
	l.baseline, l.anchor, l.seen = latency, latency, enough
	// Probes take less than a twentieth of the time.
	l.nextProbe = now.Add(max(l.options.Probe, 20*now.Sub(l.probe.begun)))
	l.probe, l.turn = nil, turn{}
}

// patience is how long a step of a probe may take.
func patience(latency float64) time.Duration { return max(time.Second, 100*seconds(latency)) }
