package export

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
)

// Tee is a record's writer that copies its input to the exporters. Its
// methods cost as much as the writer's, plus one copy; they return the writer's
// errors, and never an exporter's.
type Tee struct {
	*record.Writer
	exporters *Exporters
	hide      *redact.Redactor
	gather    *gather // nil when no exporter takes windows
	end       chan struct{}
	ended     chan struct{}
	once      sync.Once
	warnings  []string
}

// Tee puts the exporters next to a writer. Secrets that would leave through them are hidden by
// hide, as the writer does. The Tee must be closed before the writer
// is.
func (e *Exporters) Tee(w *record.Writer, id Identity, hide *redact.Redactor) *Tee {
	t := &Tee{Writer: w, hide: hide, exporters: e, end: make(chan struct{}), ended: make(chan struct{})}
	e.begin(id)
	if len(e.sinks()) == 0 {
		close(t.ended)
		return t
	}
	t.gather = newGather(e.Clock, e.Window, hide)
	go t.run()
	return t
}

// Add implements the sinks of load and observe.
func (t *Tee) Add(points ...series.Point) error {
	if t.gather != nil {
		t.gather.add(points)
	}
	return t.Writer.Add(points...)
}

// Counts implements load's sink.
func (t *Tee) Counts(step string, kind histogram.Kind, s timebase.Span, c *histogram.Counts) error {
	if t.gather != nil {
		t.gather.log(step, kind, s, c)
	}
	return t.Writer.Counts(step, kind, s, c)
}

// Profile implements observe's sink.
func (t *Tee) Profile(p record.Profile) error {
	err := t.Writer.Profile(p)
	if t.exporters.pyroscope != nil {
		t.exporters.pyroscope.profile(p, t.hide)
	}
	return err
}

// run sends windows until the Tee is closed.
func (t *Tee) run() {
	defer close(t.ended)
	tick := time.NewTicker(t.exporters.every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.send(t.exporters.Clock.Now() - sendDelay)
		case <-t.end:
			t.send(math.MaxInt64)
			return
		}
	}
}

// send gives the windows that ended by then to the exporters.
func (t *Tee) send(by time.Duration) {
	windows := t.gather.take(by)
	if len(windows) == 0 {
		return
	}
	for _, s := range t.exporters.sinks() {
		s.windows(windows)
	}
}

// Finish sends pending windows, for a few seconds at most, ends the exporters
// and returns in whole sentences the losses. It leaves the writer open.
// Nothing may be written meanwhile. A second Finish returns the same.
func (t *Tee) Finish() []string {
	t.once.Do(func() {
		close(t.end)
		<-t.ended
		t.warnings = t.exporters.close()
		if t.gather == nil {
			return
		}
		if n := t.gather.lost(); n > 0 {
			t.warnings = append(t.warnings, fmt.Sprintf("%d values were not exported: they came faster than they could be "+
				"sent; the record has them", n))
		}
		if n := t.gather.late; n > 0 {
			t.warnings = append(t.warnings, fmt.Sprintf("%d values were not exported: they came more than %v after their "+
				"window; the record has them", n, sendDelay))
		}
	})
	return t.warnings
}
