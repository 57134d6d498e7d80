package bands

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/server"
	"github.com/redline-go/redline/anatomy/site"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/timebase"
)

// request is one whole request: its duration, and where its parts and samples
// lie in Requests.parts and Requests.samples.
type request struct {
	took                    time.Duration
	first, last             int32
	firstSample, lastSample int32
	trace                   int32 // in Requests.traces
	name                    int32 // in Options.Names, from 1; 0 if unknown
}

// part is the time of one request in one state at one stack, ended by one waker
// and waiting for one thing.
type part struct {
	key   partKey
	waker interned.Stack
	chain goroutines.ChainID
	times int32
	took  time.Duration
	timed bool
	begun [goroutines.MaxLinks]int32 // how often each link of the chain began
}

type partKey struct {
	stack     interned.Stack
	operation goroutines.Operation
	state     interned.State
}

// Options bound the size of the result. All bounds must be set.
type Options struct {
	Names      []string      // of the mix
	Mean       time.Duration // of all requests, as the load saw them; 0 if unknown
	MaxParts   int           // of each list of parts
	MaxSlowest int           // timelines; negative for none
	MaxMarked  int           // timelines of requests that carry an id; negative for none
	// CPU, when not nil, returns the CPU profile of the run; it is called at most once.
	CPU func() []Ran
	// Each, when not nil, is called with every whole request.
	Each func(breakdown.Timeline)
}

// Requests gathers the requests of all traces.
type Requests struct {
	options    Options
	Stacks     *interned.Stacks
	Chains     *goroutines.Chains
	requests   []request
	operations map[goroutines.Operation]perRequest
	serials    map[interned.Name]*serialKind
	helpers    helpers
	left       helpers
	woken      map[interned.Name]*breakdown.Woken // by the function in which they began
	cpu        []Ran                              // of Options.CPU, nil until requested
	partial    []request                          // those cut by an edge, at most maxPartial
	parts      []part
	samples    []interned.Stack
	slowest    timelines
	marked     timelines // of the requests that carry an id
	served     [len(server.Names)]breakdown.Served
	traces     []timebase.Span // that requests come from

	cut, Merged, MergedInto, Hijacked, spawned int

	Markers     breakdown.Markers
	Traced      time.Duration
	ClockErrors []time.Duration
	warnings    []string
}

// New returns empty Requests of a target; own decides which frames are its code.
func New(own site.Ownership, o Options) *Requests {
	return &Requests{options: o, Stacks: interned.New(own), Chains: goroutines.NewChains(),
		operations: map[goroutines.Operation]perRequest{}, serials: map[interned.Name]*serialKind{}, helpers: helpers{}, left: helpers{},
		woken:   map[interned.Name]*breakdown.Woken{},
		slowest: timelines{most: o.MaxSlowest}, marked: timelines{most: o.MaxMarked}}
}

// maxWarnings bounds the warnings of a run with broken traces.
const maxWarnings = 20

// Warn adds a warning, unless it is a duplicate or there are too many.
func (a *Requests) Warn(text string) {
	if len(a.warnings) < maxWarnings && !slices.Contains(a.warnings, text) {
		a.warnings = append(a.warnings, text)
	}
}

// CutOff counts a request cut by the start or end of a trace.
func (a *Requests) CutOff(s server.Kind) {
	a.cut++
	a.served[s].Cut++
}

// gather keeps what a request did. Its segments are contiguous.
func (a *Requests) gather(segments []goroutines.Segment, samples []goroutines.CPUSample) request {
	began, took := segments[0].From, segments[len(segments)-1].To.Sub(segments[0].From)
	r := request{took: took, first: int32(len(a.parts)), firstSample: int32(len(a.samples)), trace: int32(max(0, len(a.traces)-1))}
	for _, s := range segments {
		a.addPart(int(r.first), s)
	}
	for _, s := range samples {
		if s.At >= began {
			a.samples = append(a.samples, s.Stack)
		}
	}
	r.last, r.lastSample = int32(len(a.parts)), int32(len(a.samples))
	return r
}

// Add takes a whole request. Its segments are contiguous; they are not kept.
func (a *Requests) Add(
	id trace.GoID, c *goroutines.Conn, segments []goroutines.Segment, samples []goroutines.CPUSample, clock *goroutines.Clock,
) {
	r := a.gather(segments, samples)
	took := r.took
	if c.Mark.Request <= len(a.options.Names) {
		r.name = int32(c.Mark.Request)
	}
	a.requests = append(a.requests, r)
	a.spawned += c.Spawned
	a.countOperations(c)
	a.served[c.Server].Requests++
	if c.Mark.ID != "" {
		a.Markers.Tasks++
	}
	slow, marked := a.slowest.wants(took), c.Mark.ID != "" && a.marked.wants(took)
	if !slow && !marked && a.options.Each == nil {
		return
	}
	line := a.timeline(id, c, segments, clock)
	if a.options.Each != nil {
		a.options.Each(line)
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
func (a *Requests) addPart(first int, s goroutines.Segment) {
	key := partKey{s.Stack, s.Operation, s.State}
	times := int32(1)
	if s.More {
		times = 0
	}
	for i := len(a.parts) - 1; i >= first && i >= len(a.parts)-64; i-- {
		if p := &a.parts[i]; p.key == key && p.waker == s.Waker && p.chain == s.Chain && p.timed == s.Timed {
			p.times += times
			p.took += s.To.Sub(s.From)
			p.begins(s)
			return
		}
	}
	p := part{key: key, waker: s.Waker, chain: s.Chain, times: times, took: s.To.Sub(s.From), timed: s.Timed}
	p.begins(s)
	a.parts = append(a.parts, p)
}

// begins counts the links of a segment's chain that begin with it.
func (p *part) begins(s goroutines.Segment) {
	if s.Chain == 0 {
		return
	}
	for i := int(s.Begun); i < len(p.begun); i++ {
		p.begun[i]++
	}
}

func (a *Requests) timeline(id trace.GoID, c *goroutines.Conn, segments []goroutines.Segment, clock *goroutines.Clock) breakdown.Timeline {
	from := clock.At(segments[0].From)
	start := segments[0].From
	line := breakdown.Timeline{Goroutine: int64(id), ID: c.Mark.ID, Server: server.Names[c.Server],
		Segments: make([]breakdown.Segment, len(segments))}
	line.From, line.To = from, from+segments[len(segments)-1].To.Sub(start)
	for i, s := range segments {
		line.Segments[i] = breakdown.Segment{State: interned.States[s.State], Site: a.Stacks.Info(s.Stack).Site,
			From: from + s.From.Sub(start), NS: int64(s.To.Sub(s.From)), Behind: a.links(s.Chain, false)}
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
