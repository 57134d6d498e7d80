package live

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/web/door"
	"github.com/redline-go/redline/web/rundata"
)

// Options describe the page of a run. Address and Stop are required.
type Options struct {
	Address string // host:port; port 0 takes a free one
	Token   string // of an address that others can reach; empty draws one
	Title   string // what is under load
	// Stop ends the load; what was measured is kept.
	Stop func()
	// Assess assesses the bundle that is being written, and must not disturb the load; nil shows no findings
	// before the end.
	Assess func(ctx context.Context, dir string) (*record.Summary, error)
	// Note, if set, receives what happens to viewers.
	Note func(string)
}

// Variable names the environment variable that sets the token of a page that others can reach;
// without it a new one is drawn.
const Variable = "REDLINE_WEB_TOKEN"

// Page is the page of a run in progress. Its methods may be called concurrently; those that take what is
// recorded do not block.
type Page struct {
	Options

	door    *door.Door
	secret  string // the page proves by it that a button was pressed on it
	stream  *stream
	viewers *viewers
	now     func() time.Time
	// patience is for a browser that does not read, lingers for those that are to fetch the end.
	patience, lingers time.Duration

	in pending

	mu      sync.Mutex
	state   state
	points  []series.Point // of take
	lines   []logged
	ticks   int
	closing bool

	cancel        context.CancelFunc
	stopAssessing context.CancelFunc
	running       sync.WaitGroup
}

// ending is how the run ended.
type ending struct {
	State string `json:"state"` // complete, aborted or failed
	Why   string `json:"why"`
	Dir   string `json:"dir"` // of the bundle; empty without one
	// Report says that the report can be fetched.
	Report bool `json:"report"`
	// Result says that there is a page to continue to.
	Result bool `json:"result"`

	event int64
	data  func() ([]byte, error)
}

// tickEvery is how often windows are sent: as often as they close.
const tickEvery = timebase.DefaultWindow

// Open opens the page and serves it until Close.
func Open(ctx context.Context, o Options) (*Page, error) {
	d, err := door.Open(ctx, door.Options{Address: o.Address, Name: "live", Token: o.Token, Variable: Variable})
	if err != nil {
		return nil, err
	}
	p := newPage(o)
	p.door = d
	// The page outlives an interrupt: it shows how the run ended.
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.running.Go(func() { _ = d.Serve(ctx, p.routes()) }) // browsers notice, and the run needs none
	p.running.Go(func() { p.ticking(ctx) })
	var assessing context.Context
	assessing, p.stopAssessing = context.WithCancel(ctx)
	if o.Assess != nil {
		p.running.Go(func() { p.assessing(assessing) })
	}
	return p, nil
}

func newPage(o Options) *Page {
	p := &Page{Options: o, secret: door.Secret(), stream: newStream(door.Secret()[:8]), viewers: newViewers(), now: time.Now,
		patience: patience, lingers: lingers}
	p.Title = notation.Clean(o.Title)
	p.state = fresh("", nil)
	return p
}

// fresh is the state of a page before anything is recorded.
func fresh(phase string, messages []string) state {
	return state{texts: map[string]string{}, heat: map[int64]map[int]int64{}, dirtyHeat: map[int64]bool{}, dirtyFrom: math.MaxInt64,
		phase: phase, messages: messages}
}

// URL is where a browser finds the page, with the token that it needs.
func (p *Page) URL() string { return p.door.URL() }

// StopAssessing ends the findings so far: the load is over, and the bundle about to be closed.
func (p *Page) StopAssessing() { p.stopAssessing() }

func (p *Page) ticking(ctx context.Context) {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.tick()
		}
	}
}

// windowsEvent is the event of new and changed windows.
type windowsEvent struct {
	From  int64        `json:"from"` // the first window
	Count int64        `json:"n"`
	Lines []lineChange `json:"lines"`
	Heat  [][]int64    `json:"heat"`
	Now   *Window      `json:"now"`
	SoFar Figures      `json:"so_far"`
}

