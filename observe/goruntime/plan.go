package goruntime

import (
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// Lengths of the plan.
const (
	traceSlice  = 200 * time.Millisecond // taken first, to see how fast events come
	traceShare  = 10                     // a trace takes at most 1/traceShare of its share of the steady span
	endMargin   = 500 * time.Millisecond // the last snapshots come so long before the load ends
	secondTrace = 30 * time.Second       // steady time per trace
	mostTraces  = 3
	leastTrace  = 20 * time.Millisecond
	// quietTrace is the size of a second of trace up to which tracing is cheap
	// enough to last longer: some 200,000 events, 1 to 2 % of a CPU. A
	// service that is quiet under load answers slowly, and a short trace of it
	// would hold no whole request.
	quietTrace = 1 << 20
	quietShare = 2               // such a trace takes at most 1/quietShare of its share of the steady span
	quietMost  = 5 * time.Second // and this much at quietTrace, twice that at half of it
)

// cpuSpans cuts the steady span into equal stretches of at most o.CPULength.
func cpuSpans(steady timebase.Span, o Options) []timebase.Span {
	if o.CPULength <= 0 || steady.Len() <= 0 {
		return nil
	}
	n := int((steady.Len() + o.CPULength - 1) / o.CPULength)
	spans := make([]timebase.Span, n)
	for i := range spans {
		spans[i] = timebase.Span{
			From: steady.From + steady.Len()*time.Duration(i)/time.Duration(n),
			To:   steady.From + steady.Len()*time.Duration(i+1)/time.Duration(n),
		}
	}
	return spans
}

// traceSpans places the traces, each within one CPU profile where there are
// any, so that the profile's samples appear in the trace with their goroutine.
func traceSpans(steady timebase.Span, o Options) []timebase.Span {
	n := o.Traces
	if n == 0 {
		n = min(mostTraces, 1+int(max(0, steady.Len()-1)/secondTrace))
	}
	if n < 0 || steady.Len() <= 0 {
		return nil
	}
	cpu := cpuSpans(steady, o)
	spans := make([]timebase.Span, 0, n)
	for i := range n {
		share := steady.Len() / time.Duration(n)
		stretch := timebase.Span{From: steady.From + share*time.Duration(i), To: steady.From + share*time.Duration(i+1)}
		middle := stretch.From + stretch.Len()/2
		for _, c := range cpu {
			if c.From <= middle && middle < c.To && c.Len() < stretch.Len() {
				stretch = c
			}
		}
		length := min(o.TraceLength, share/traceShare, stretch.Len()/2)
		if length < leastTrace {
			continue
		}
		from := stretch.From + (stretch.Len()-length)/2
		spans = append(spans, timebase.Span{From: from, To: from + length})
	}
	return spans
}

// snapshots returns when the profiles that become differences are taken:
// as the steady span begins, and a little before it ends, because a goroutine
// profile of a service that has nothing left to do means nothing.
func snapshots(steady timebase.Span) (first, last time.Duration) {
	return steady.From, steady.To - min(endMargin, steady.Len()/20)
}

// fit returns how long a trace may last so that it stays within target bytes,
// judged by the size of a slice: never above length, nor below leastTrace.
func fit(length, slice time.Duration, size, target int64) time.Duration {
	if size <= 0 || slice <= 0 {
		return length
	}
	fits := time.Duration(float64(slice) * float64(target) / float64(size))
	return max(leastTrace, min(length, fits))
}

// extend returns how long a trace of a quiet target may last instead of length,
// judged by the size of a slice; share is its share of the steady span, and room
// the rest of it. The quieter the target the longer: its traces cost by their
// events, and one request per second takes many seconds for a few.
func extend(length, slice time.Duration, size int64, share, room time.Duration) time.Duration {
	perSecond := float64(size) / slice.Seconds()
	if slice <= 0 || perSecond > quietTrace {
		return length
	}
	most := share // of a slice without an event
	if perSecond > 0 {
		most = time.Duration(min(float64(share), float64(quietMost)*quietTrace/perSecond))
	}
	return max(length, min(most, share/quietShare, room))
}
