package account

import (
	"slices"
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// mostSteps bounds how many requests of the mix have histograms of their own:
// each takes up to 3.3 MB. The others share one more.
const (
	mostSteps  = 24
	otherSteps = "(other requests)"
)

// stepNames returns the names of the mix's requests in the log.
func stepNames(names []string) []string {
	if len(names) > mostSteps {
		return append(names[:mostSteps:mostSteps], otherSteps)
	}
	return names
}

// interval is one line per kind and step of the latency log, in the making: the
// requests that ended in a window, or in a part of one.
type interval struct {
	span timebase.Span
	// Requests of the measured span, which the totals take, and others, by step.
	// Only around the span's ends does an interval have both.
	inside, outside []stepTimes
}

// intervals makes the intervals of windows, takes them back when these have
// closed, and keeps their parts. Windows are cut at both ends of the
// measured span, so that the log can be added up over exactly that span.
type intervals struct {
	names   []string
	cuts    []time.Duration
	closed  []*interval // to be written, in order of time
	spare   []*interval
	timings []*Timing // spare, empty
}

func newIntervals(start time.Duration, steady timebase.Span, names []string) *intervals {
	cuts := []time.Duration{start, steady.From, steady.To}
	return &intervals{names: stepNames(names), cuts: slices.Compact(cuts)}
}

// cut appends the intervals of a span to dst.
func (l *intervals) cut(dst []*interval, span timebase.Span) []*interval {
	for _, at := range l.cuts {
		if at > span.From && at < span.To {
			dst = append(dst, l.interval(timebase.Span{From: span.From, To: at}))
			span.From = at
		}
	}
	return append(dst, l.interval(span))
}

func (l *intervals) interval(span timebase.Span) *interval {
	if n := len(l.spare); n > 0 {
		i := l.spare[n-1]
		l.spare = l.spare[:n-1]
		i.span = span
		return i
	}
	return &interval{span: span, inside: make([]stepTimes, len(l.names)), outside: make([]stepTimes, len(l.names))}
}

// add counts a request that belongs to the measured span or does not.
func (l *intervals) add(i *interval, s *Sample, steady bool) {
	steps := i.outside
	if steady {
		steps = i.inside
	}
	times := &steps[min(int(s.Request), len(steps)-1)]
	s.each(func(kind int, d time.Duration) {
		if times[kind] == nil {
			times[kind] = l.timing()
		}
		times[kind].add(d)
	})
}

func (l *intervals) timing() *Timing {
	if n := len(l.timings); n > 0 {
		t := l.timings[n-1]
		l.timings = l.timings[:n-1]
		return t
	}
	return &Timing{}
}

// join adds the requests outside of the measured span to those inside.
// The log holds warm-up and measured span alike; only the totals keep them apart.
func (l *intervals) join(i *interval) {
	for step := range i.outside {
		for kind, t := range i.outside[step] {
			switch in := &i.inside[step][kind]; {
			case t == nil:
			case *in == nil:
				*in = t
			default:
				(*in).merge(t)
				t.reset()
				l.timings = append(l.timings, t)
			}
		}
		i.outside[step] = stepTimes{}
	}
}

// ended removes and returns the first interval whose window is closed and whose end
// has passed; nil if there is none. It goes back through reuse.
func (l *intervals) ended(now time.Duration) *interval {
	if len(l.closed) == 0 || l.closed[0].span.To > now {
		return nil
	}
	first := l.closed[0]
	l.closed = append(l.closed[:0], l.closed[1:]...)
	return first
}

// last takes out the rest at the end of the run, cut at now.
func (l *intervals) last(now time.Duration) []*interval {
	for _, i := range l.closed {
		i.span.To = max(i.span.From, min(i.span.To, now))
	}
	rest := l.closed
	l.closed = nil
	return rest
}

// reuse empties a written interval and keeps it.
func (l *intervals) reuse(i *interval) {
	for step := range i.inside {
		for _, t := range i.inside[step] {
			if t != nil {
				t.reset()
				l.timings = append(l.timings, t)
			}
		}
		i.inside[step] = stepTimes{}
	}
	l.spare = append(l.spare, i)
}

// write sends an interval's histograms to sink and returns the first error.
func (l *intervals) write(sink Sink, i *interval) (failed error) {
	for step := range i.inside {
		for kind, t := range i.inside[step] {
			if t == nil {
				continue
			}
			if err := sink.Counts(l.names[step], loggedKinds[kind], i.span, &t.Counts); err != nil && failed == nil {
				failed = err
			}
		}
	}
	return failed
}