// tick sends what was recorded since the last one.
func (p *Page) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.take()
	s := &p.state
	if s.recording == nil || s.end != nil {
		return
	}
	if s.newSpans {
		s.newSpans = false
		p.send("spans", s.spans)
	}
	if s.dirtyFrom > s.recent.last || !s.recent.begun {
		return
	}
	if p.ticks%5 == 0 { // the percentiles so far cost more than all else here
		s.sum()
	}
	p.ticks++
	from := s.dirtyFrom
	if s.history.begun { // a window in which nothing was measured is empty, and not one that a page missed
		from = min(from, s.history.first+s.history.length)
	}
	e := windowsEvent{From: max(from, s.recent.last-kept+1), Now: s.window, SoFar: s.figures, Heat: [][]int64{}}
	e.Count = s.recent.last + 1 - e.From
	width := s.recording.Run.Window
	span := timebase.Span{From: timebase.WindowSpan(e.From, width).From, To: timebase.WindowSpan(s.recent.last, width).To}
	charts := rundata.Recent{Windows: s.recent, Span: span, Width: width, Texts: s.texts, Amount: s.recent.amount}.Charts()
	fresh := false
	if e.Lines, fresh = s.history.put(e.From, e.Count, charts); fresh {
		p.send("layout", s.history.charts)
	}
	for _, at := range slices.Sorted(maps.Keys(s.dirtyHeat)) {
		e.Heat = append(e.Heat, s.column(at))
	}
	clear(s.dirtyHeat)
	s.dirtyFrom = math.MaxInt64
	p.send("windows", e)
}

// send sends an event; mu is held, so that a snapshot is of what was sent.
func (p *Page) send(name string, data any) int64 {
	id, err := p.stream.send(name, data)
	if err != nil && p.Note != nil {
		p.Note(err.Error())
	}
	return id
}

// everything is the page's state for a browser that knows nothing.
type everything struct {
	Title  string        `json:"title"`
	Dir    string        `json:"dir"`
	Window time.Duration `json:"window_ns"`
	Begun  bool          `json:"begun"` // the record is open
	// Epoch is the wall clock at the run's instant zero, in the zone of this machine; year 1 before the record is open.
	Epoch    time.Time    `json:"epoch_wall"`
	Phase    string       `json:"phase"`
	Messages []string     `json:"messages"`
	Charts   []layout     `json:"charts"`
	Spans    []span       `json:"spans"`
	Windows  windowsEvent `json:"windows"`
	// HeatWidth is that of a column of the heat map, in s; a value v ns lies in row floor(log10(v) *
	// PerDecade).
	HeatWidth float64 `json:"heat_width"`
	PerDecade int     `json:"per_decade"`
	Findings  *soFar  `json:"findings"`
	Assesses  bool    `json:"assesses"` // there will be findings before the end
	End       *ending `json:"end"`
}

// everything returns the page's state; mu is held.
func (p *Page) everything() everything {
	s, h := &p.state, &p.state.history
	all := everything{Title: p.Title, Window: timebase.DefaultWindow, Phase: s.phase, Messages: s.messages,
		Charts: h.charts, Spans: s.spans, Findings: s.findings,
		Windows:   windowsEvent{From: h.first, Count: h.length, Lines: h.all(), Now: s.window, SoFar: s.figures},
		HeatWidth: heatWidth.Seconds(), PerDecade: rundata.HeatPerDecade, Assesses: p.Assess != nil, End: s.end}
	if s.recording != nil {
		all.Begun, all.Dir, all.Window = true, s.recording.Dir, s.recording.Run.Window
		all.Epoch = s.recording.Run.Clock.EpochWall
	}
	for _, at := range slices.Sorted(maps.Keys(s.heat)) {
		all.Windows.Heat = append(all.Windows.Heat, s.column(at))
	}
	return all
}

// snapshot is everything up to the newest event, as an event with its number.
func (p *Page) snapshot() event {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.stream.newest()
	text, err := json.Marshal(p.everything())
	if err != nil && p.Note != nil {
		p.Note(err.Error())
	}
	return event{id, p.stream.wire(id, "all", text)}
}

// Show ends the page of a verb that makes several runs: browsers go on to its result, a page that needs nothing of this
// server. A second ending does nothing.
func (p *Page) Show(result []byte) {
	p.tick()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.end != nil {
		return
	}
	end := &ending{State: string(record.Complete), Result: true, data: func() ([]byte, error) { return result, nil }}
	p.state.end = end
	end.event = p.send("end", end)
}

// Finish informs the page how the run ended: with a record and its summary, or without them when it did not
// start. why says what cut it short, without secrets; empty if nothing did. A second Finish does nothing.
func (p *Page) Finish(rec *record.Record, summary *record.Summary, why string) {
	p.tick()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state.end != nil {
		return
	}
	end := &ending{State: "failed", Why: notation.Clean(why)}
	if summary != nil {
		end.State, end.Dir, end.Report = string(summary.State), notation.Clean(rec.Dir), true
		end.Why = notation.Clean(rec.Run.Why) // in fewer words
		end.data = sync.OnceValues(func() ([]byte, error) { return zipped(rundata.Of(rec, summary)) })
		if p.viewers.any(p.now()) {
			_, _ = end.data() // its error is the one of whoever fetches it
		}
	}
	p.state.end = end
	end.event = p.send("end", end)
}
