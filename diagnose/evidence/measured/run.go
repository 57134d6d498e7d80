// Package measured reads a record for the evidence, each table once: series,
// histograms, profiles, goroutines, the load, and the libraries seen on stacks.
package measured

import (
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/anatomy/story"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
)

// Run is a record with its anatomy, and the tables that more than one kind of evidence
// is derived from. It is used by one goroutine. New makes one.
type Run struct {
	Record  *record.Record
	Anatomy *breakdown.Anatomy // without the probe's own, per request of the load (see Nesting); nil if no trace was analysed
	nesting float64
	// Stacks knows what functions mean and which are the user's.
	Stacks *callstack.Index

	unread []string

	profiles  map[string]*Memo[*Profile]
	observed  float64 // see Observed
	snapshots Memo[[]Snapshot]
	stories   Memo[[]story.Story]
	load      Memo[Load]
	helpers   Memo[map[string]bool]
	drivers   Memo[[]callstack.Driver]
	packages  Memo[map[string]bool]

	operations Memo[*operation.Operations]
	sources    Memo[code.Compiler]
}

// New returns the tables of a record; a is nil if no trace was analysed.
func New(rec *record.Record, a *breakdown.Anatomy) *Run {
	p := &Run{Record: rec, profiles: map[string]*Memo[*Profile]{}}
	p.Anatomy = p.completed(served(a))
	p.Stacks = callstack.NewIndex(callstack.Code{Module: rec.Run.Target.Module, Answers: p.answers(), Keeps: p.keeps()})
	p.Anatomy, p.nesting = p.sent(p.Anatomy)
	p.Stacks.Relays, p.Stacks.Logged = p.relays(), callstack.LinesOf(p.Sources().Logged)
	return p
}

// LeastDials is the number of connections opened per request from which a client does not keep them: one that does
// opens a few in a run, not one in twenty requests.
const LeastDials = 0.05

// keeps reports whether net/http's clients are known to keep their connections: the hooks count hardly any that they open,
// sockets or not, or without hooks the kernel counts hardly any of the target's.
func (p *Run) keeps() bool {
	load := p.Load()
	if n, counted := p.Dialled(); counted {
		return n+p.undialled() < LeastDials*load.Requests
	}
	opens, counted := p.Rate(series.TCPOpens, series.Labels("dir", "out"))
	return counted && load.Rate > 0 && opens/load.Rate < LeastDials
}

// Sources returns compiler.json: what the compiler and the sources say of the service's lines; empty where redline did not
// build the target.
func (p *Run) Sources() code.Compiler {
	return p.sources.Get(func() (known code.Compiler) {
		if p.Record.ReadJSON(code.File, &known) != nil {
			return code.Compiler{}
		}
		return known
	})
}

// Operations returns operations.json; nil where the target was not built with hooks.
func (p *Run) Operations() *operation.Operations {
	return p.operations.Get(func() *operation.Operations {
		var ops operation.Operations
		if p.Record.ReadJSON(operation.File, &ops) != nil {
			return nil
		}
		return &ops
	})
}

// Dialled returns how many connections net/http's client opened in the steady span, by the hooks' count; counted is false where they
// saw it ask for none.
func (p *Run) Dialled() (n float64, counted bool) {
	all := 0.0 // also those that a later call got than the one that asked
	if ops := p.Operations(); ops != nil {
		for _, o := range ops.Operations {
			switch o.Kind {
			case operation.Dial:
				n, counted = n+float64(o.Opened), counted || o.Calls > 0
			case operation.Connect:
				all += float64(o.Calls - o.Errors)
			}
		}
	}
	return max(n, all), counted
}

// undialled returns how many times net/http's client tried in vain to open a connection: whoever waits then waits for the attempt.
func (p *Run) undialled() (n float64) {
	for _, o := range p.Operations().Operations {
		if o.Kind == operation.Connect {
			n += float64(o.Errors)
		}
	}
	return n
}

// ServesRPC reports whether traces saw the target serve gRPC.
func (p *Run) ServesRPC() bool {
	return p.Anatomy != nil && slices.ContainsFunc(p.Anatomy.Served, func(v breakdown.Served) bool {
		return v.Server == "grpc" && v.Requests+v.Cut > 0
	})
}

// mostStories bounds the requests whose spans are read.
const mostStories = 200

// Stories returns the slowest requests that carried a trace id and have spans,
// slowest first; nil when the run received none, or none can be read.
func (p *Run) Stories() []story.Story {
	return p.stories.Get(func() []story.Story {
		list, _ := story.Describe(p.Record, mostStories)
		return list
	})
}

// Note records what was left out of the record, for the summary's warnings.
func (p *Run) Note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(p.unread, text) {
		p.unread = append(p.unread, text)
	}
}

// Unread returns the notes.
func (p *Run) Unread() []string { return p.unread }

// Steady returns the span that findings cover: the run's steady span, or the whole record
// if the run ended before it.
func (p *Run) Steady() timebase.Span { return p.Record.Judged() }

// Series returns one value per window of the steady span, NaN if there is none; its
// Values are nil if the series was not recorded. All series of a pass have windows of the
// same width, wider in long runs; the result has it.
func (p *Run) Series(name, labels string) windows.Line {
	return p.Record.Series(name, labels, p.Steady())
}

// Sum returns the amount of a counter over the steady span. ok is false when the
// series was not recorded in it.
func (p *Run) Sum(name, labels string) (sum float64, ok bool) {
	sum, present := p.Series(name, labels).Sum()
	return sum, present > 0
}

// Rate returns a counter's amount per second over the windows that have it; ok is
// false if none does.
func (p *Run) Rate(name, labels string) (perSecond float64, ok bool) {
	sum, present := p.Series(name, labels).Sum()
	if present == 0 {
		return 0, false
	}
	return sum / (float64(present) * p.Record.Run.Window.Seconds()), true
}

// Mean returns the mean of a gauge over the windows that have it; ok is false if
// none does.
func (p *Run) Mean(name, labels string) (mean float64, ok bool) {
	sum, present := p.Series(name, labels).Sum()
	if present == 0 {
		return 0, false
	}
	return sum / float64(present), true
}

// Max returns the largest value of a series in the steady span; ok is false if it
// has none.
func (p *Run) Max(name, labels string) (most float64, ok bool) {
	most = math.Inf(-1)
	for _, v := range p.Series(name, labels).Values {
		if v > most {
			most, ok = v, true
		}
	}
	return most, ok
}
