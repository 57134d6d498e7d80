package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/redline-go/redline/export"
	"github.com/redline-go/redline/load/account"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// What receives a run besides its record: exporters to other tools, and the live page.

// Follower receives what a run records, as it is recorded. The load's window loop and the sources call
// its methods, perhaps concurrently; they must not block, and must not keep what they are passed.
type Follower interface {
	// Begin is called once, before anything is recorded.
	Begin(Recording)
	Add(points []series.Point)
	Counts(kind histogram.Kind, s timebase.Span, c *histogram.Counts)
}

// Recording is a run whose record is open.
type Recording struct {
	Dir    string
	Run    record.Run    // as it began, without secrets
	Steady timebase.Span // the planned one
	// Hide takes secrets out of labels and texts, as the record does.
	Hide func(string) string
	// Mark records that the user marked the present moment. It fails once the record is closed or has
	// record.MaxMarks.
	Mark func(text string) (record.Mark, error)
}

// recorder is where load and sources put what they measure.
type recorder interface {
	account.Sink
	observe.Sink
}

// recorder returns the record with its exporters and the follower. It must be called after
// beginExport.
func (c *conductor) recorder(steady timebase.Span) recorder {
	if c.Follow == nil {
		return c.tee
	}
	c.Follow.Begin(Recording{Dir: c.bundle.Dir(), Run: c.opening(), Steady: steady, Hide: c.Hide.Text, Mark: c.mark})
	return &followed{Tee: c.tee, by: c.Follow, event: c.event}
}

// mark adds a mark at the present moment to the record.
func (c *conductor) mark(text string) (m record.Mark, err error) {
	m = record.Mark{At: c.clock.Now()}
	text = c.Hide.Text(text) // before it is cut: half a secret is not known as one
	m.Text = strings.ToValidUTF8(text[:min(len(text), record.MaxMarkText)], "")
	var full error
	err = c.bundle.Update(func(r *record.Run) {
		if len(r.Marks) >= record.MaxMarks {
			full = fmt.Errorf("the run already has %d marks", record.MaxMarks)
			return
		}
		r.Marks = append(r.Marks, m)
	})
	return m, errors.Join(err, full)
}

// followed is a record that also passes what it receives to a follower.
type followed struct {
	*export.Tee
	by    Follower
	event func(Event)
}

var _ recorder = (*followed)(nil)

// Add implements the sinks of load and observe.
func (f *followed) Add(points ...series.Point) error {
	f.by.Add(points)
	return f.Tee.Add(points...)
}

// Counts implements load's sink.
func (f *followed) Counts(step string, kind histogram.Kind, s timebase.Span, c *histogram.Counts) error {
	f.by.Counts(kind, s, c)
	return f.Tee.Counts(step, kind, s, c)
}

// Trace implements observe's sink.
func (f *followed) Trace(t record.Trace) error {
	f.event(Event{Traced: t.Span})
	return f.Tee.Trace(t)
}

// statement returns a function that passes a statement's text to the follower; nil without one.
func (c *conductor) statement() func(queryid, text string) {
	if c.Follow == nil {
		return nil
	}
	return func(queryid, text string) {
		c.event(Event{Statement: Statement{QueryID: queryid, Text: c.Hide.Text(text)}})
	}
}

// Statement is one of the database, by its query id.
type Statement struct{ QueryID, Text string }

// settleTime is the time between a target's readiness and its load.
func (c *conductor) settleTime() time.Duration {
	if c.Counters {
		return settleCounters
	}
	return settle
}

// openExporters opens the run's exporters. An address that is taken is
// an input error, so it comes before the target is built.
func (c *conductor) openExporters() (err error) {
	c.exporters, err = export.Open(export.Options{
		Export: c.Plan.Export, Clock: c.clock, Window: timebase.DefaultWindow, Version: c.Version,
	})
	if err != nil {
		return err
	}
	if page := c.exporters.Page(); page != "" {
		c.event(Event{Phase: "Prometheus can scrape figures at " + page})
	}
	return nil
}

// beginExport connects the exporters to the record.
func (c *conductor) beginExport() {
	name := filepath.Base(c.bundle.Dir())
	if abs, err := filepath.Abs(c.bundle.Dir()); err == nil {
		name = filepath.Base(abs)
	}
	c.tee = c.exporters.Tee(c.bundle, export.Identity{
		Run: name, Scenario: c.Plan.Name, Service: export.ServiceName(c.target.Info()),
	}, c.Hide)
}
