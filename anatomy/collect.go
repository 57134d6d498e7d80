package anatomy

import (
	"cmp"
	"slices"
	"time"

	"github.com/redline-go/redline/record"
)

// request is one whole request: its duration and where its parts lie in
// collector.parts.
type request struct {
	took        time.Duration
	first, last int32
}

// part is the time of one request in one state at one stack, ended by one waker.
type part struct {
	key   partKey
	waker stackID
	times int32
	took  time.Duration
}

type partKey struct {
	stack stackID
	state stateID
}

// collector gathers the requests of all traces.
type collector struct {
	o        Options
	stacks   *stacks
	requests []request
	parts    []part
	slowest  []record.Timeline // sorted, slowest first

	cut, merged, mergedInto, hijacked, spawned int

	markers     record.Markers
	traced      time.Duration
	clockErrors []time.Duration
	warnings    []string
}

func newCollector(o Options) *collector {
	return &collector{o: o, stacks: newStacks(newOwnership(o))}
}

// maxWarnings bounds what a run of broken traces says.
const maxWarnings = 20

func (a *collector) warn(text string) {
	if len(a.warnings) < maxWarnings && !slices.Contains(a.warnings, text) {
		a.warnings = append(a.warnings, text)
	}
}

// add takes a whole request. Its segments are contiguous; they are not kept.
func (a *collector) add(c *conn, segments []segment, clock *traceClock) {
	took := segments[len(segments)-1].to.Sub(segments[0].from)
	first := len(a.parts)
	for _, s := range segments {
		a.addPart(first, s)
	}
	a.requests = append(a.requests, request{took, int32(first), int32(len(a.parts))})
	a.spawned += c.spawned
	keep := a.o.MaxSlowest > 0 && (len(a.slowest) < a.o.MaxSlowest || took > a.slowest[len(a.slowest)-1].Len())
	if !keep && a.o.Each == nil {
		return
	}
	line := a.timeline(int64(c.id), segments, clock)
	if a.o.Each != nil {
		a.o.Each(line)
	}
	if !keep {
		return
	}
	line.Segments = shorten(line)
	i, _ := slices.BinarySearchFunc(a.slowest, took, func(t record.Timeline, d time.Duration) int {
		return cmp.Compare(d, t.Len())
	})
	a.slowest = slices.Insert(a.slowest, i, line)
	if len(a.slowest) > a.o.MaxSlowest {
		a.slowest = a.slowest[:a.o.MaxSlowest]
	}
}

// addPart adds a segment to the current request's parts, which start at first. A
// request has few distinct parts, so a scan from the back beats a map.
func (a *collector) addPart(first int, s segment) {
	key := partKey{s.stack, s.state}
	for i := len(a.parts) - 1; i >= first && i >= len(a.parts)-64; i-- {
		if p := &a.parts[i]; p.key == key && p.waker == s.waker {
			p.times++
			p.took += s.to.Sub(s.from)
			return
		}
	}
	a.parts = append(a.parts, part{key, s.waker, 1, s.to.Sub(s.from)})
}

func (a *collector) timeline(id int64, segments []segment, clock *traceClock) record.Timeline {
	from := clock.at(segments[0].from)
	start := segments[0].from
	line := record.Timeline{Goroutine: id, Segments: make([]record.Segment, len(segments))}
	line.From, line.To = from, from+segments[len(segments)-1].to.Sub(start)
	for i, s := range segments {
		line.Segments[i] = record.Segment{State: states[s.state], Site: a.stacks.info(s.stack).site,
			From: from + s.from.Sub(start), NS: int64(s.to.Sub(s.from))}
	}
	return line
}

// maxTimeline is the number of segments that a timeline in the record keeps.
const maxTimeline = 500

// shorten joins runs of segments too short to be seen, when there are many.
func shorten(line record.Timeline) []record.Segment {
	if len(line.Segments) <= maxTimeline {
		return line.Segments
	}
	limit := int64(line.Len()) / (maxTimeline / 2)
	var short []record.Segment
	joining := false
	for _, s := range line.Segments {
		tiny := s.NS < limit
		if tiny && joining && short[len(short)-1].NS+s.NS < limit {
			last := &short[len(short)-1]
			last.State, last.Site = record.StateOther, "(short segments)"
			last.NS += s.NS
			continue
		}
		short = append(short, s)
		joining = tiny
	}
	return short
}
