package load

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/record"
)

// intervalLength is how much time a line of the latency log covers. An interval
// of a window (100 ms) would cost ten times the CPU and disk; see the package
// comment for the figures.
const intervalLength = time.Second

// mostSteps bounds how many requests of the mix have histograms of their own:
// each takes up to 3.3 MB. The others share one more.
const (
	mostSteps  = 24
	otherSteps = "(other requests)"
)

// loggedKinds are the kinds of histogram, in the order of stepTimes.
var loggedKinds = [...]record.Kind{record.Latency, record.Service, record.FirstByte, record.Lag, record.ErrorLatency}

// stepTimes are one request's histograms of an interval, nil until needed.
type stepTimes [len(loggedKinds)]*hdrhistogram.Histogram

func (t *stepTimes) record(kind int, d time.Duration) {
	if t[kind] == nil {
		t[kind] = record.NewHistogram()
	}
	_ = t[kind].RecordValue(int64(clampTime(d))) // in range after clampTime
}

// interval is one line per kind and step of the latency log, in the making.
type interval struct {
	span  record.Span
	steps []stepTimes
}

// intervals sorts samples into the interval in which they ended: the current
// one, or the next when the current one's end has passed and it is not written
// yet. Intervals are cut at both ends of the measured span, so that the log can
// be added up over exactly that span.
type intervals struct {
	names         []string
	steady        record.Span
	current, next *interval
	spare         []*interval
}

func newIntervals(start time.Duration, steady record.Span, names []string) *intervals {
	if len(names) > mostSteps {
		names = append(names[:mostSteps:mostSteps], otherSteps)
	}
	l := &intervals{names: names, steady: steady}
	l.current = l.after(start)
	l.next = l.after(l.current.span.To)
	return l
}

// after returns an empty interval that begins at from.
func (l *intervals) after(from time.Duration) *interval {
	i := &interval{steps: make([]stepTimes, len(l.names))}
	if n := len(l.spare); n > 0 {
		i = l.spare[n-1]
		l.spare = l.spare[:n-1]
	}
	i.span = record.Span{From: from, To: from + intervalLength}
	for _, cut := range []time.Duration{l.steady.From, l.steady.To} {
		if cut > from && cut < i.span.To {
			i.span.To = cut
		}
	}
	return i
}

func (l *intervals) add(s *sample) {
	i := l.current
	if s.done >= i.span.To {
		i = l.next
	}
	t := &i.steps[min(int(s.request), len(i.steps)-1)]
	if s.timed() {
		t.record(0, s.done-s.intended)
		if s.sent > 0 {
			t.record(1, s.done-s.sent)
		}
		if s.first > 0 && s.sent > 0 {
			t.record(2, s.first-s.sent)
		}
	}
	if s.sent > 0 {
		t.record(3, s.sent-s.intended)
	}
	if s.kind != 0 {
		t.record(4, s.done-s.intended)
	}
}

// ended takes the current interval out once its end has passed; nil otherwise.
// It goes back through reuse.
func (l *intervals) ended(now time.Duration) *interval {
	if now < l.current.span.To {
		return nil
	}
	full := l.current
	l.current = l.next
	l.next = l.after(l.current.span.To)
	return full
}

// last takes out what is left at the end of the run, cut at now.
func (l *intervals) last(now time.Duration) []*interval {
	l.current.span.To = max(l.current.span.From, min(l.current.span.To, now))
	l.next.span.From = l.current.span.To
	l.next.span.To = max(l.next.span.From, min(l.next.span.To, now))
	return []*interval{l.current, l.next}
}

// reuse empties a written interval and keeps it.
func (l *intervals) reuse(i *interval) {
	for s := range i.steps {
		for _, h := range i.steps[s] {
			if h != nil && h.TotalCount() > 0 {
				h.Reset()
			}
		}
	}
	l.spare = append(l.spare, i)
}

// write sends an interval's histograms to sink and returns the first error.
func (l *intervals) write(sink Sink, i *interval) (failed error) {
	for s := range i.steps {
		for k, h := range i.steps[s] {
			if h == nil || h.TotalCount() == 0 {
				continue
			}
			if err := sink.Histogram(l.names[s], loggedKinds[k], i.span, h); err != nil && failed == nil {
				failed = err
			}
		}
	}
	return failed
}
