package anatomy

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/record/breakdown"
)

// request is one whole request: its duration, and where its parts and samples
// lie in collector.parts and collector.samples.
type request struct {
	took                    time.Duration
	first, last             int32
	firstSample, lastSample int32
}

// part is the time of one request in one state at one stack, ended by one waker
// and waiting for one thing.
type part struct {
	key   partKey
	waker stackID
	chain chainID
	times int32
	took  time.Duration
}

type partKey struct {
	stack     stackID
	operation operationID
	state     stateID
}

// collector gathers the requests of all traces.
type collector struct {
	o          Options
	stacks     *stacks
	chains     *chains
	requests   []request
	operations map[operationID]perRequest
	serials    map[nameID]*serialKind
	helpers    map[helperKind]int
	cpu        []Ran     // of Options.CPU, nil until it was asked for
	partial    []request // what an edge cuts, at most maxPartial
	parts      []part
	samples    []stackID
	slowest    timelines
	marked     timelines // of the requests that carry an id
	served     [len(servers)]breakdown.Served

	cut, merged, mergedInto, hijacked, spawned int

	markers     breakdown.Markers
	traced      time.Duration
	clockErrors []time.Duration
	warnings    []string
}

func newCollector(o Options) *collector {
	return &collector{o: o, stacks: newStacks(newOwnership(o)), chains: newChains(),
		operations: map[operationID]perRequest{}, serials: map[nameID]*serialKind{}, helpers: map[helperKind]int{},
		slowest: timelines{most: o.MaxSlowest}, marked: timelines{most: o.MaxMarked}}
}

// maxWarnings bounds what a run of broken traces says.
const maxWarnings = 20

func (a *collector) warn(text string) {
	if len(a.warnings) < maxWarnings && !slices.Contains(a.warnings, text) {
		a.warnings = append(a.warnings, text)
	}
}

// cutOff counts a request that an edge cuts.
func (a *collector) cutOff(s server) {
	a.cut++
	a.served[s].Cut++
}

// gather keeps what a request did. Its segments are contiguous.
func (a *collector) gather(segments []segment, samples []sample) request {
	began, took := segments[0].from, segments[len(segments)-1].to.Sub(segments[0].from)
	r := request{took: took, first: int32(len(a.parts)), firstSample: int32(len(a.samples))}
	for _, s := range segments {
		a.addPart(int(r.first), s)
	}
	for _, s := range samples {
		if s.at >= began {
			a.samples = append(a.samples, s.stack)
		}
	}
	r.last, r.lastSample = int32(len(a.parts)), int32(len(a.samples))
	return r
}

// add takes a whole request. Its segments are contiguous; they are not kept.
func (a *collector) add(id trace.GoID, c *conn, segments []segment, samples []sample, clock *traceClock) {
	r := a.gather(segments, samples)
	took := r.took
	a.requests = append(a.requests, r)
	a.spawned += c.spawned
	a.countOperations(c)
	a.served[c.server].Requests++
	if c.mark.id != "" {
		a.markers.Tasks++
	}
	slow, marked := a.slowest.wants(took), c.mark.id != "" && a.marked.wants(took)
	if !slow && !marked && a.o.Each == nil {
		return
	}
	line := a.timeline(id, c, segments, clock)
	if a.o.Each != nil {
		a.o.Each(line)
	}
	line.Segments = shorten(line)
	if slow {
		a.slowest.insert(line)
	}
	if marked {
		a.marked.insert(line)
	}
}

// addPart adds a segment to the current request's parts, which start at first. A
// request has few distinct parts, so a scan from the back beats a map.
func (a *collector) addPart(first int, s segment) {
	key := partKey{s.stack, s.operation, s.state}
	times := int32(1)
	if s.more {
		times = 0
	}
	for i := len(a.parts) - 1; i >= first && i >= len(a.parts)-64; i-- {
		if p := &a.parts[i]; p.key == key && p.waker == s.waker && p.chain == s.chain {
			p.times += times
			p.took += s.to.Sub(s.from)
			return
		}
	}
	a.parts = append(a.parts, part{key: key, waker: s.waker, chain: s.chain, times: times, took: s.to.Sub(s.from)})
}

func (a *collector) timeline(id trace.GoID, c *conn, segments []segment, clock *traceClock) breakdown.Timeline {
	from := clock.at(segments[0].from)
	start := segments[0].from
	line := breakdown.Timeline{Goroutine: int64(id), ID: c.mark.id, Server: servers[c.server],
		Segments: make([]breakdown.Segment, len(segments))}
	line.From, line.To = from, from+segments[len(segments)-1].to.Sub(start)
	for i, s := range segments {
		line.Segments[i] = breakdown.Segment{State: states[s.state], Site: a.stacks.info(s.stack).site,
			From: from + s.from.Sub(start), NS: int64(s.to.Sub(s.from)), Behind: a.links(s.chain, false)}
	}
	return line
}

// timelines keeps the slowest requests, slowest first.
type timelines struct {
	most int // negative for none
	list []breakdown.Timeline
}

func (t *timelines) wants(took time.Duration) bool {
	return t.most > 0 && (len(t.list) < t.most || took > t.list[len(t.list)-1].Len())
}

func (t *timelines) insert(line breakdown.Timeline) {
	i, _ := slices.BinarySearchFunc(t.list, line.Len(), func(l breakdown.Timeline, d time.Duration) int {
		return cmp.Compare(d, l.Len())
	})
	t.list = slices.Insert(t.list, i, line)
	if len(t.list) > t.most {
		t.list = t.list[:t.most]
	}
}

// maxTimeline is the number of segments that a timeline in the record keeps.
const maxTimeline = 500

// shorten joins runs of segments too short to be seen, when there are many.
func shorten(line breakdown.Timeline) []breakdown.Segment {
	if len(line.Segments) <= maxTimeline {
		return line.Segments
	}
	limit := int64(line.Len()) / (maxTimeline / 2)
	var short []breakdown.Segment
	joining := false
	for _, s := range line.Segments {
		tiny := s.NS < limit
		if tiny && joining && short[len(short)-1].NS+s.NS < limit {
			last := &short[len(short)-1]
			last.State, last.Site, last.Behind = breakdown.StateOther, "(short segments)", nil
			last.NS += s.NS
			continue
		}
		short = append(short, s)
		joining = tiny
	}
	return short
}
