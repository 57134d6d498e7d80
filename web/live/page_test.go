package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/redline-go/redline/assess"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/report/reporttest"
	"github.com/redline-go/redline/web/rundata"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// feed is a recorded run that is fed to a page window by window.
type feed struct {
	rec     *record.Record
	windows map[int64][]series.Point
	logs    map[int64][]logged
	texts   database.Statements
}

func feedOf(t testing.TB, rec *record.Record) *feed {
	t.Helper()
	f := &feed{rec: rec, windows: map[int64][]series.Point{}, logs: map[int64][]logged{}}
	from, to := rec.Windows()
	whole := timebase.Span{From: timebase.WindowSpan(from, rec.Run.Window).From, To: timebase.WindowSpan(to, rec.Run.Window).From}
	for _, s := range rec.Names() {
		for i, v := range rec.Series(s.Name, s.Labels, whole).Values {
			if w := from + int64(i); !math.IsNaN(v) {
				half := series.Point{Window: w, Series: s, Value: v / 2} // parts of one window are summed
				f.windows[w] = append(f.windows[w], half, half)
			}
		}
	}
	must(t, rec.Intervals(histogram.Latency, func(_ string, s timebase.Span, c *histogram.Counts) bool {
		l := logged{span: s}
		l.counts.Merge(c)
		w := timebase.Window(s.To-1, rec.Run.Window)
		f.logs[w] = append(f.logs[w], l)
		return true
	}))
	_ = rec.ReadJSON(database.File, &f.texts) // a bare run has none
	return f
}

// begin announces the run to the page.
func (f *feed) begin(p *Page, mark func(string) (record.Mark, error)) {
	p.Begin(Recording{Dir: f.rec.Dir, Run: f.rec.Run, Steady: f.rec.Run.Steady, Mark: mark})
	for _, s := range f.texts.Statements {
		p.Event(Event{QueryID: s.QueryID, Text: s.Text})
	}
	for _, tr := range f.rec.Traces() {
		p.Event(Event{Traced: tr.Span})
	}
}

// window feeds one window; late series come so many windows after their own.
func (f *feed) window(p *Page, w int64, late func(name string) int64) {
	var points []series.Point
	for _, point := range f.windows[w] {
		if late(point.Series.Name) == 0 {
			points = append(points, point)
		}
	}
	for behind := int64(1); behind <= 20; behind++ {
		for _, point := range f.windows[w-behind] {
			if late(point.Series.Name) == behind {
				points = append(points, point)
			}
		}
	}
	p.Add(points)
	for i := range f.logs[w] {
		p.Counts(histogram.Latency, f.logs[w][i].span, &f.logs[w][i].counts)
	}
	n := 0.0
	for _, point := range f.windows[w] {
		if point.Series.Name == series.LoadRequests {
			n += point.Value
		}
	}
	from, _ := f.rec.Windows()
	p.Event(Event{Phase: "measuring", Window: &Window{Done: float64(w-from+1) / 10, Total: 30, Rate: n * 10,
		P50: 28e6, P90: 49e6, P99: 91e6, Max: 160e6, InFlight: 64, LagP99: 2e5, CPU: math.NaN()}})
}

// repeat feeds window w, which from window to on holds what those between from and to held, again and again: a page shows
// the same charts however late a busy browser comes to them.
func (f *feed) repeat(p *Page, w, from, to int64) {
	source, at := w, timebase.WindowSpan(w, f.rec.Run.Window).From
	if w >= to {
		source = from + (w-from)%(to-from)
	}
	moved := at - timebase.WindowSpan(source, f.rec.Run.Window).From
	once := &feed{rec: f.rec, windows: map[int64][]series.Point{w: slices.Clone(f.windows[source])}, logs: map[int64][]logged{}}
	for i := range once.windows[w] {
		once.windows[w][i].Window = w
	}
	for _, l := range f.logs[source] {
		l.span.From, l.span.To = l.span.From+moved, l.span.To+moved
		once.logs[w] = append(once.logs[w], l)
	}
	once.window(p, w, promptly)
}

func promptly(string) int64 { return 0 }

