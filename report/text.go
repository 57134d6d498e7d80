package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
)

// findingsShown is how many findings a reader gets without asking for all.
const findingsShown = 3

// narrowest is the width in cells below which the tables do not fit.
const narrowest = 40

// TextOptions says how the text summary is laid out. The zero value is plain
// text, 80 cells wide, with at most three findings.
type TextOptions struct {
	// Color adds ANSI colours. The caller decides: a terminal, and no NO_COLOR.
	Color bool
	// All shows every finding in full length with the alternatives that it was
	// distinguished from, and all that was not judged.
	All bool
	// Width is the width of the terminal in cells; zero means 80, and less
	// than 40 is taken as 40.
	Width int
	// Height is the terminal's, in lines; a longer summary repeats its answer at
	// the end, where the screen shows it. Zero is no terminal.
	Height int
	// Record is the run's bundle, from which All shows the slowest requests; nil
	// leaves them out.
	Record *record.Record
	// More is the command that shows the parts left out; empty names none.
	More string
}

// Text writes the final summary of a run. Its first lines name the bottleneck of the
// service, or, when the generator was the limit, that the run is INVALID. The
// only errors are those of w.
func Text(w io.Writer, s *record.Summary, o TextOptions) error {
	t := newTextWriter(s, o)
	t.validity()
	t.findings()
	t.load()
	t.thresholds()
	t.ledger()
	t.notJudged()
	t.slowest()
	t.sources()
	t.warnings()
	t.closing()
	return t.flush(w)
}

// Head writes only the bottleneck and one line of the service's speed: a step of
// a ladder between others.
func Head(w io.Writer, s *record.Summary, o TextOptions) error {
	t := newTextWriter(s, o)
	t.validity()
	t.findings()
	l := &s.Load
	t.section()
	t.line("%s requests/s, p50 %s, p95 %s, p99 %s", notation.Rate(l.Rate),
		percentile(l.Latency, 50), percentile(l.Latency, 95), percentile(l.Latency, 99))
	t.ledger()
	return t.flush(w)
}

func newTextWriter(s *record.Summary, o TextOptions) *textWriter {
	if o.Width == 0 {
		o.Width = 80
	}
	return &textWriter{s: s, o: o, paint: paint(o.Color), width: max(o.Width, narrowest)}
}

func (t *textWriter) flush(w io.Writer) error {
	if _, err := io.WriteString(w, t.b.String()); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// textWriter collects the summary; it goes to the outside in one write, so
// that a broken pipe cannot leave half a line among others' output.
type textWriter struct {
	paint
	s     *record.Summary
	o     TextOptions
	width int
	b     strings.Builder
}

func (t *textWriter) line(format string, args ...any) {
	fmt.Fprintf(&t.b, format+"\n", args...)
}

// section starts a part of the summary, apart from the text before it.
func (t *textWriter) section() {
	if t.b.Len() > 0 {
		t.b.WriteByte('\n')
	}
}

// validity says first of all when the figures are not the service's own.
func (t *textWriter) validity() {
	if why := invalid(t.s); why != "" {
		for _, l := range wrap("INVALID: "+why, t.width, 0) {
			t.line("%s", t.red(l))
		}
	}
	for _, text := range reservations(t.s) {
		for _, l := range wrap(text, t.width, 0) {
			t.line("%s", t.amber(l))
		}
	}
}

// notJudged lists the causes that were not judged, whole reasons at a time.
func (t *textWriter) notJudged() {
	if len(t.s.NotJudged) == 0 {
		return
	}
	t.section()
	cells := notJudgedLines * t.width
	if t.o.All {
		cells = math.MaxInt
	}
	for _, l := range wrap("not judged: "+notJudged(t.s.NotJudged, cells), t.width, 0) {
		t.line("%s", t.dim(l))
	}
}

// notJudgedLines is about how many lines those take unless all is asked for.
const notJudgedLines = 3

// warnings lists those that are not said before the findings.
func (t *textWriter) warnings() {
	list := slices.DeleteFunc(slices.Clone(t.s.Warnings), func(w string) bool { return w == t.s.Caution })
	if len(list) == 0 {
		return
	}
	t.section()
	for _, warning := range list {
		for i, l := range wrap(notation.Clean(warning), t.width-9, 0) {
			t.line("%s%s", t.amber(left([]string{"warning: ", ""}[min(i, 1)], 9)), l)
		}
	}
}

// closing names the bundle. On a terminal whose first lines have scrolled away by
// then, it gives the answer once more.
func (t *textWriter) closing() {
	if t.o.Height > 0 && strings.Count(t.b.String(), "\n")+3 > t.o.Height {
		t.section()
		for _, l := range wrap("In short: "+short(t.s), t.width, 0) {
			t.line("%s", t.bold(l))
		}
	}
	if t.s.Run == "" {
		return
	}
	t.section()
	t.line("%s %s", t.dim("bundle"), notation.Clean(t.s.Run))
}
