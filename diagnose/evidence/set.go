// Package evidence is everything that analyzers derive from a record and that more
// than one of them needs: who used the CPUs, what requests waited for, statements,
// goroutines, the critical path, and what a model of the service gives for removing
// some of it. Each table is read once per diagnosis.
//
// It states figures and decides nothing: it knows no analyzer, names no cause and
// makes no finding.
//
// Missing data is NaN, or ok = false, never 0: analyzers write comparisons so that
// NaN fails them, !(x >= least) rather than x < least.
package evidence

import (
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/anatomy/story"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
)

// Set is a record with its anatomy and the tables that are derived from them, each
// when it is first asked for. It is used by one goroutine. New makes one.
type Set struct {
	Record  *record.Record
	Anatomy *breakdown.Anatomy // nil when no trace was taken apart
	// Stacks knows what functions mean and which are the user's.
	Stacks *callstack.Index

	unread []string

	profiles   map[string]*memo[*Profile]
	snapshots  memo[[]Snapshot]
	statements memo[*database.Statements]
	operations memo[asked]
	stories    memo[[]story.Story]
	load       memo[Load]
	cpu        memo[CPU]
	waits      memo[*Waits]
	use        memo[*Use]
	stops      memo[Stops]
	serial     memo[[]serial]
	drivers    memo[[]callstack.Driver]
	packages   memo[map[string]bool]
}

// New returns the evidence of a record; a is nil when no trace was taken apart.
func New(rec *record.Record, a *breakdown.Anatomy) *Set {
	return &Set{
		Record: rec, Anatomy: a,
		Stacks:   callstack.NewIndex(callstack.Code{Module: rec.Run.Target.Module}),
		profiles: map[string]*memo[*Profile]{},
	}
}

// memo is a table that is read when it is first asked for, and kept with its error.
type memo[T any] struct {
	read  bool
	value T
	err   error
}

func (m *memo[T]) get(read func() T) T {
	value, _ := m.try(func() (T, error) { return read(), nil })
	return value
}

func (m *memo[T]) try(read func() (T, error)) (T, error) {
	if !m.read {
		m.value, m.err = read()
		m.read = true
	}
	return m.value, m.err
}

// Note says what of the record was left out, for the summary's warnings.
func (p *Set) Note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(p.unread, text) {
		p.unread = append(p.unread, text)
	}
}

// Unread returns what was noted as left out of the record.
func (p *Set) Unread() []string { return p.unread }

// Steady returns the span that findings are about: the run's steady span, or all
// that was recorded if the run ended before it had one.
func (p *Set) Steady() timebase.Span { return p.Record.Judged() }

// Series returns one value per window of the steady span, NaN where there is
// none; its Values are nil if the series was not recorded. All series of a pass
// have windows of the same width, which are wider in long runs: ask the line.
func (p *Set) Series(name, labels string) windows.Line {
	return p.Record.Series(name, labels, p.Steady())
}

// Sum returns the amount of a counter over the steady span. ok is false when the
// series was not recorded in it.
func (p *Set) Sum(name, labels string) (sum float64, ok bool) {
	sum, present := p.Series(name, labels).Sum()
	return sum, present > 0
}

// Rate returns a counter's amount per second over the windows that have it; ok is
// false if none does.
func (p *Set) Rate(name, labels string) (perSecond float64, ok bool) {
	sum, present := p.Series(name, labels).Sum()
	if present == 0 {
		return 0, false
	}
	return sum / (float64(present) * p.Record.Run.Window.Seconds()), true
}

// Mean returns the mean of a gauge over the windows that have it; ok is false if
// none does.
func (p *Set) Mean(name, labels string) (mean float64, ok bool) {
	sum, present := p.Series(name, labels).Sum()
	if present == 0 {
		return 0, false
	}
	return sum / float64(present), true
}

// Max returns the largest value of a series in the steady span; ok is false if it
// has none.
func (p *Set) Max(name, labels string) (most float64, ok bool) {
	most = math.Inf(-1)
	for _, v := range p.Series(name, labels).Values {
		if v > most {
			most, ok = v, true
		}
	}
	return most, ok
}