// fed is a page that was fed a whole run, with a tick for every window.
func fed(t testing.TB, rec *record.Record, late func(string) int64) *Page {
	t.Helper()
	p, f := newPage(Options{Title: "gateway"}), feedOf(t, rec)
	f.begin(p, nil)
	from, to := rec.Windows()
	for w := from; w < to+20; w++ {
		f.window(p, w, late)
		p.tick()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.sum()
	return p
}

// decoded is a JSON value as another program reads it.
func decoded(t testing.TB, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	var out any
	must(t, json.Unmarshal(text, &out))
	return out
}

// TestChartsAreTheReports: after a run, each line of the live page holds the values of the report's, to the
// digit, even if a source delivers a second late.
func TestChartsAreTheReports(t *testing.T) {
	rec := reporttest.Bundle(t, reporttest.Options{})
	p := fed(t, rec, func(name string) int64 {
		if name == series.ProcessUser || name == series.StatementTime {
			return 11
		}
		return 0
	})
	h := &p.state.history
	want := rundata.Of(rec, reporttest.Sick())
	shown := 0
	for _, c := range want.Charts {
		i := slices.IndexFunc(h.charts, func(l layout) bool { return l.ID == c.ID })
		for _, l := range c.Lines {
			k := slices.IndexFunc(h.charts[i].Lines, func(m member) bool { return m.Label == l.Label })
			if k < 0 {
				t.Errorf("%s: no line %q", c.ID, l.Label)
				continue
			}
			got := rundata.Values(h.values[i][k][:len(l.Values)])
			if !reflect.DeepEqual(decoded(t, got), decoded(t, l.Values)) {
				t.Errorf("%s, %s: %v\nwant %v", c.ID, l.Label, got[:12], l.Values[:12])
			}
			if m := h.charts[i].Lines[k]; m.Tone != l.Tone || m.Apart != l.Apart {
				t.Errorf("%s, %s: %+v", c.ID, l.Label, m)
			}
			shown++
		}
	}
	if shown < 40 || p.state.recent.late > 0 {
		t.Errorf("%d lines compared, %d points came too late", shown, p.state.recent.late)
	}
	total := int64(0)
	for _, rows := range p.state.heat {
		for _, n := range rows {
			total += n
		}
	}
	if total != 30*800 {
		t.Errorf("the heat map holds %d requests, want those of the log: %d", total, 30*800)
	}
}

// TestFiguresSoFarAreThoseOfTheBundle: the page's figures so far are redline's figures for the bundle of a run that is
// killed at that moment.
func TestFiguresSoFarAreThoseOfTheBundle(t *testing.T) {
	rec := reporttest.Bundle(t, reporttest.Options{Bare: true})
	got := fed(t, rec, promptly).state.figures
	must(t, os.Remove(filepath.Join(rec.Dir, record.SummaryFile)))
	s, err := assess.SoFar(rec.Dir)
	must(t, err)
	want := Figures{Seconds: time.Duration(s.Load.Duration).Seconds(), Requests: s.Load.Requests, Errors: s.Load.Errors,
		Rate: s.Load.Rate, Latency: s.Load.Latency}
	if got != want || got.Requests == 0 || got.Errors == 0 || got.Latency.P99 == 0 {
		t.Errorf("the page: %+v\nthe bundle: %+v", got, want)
	}
	if _, err := os.Stat(filepath.Join(rec.Dir, record.SummaryFile)); err == nil {
		t.Error("judging so far wrote into the bundle")
	}
}

// TestMemoryIsBounded: the page holds ten minutes, however long the run is.
func TestMemoryIsBounded(t *testing.T) {
	p := newPage(Options{})
	p.Begin(Recording{Run: record.Run{Window: timebase.DefaultWindow}, Steady: timebase.Span{To: time.Hour}})
	var ended histogram.Counts
	ended.Add(5_000_000)
	for w := range int64(3 * most) {
		p.Add([]series.Point{{Window: w, Series: series.Series{Name: series.LoadRequests, Unit: "1"}, Value: float64(w)}})
		if w%35 == 0 { // requests end now and then, so that the heat map has gaps
			p.Counts(histogram.Latency, timebase.WindowSpan(w, timebase.DefaultWindow), &ended)
		}
		p.tick()
	}
	h := &p.state.history
	if h.length > most+most/10 || h.first+h.length != 3*most {
		t.Errorf("%d windows from %d on", h.length, h.first)
	}
	for i := range h.values {
		for _, line := range h.values[i] {
			if int64(len(line)) != h.length || line[h.length-1] != (3*most-1)*10 || line[0] != float64(h.first*10) {
				t.Errorf("a line of %d values from %v to %v", len(line), line[0], line[h.length-1])
			}
		}
	}
	columns := slices.Sorted(maps.Keys(p.state.heat))
	if held := columns[len(columns)-1] - columns[0]; held >= int64(most*timebase.DefaultWindow/heatWidth) {
		t.Errorf("the heat map holds %d columns of time, of which ten minutes have %d", held, most*timebase.DefaultWindow/heatWidth)
	}
	events, _, known, _ := p.stream.since(p.stream.newest() - 10)
	if !known || len(events) != 10 || len(p.stream.events) > mostEvents || p.stream.bytes > mostBytes {
		t.Errorf("%d events kept, %d bytes", len(p.stream.events), p.stream.bytes)
	}
	if _, _, known, _ := p.stream.since(1); known {
		t.Error("an event of long ago is still there")
	}
}

// TestStatementsThatFallBehindAreNotCountedTwice: one that now belongs to the others is no longer shown separately in
// the same window.
func TestStatementsThatFallBehindAreNotCountedTwice(t *testing.T) {
	h := history{}
	chart := func(labels ...string) []rundata.Chart {
		c := rundata.Chart{ID: "statements", Stack: true}
		for i, l := range labels {
			c.Lines = append(c.Lines, rundata.Line{Label: l, Tone: fmt.Sprint(i), Values: rundata.Values{1, 1}})
		}
		return []rundata.Chart{c}
	}
	h.put(10, 2, chart("a", "b"))
	changed, fresh := h.put(11, 2, chart("b", "c"))
	if !fresh || len(changed) != 3 {
		t.Fatalf("%v, new lines: %v", changed, fresh)
	}
	text, err := json.Marshal([]rundata.Values{h.values[0][0], h.values[0][1], h.values[0][2]})
	must(t, err)
	if string(text) != "[[1,null,null],[1,1,1],[null,1,1]]" {
		t.Errorf("a, b, c over windows 10 to 12: %s", text)
	}
	if tones := []string{h.charts[0].Lines[1].Tone, h.charts[0].Lines[2].Tone}; !slices.Equal(tones, []string{"1", "2"}) {
		t.Errorf("tones %q: a line keeps its own", tones)
	}
}
