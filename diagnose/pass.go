package diagnose

import (
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
)

// Pass is what an analyzer sees: a record, its anatomy, and what other analyzers
// found. What several analyzers compute from the record is computed once and
// kept here. A Pass is used by one goroutine.
type Pass struct {
	Record  *record.Record
	Anatomy *record.Anatomy // nil when no trace was taken apart
	// Stacks knows what functions mean and which are the user's.
	Stacks *callstack.Index

	analyzers map[string]Analyzer
	results   map[string][]Finding
	rejected  []record.Rejected
	reached   map[string][]string
	unjudged  []record.NotJudged
	unread    []string

	profiles   map[string]profileResult
	snapshots  *snapshotsResult
	statements *statementsResult
	operations *operationsResult
	stories    *storiesResult
	load       *Load
	cpu        *CPU
	waits      *Waits
	use        *Use
	stops      *Stops
	serial     *[]serial
	drivers    *[]callstack.Driver
	imports    map[string]bool
}

func newPass(rec *record.Record, a *record.Anatomy) *Pass {
	return &Pass{
		Record:    rec,
		analyzers: map[string]Analyzer{},
		Anatomy:   a,
		Stacks:    callstack.NewIndex(callstack.Code{Module: rec.Run.Target.Module}),
		results:   map[string][]Finding{},
		reached:   map[string][]string{},
		profiles:  map[string]profileResult{},
	}
}

// Findings returns what an analyzer named in After found.
func (p *Pass) Findings(analyzer string) []Finding { return p.results[analyzer] }

// Found reports whether one of the analyzers named in After found a cause that is
// worth telling.
func (p *Pass) Found(analyzers []string) bool {
	for _, name := range analyzers {
		for _, f := range p.results[name] {
			if f.GainCeiling >= MinGain {
				return true
			}
		}
	}
	return false
}

// FoundIn reports whether an analyzer of one of the stages found a cause worth
// telling that limits the service; what only qualifies the measurement does not
// count. It is for analyzers that run Last.
func (p *Pass) FoundIn(stages ...Stage) bool {
	for name, findings := range p.results {
		a := p.analyzers[name]
		if !slices.Contains(stages, a.Stage) {
			continue
		}
		for _, f := range findings {
			cause, _ := Lookup([]Analyzer{a}, f.Cause)
			if f.GainCeiling >= MinGain && !cause.Qualifies {
				return true
			}
		}
	}
	return false
}

// Reject notes a cause that was looked at and does not limit, and the figure
// that says so.
func (p *Pass) Reject(cause, format string, args ...any) {
	r := record.Rejected{Cause: cause, Why: fmt.Sprintf(format, args...)}
	if !slices.Contains(p.rejected, r) {
		p.rejected = append(p.rejected, r)
	}
}

// Unjudged notes a cause that could not be judged, and what was missing.
func (p *Pass) Unjudged(cause, format string, args ...any) {
	p.unjudged = append(p.unjudged, record.NotJudged{Cause: cause, Why: fmt.Sprintf(format, args...)})
}

// Note says what of the record was left out, for the summary's warnings.
func (p *Pass) Note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(p.unread, text) {
		p.unread = append(p.unread, text)
	}
}

// Steady returns the span that findings speak of: the run's steady span, or all
// that was recorded when the run ended before it had one.
func (p *Pass) Steady() record.Span { return p.Record.Judged() }

// Series returns one value per window of the steady span, NaN where there is
// none; its Values are nil if the series was not recorded. All series of a pass
// have windows of the same width, which are wider in long runs: ask the line.
func (p *Pass) Series(name, labels string) record.Line {
	return p.Record.Series(name, labels, p.Steady())
}

// Sum returns the amount of a counter over the steady span. ok is false when the
// series was not recorded in it.
func (p *Pass) Sum(name, labels string) (sum float64, ok bool) {
	sum, present := p.Series(name, labels).Sum()
	return sum, present > 0
}

// Rate returns a counter's amount per second of the windows that hold it.
func (p *Pass) Rate(name, labels string) (perSecond float64, ok bool) {
	sum, present := p.Series(name, labels).Sum()
	if present == 0 {
		return 0, false
	}
	return sum / (float64(present) * p.Record.Run.Window.Seconds()), true
}

// Mean returns the mean of a gauge over the windows that hold it.
func (p *Pass) Mean(name, labels string) (mean float64, ok bool) {
	sum, present := p.Series(name, labels).Sum()
	if present == 0 {
		return 0, false
	}
	return sum / float64(present), true
}

// Max returns the largest value of a series in the steady span.
func (p *Pass) Max(name, labels string) (most float64, ok bool) {
	most = math.Inf(-1)
	for _, v := range p.Series(name, labels).Values {
		if v > most {
			most, ok = v, true
		}
	}
	return most, ok
}

// Load is the load over the steady span.
type Load struct {
	Open        bool
	Connections int     // requests under way at once in a closed loop, or the cap of an open one
	Think       float64 // mean pause between an answer and the next request, ns
	Intended    float64 // 1/s, of an open loop
	Requests    float64 // ended in the span, failures included
	Errors      float64
	Rate        float64 // ended per second
	// Mean, P50 and P99 are latencies in ns; 0 when nothing was recorded.
	Mean, P50, P99 float64
	// Service is the mean service time in ns: from sent, not from intended.
	Service float64
}

// Load returns the load of the steady span; its Requests are 0 when no load was
// recorded.
func (p *Pass) Load() Load {
	if p.load == nil {
		l := p.readLoad()
		p.load = &l
	}
	return *p.load
}

func (p *Pass) readLoad() Load {
	var l Load
	// A plan that does not decode leaves the model unknown, which reads as a
	// closed loop without a connection count; nothing is judged from that.
	if plan, err := scenario.ReadRecorded(p.Record.Run.Scenario); err == nil {
		load := plan.Load
		l.Open, l.Intended, l.Connections = load.Open(), load.Rate, load.Connections*max(1, load.Streams)
		if l.Think = float64(load.Think.Mean); l.Think == 0 {
			l.Think = float64(load.Think.Min+max(load.Think.Min, load.Think.Max)) / 2
		}
	}
	l.Requests, _ = p.Sum(record.LoadRequests, "")
	for _, labels := range p.Record.Labels(record.LoadErrors) {
		n, _ := p.Sum(record.LoadErrors, labels)
		l.Errors += n
	}
	l.Rate, _ = p.Rate(record.LoadRequests, "")
	if h, err := p.Record.Histogram("", record.Latency, p.Steady()); err == nil && h.TotalCount() > 0 {
		l.Mean, l.P50, l.P99 = h.Mean(), float64(h.ValueAtQuantile(50)), float64(h.ValueAtQuantile(99))
	}
	if h, err := p.Record.Histogram("", record.Service, p.Steady()); err == nil && h.TotalCount() > 0 {
		l.Service = h.Mean()
	}
	return l
}
