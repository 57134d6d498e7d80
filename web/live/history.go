package live

import (
	"math"
	"slices"
	"strconv"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/web/rundata"
)

// most is how many windows of a line the page keeps: ten minutes of 100 ms. They are cut back to that
// when there are a tenth more.
const most = 6000

// mostLines bounds the lines of one chart; the ranked ones change as a run continues.
const mostLines = 24

// layout is a chart without its values. A line's number is its place in Lines, which only grow.
type layout struct {
	ID    string   `json:"id"`
	Group string   `json:"group"`
	Title string   `json:"title"`
	Note  string   `json:"note"`
	Unit  string   `json:"unit"`
	Stack bool     `json:"stack"`
	Log   bool     `json:"log"`
	Heat  bool     `json:"heat"`
	Lines []member `json:"lines"`
}

// member is a line of a layout.
type member struct {
	Label string `json:"label"`
	Tone  string `json:"tone"`
	Apart bool   `json:"apart"`
	Order int    `json:"order"` // where it stands in the chart
}

// history is the charts' lines over the last windows.
type history struct {
	charts []layout
	values [][][]float64 // by chart and line, one per window from first on
	first  int64         // window of the first values
	length int64         // windows held
	begun  bool
}

// lineChange is the values that a line has in the windows of an event.
type lineChange struct {
	chart, line int
	values      rundata.Values
}

// put writes the charts over windows from on into the history. It returns the changed lines, and whether a
// line is new.
func (h *history) put(from, n int64, charts []rundata.Chart) (changed []lineChange, fresh bool) {
	if !h.begun {
		h.begun, h.first = true, from
	}
	h.reach(from + n)
	if h.charts == nil {
		for _, c := range charts {
			h.charts = append(h.charts, layout{ID: c.ID, Group: c.Group, Title: c.Title, Note: c.Note, Unit: c.Unit,
				Stack: c.Stack, Log: c.Log, Heat: c.Heat, Lines: []member{}})
		}
		h.values = make([][][]float64, len(charts))
	}
	for i := range charts {
		written := map[int]bool{}
		for place, l := range charts[i].Lines {
			if l.Values == nil {
				continue
			}
			at, isNew := h.line(i, place, &l)
			if at < 0 {
				continue
			}
			fresh, written[at] = fresh || isNew, true
			h.write(h.values[i][at], from, l.Values)
			changed = append(changed, lineChange{i, at, l.Values})
		}
		changed = append(changed, h.clear(i, from, n, written)...)
	}
	return changed, fresh
}

// clear takes back the values of the lines of chart i that have none any more, such as a statement that is
// among the others now.
func (h *history) clear(i int, from, n int64, written map[int]bool) (changed []lineChange) {
	for k, line := range h.values[i] {
		begin, end := max(from-h.first, 0), min(from+n-h.first, h.length)
		if written[k] || begin >= end || !slices.ContainsFunc(line[begin:end], func(v float64) bool { return !math.IsNaN(v) }) {
			continue
		}
		absent := slices.Repeat([]float64{math.NaN()}, int(n))
		h.write(line, from, absent)
		changed = append(changed, lineChange{i, k, absent})
	}
	return changed
}

// line returns the number of a line of chart i, which it adds when it is new; -1 if there are too many.
func (h *history) line(i, place int, l *rundata.Line) (at int, fresh bool) {
	c := &h.charts[i]
	at = slices.IndexFunc(c.Lines, func(m member) bool { return m.Label == notation.Clean(l.Label) })
	if at >= 0 {
		return at, false
	}
	if len(c.Lines) >= mostLines {
		return -1, false
	}
	m := member{Label: notation.Clean(l.Label), Tone: l.Tone, Apart: l.Apart, Order: place}
	if rundata.Ranked(c.ID) && isRank(l.Tone) {
		// Ranks change as the run continues; a line keeps the colour that it began with.
		m.Tone, m.Order = strconv.Itoa(len(c.Lines)), len(c.Lines)
	} else if rundata.Ranked(c.ID) {
		m.Order = mostLines + place // others, and limits
	}
	c.Lines = append(c.Lines, m)
	empty := make([]float64, h.length, most+most/10)
	for k := range empty {
		empty[k] = math.NaN()
	}
	h.values[i] = append(h.values[i], empty)
	return len(c.Lines) - 1, true
}

func isRank(tone string) bool {
	_, err := strconv.Atoi(tone)
	return err == nil
}

// reach makes room for the windows below until, and lets go of the oldest.
func (h *history) reach(until int64) {
	grow := until - h.first - h.length
	if grow <= 0 {
		return
	}
	drop := int64(0)
	if h.length+grow > most+most/10 {
		drop = min(h.length, h.length+grow-most)
	}
	for i := range h.values {
		for k, v := range h.values[i] {
			v = v[:copy(v, v[drop:])]
			for range grow {
				v = append(v, math.NaN())
			}
			h.values[i][k] = v
		}
	}
	h.first, h.length = h.first+drop, h.length-drop+grow
}

// write puts values into a line from a window on. A window without a value there loses the one it had.
func (h *history) write(line []float64, from int64, values []float64) {
	for i, v := range values {
		if at := from + int64(i) - h.first; at >= 0 && at < int64(len(line)) {
			line[at] = v
		}
	}
}

// all returns every line over all that is held.
func (h *history) all() (changed []lineChange) {
	for i := range h.values {
		for k, v := range h.values[i] {
			changed = append(changed, lineChange{i, k, v})
		}
	}
	return changed
}

// MarshalJSON writes [chart, line, [values]].
func (c lineChange) MarshalJSON() ([]byte, error) {
	values, err := c.values.MarshalJSON()
	if err != nil {
		return nil, err
	}
	b := append([]byte("["), strconv.Itoa(c.chart)...)
	b = append(append(b, ','), strconv.Itoa(c.line)...)
	b = append(append(b, ','), values...)
	return append(b, ']'), nil
}
