package windows

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Bounds on windows. Writers keep to them, and files that exceed them are refused.
const (
	// MaxPoints is the number of (window, series) values: three hours of 300
	// series in windows of 100 ms. In memory a point takes 12 bytes.
	MaxPoints = 32 << 20
	// MaxWindow is the largest magnitude of a window's index.
	MaxWindow = 1<<31 - 1
)

// Table holds the windows of a run in memory, one column per series.
type Table struct {
	series []column
	index  map[seriesKey]int
	points int
	grid   grid

	width   time.Duration // of a window
	ordered []*column     // by name and labels, once the table is finished
}

// column is one series: its values in order of windows, absent ones left out.
type column struct {
	series.Series
	windows []int32
	values  []float64
	// counts holds how many windows of Run.Window each value was joined from; nil
	// when each is one.
	counts  []uint16
	joining joining
	// unsorted is set once a point came out of order.
	unsorted bool
}

func newTable() *Table { return New(timebase.DefaultWindow) }

// New returns an empty table for windows of a width.
func New(window time.Duration) *Table {
	return &Table{width: window, index: map[seriesKey]int{}, grid: grid{slot: SlotWindows(window),
		factors: map[int64]int64{}, last: math.MinInt64}}
}

// define returns the index of a series, which it adds if it is new.
func (t *Table) define(s series.Series) (int, error) {
	key := seriesKey{s.Name, s.Labels}
	if i, ok := t.index[key]; ok {
		if t.series[i].Unit != s.Unit {
			return 0, fmt.Errorf("series %s has units %q and %q", seriesText(s), t.series[i].Unit, s.Unit)
		}
		return i, nil
	}
	if len(t.series) >= series.MaxSeries {
		return 0, fmt.Errorf("more than %d series", series.MaxSeries)
	}
	t.index[key] = len(t.series)
	t.series = append(t.series, column{Series: s, joining: joiningOf(s)})
	return len(t.series) - 1, nil
}

// addJoined adds a value that stands for factor windows from the given one on,
// of which count held one: 1 and 1 for the value of one window. Values of one window are summed.
func (t *Table) addJoined(series int, window int64, value float64, factor int64, count uint16) error {
	c := &t.series[series]
	if window > MaxWindow || window < -MaxWindow || math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("series %s: value %g in window %d is out of range", seriesText(c.Series), value, window)
	}
	if factor < 1 || factor > MaxFactor || count < 1 || int64(count) > factor {
		return fmt.Errorf("series %s: a value of %d windows, joined from %d", seriesText(c.Series), factor, count)
	}
	if err := t.grid.mark(window, factor); err != nil {
		return err
	}
	w, n := int32(window), len(c.windows)
	if n > 0 && c.windows[n-1] == w {
		c.merge(n-1, value, factor, count)
		return nil
	}
	if t.points >= MaxPoints {
		return fmt.Errorf("more than %d values", MaxPoints)
	}
	t.points++
	c.unsorted = c.unsorted || n > 0 && c.windows[n-1] > w
	c.windows = append(c.windows, w)
	c.values = append(c.values, value)
	if count > 1 && c.counts == nil {
		c.counts = make([]uint16, n, cap(c.windows))
		for i := range c.counts {
			c.counts[i] = 1
		}
	}
	if c.counts != nil {
		c.counts = append(c.counts, count)
	}
	return nil
}

// count returns how many windows a value was joined from.
func (c *column) count(i int) uint16 {
	if c.counts == nil {
		return 1
	}
	return c.counts[i]
}

// merge adds a later value to the one at i, which begins at the same window. Parts of
// one window are summed, whatever the series; joined windows follow its rule.
func (c *column) merge(i int, value float64, factor int64, count uint16) {
	if factor == 1 {
		c.values[i] += value
		return
	}
	var n uint16
	c.values[i], n = c.joining.join(c.values[i], c.count(i), value, count)
	n = uint16(min(int64(n), factor))
	if c.counts == nil && n > 1 {
		c.counts = make([]uint16, len(c.windows), cap(c.windows))
		for k := range c.counts {
			c.counts[k] = 1
		}
	}
	if c.counts != nil {
		c.counts[i] = n
	}
}

// Finish puts every column in order and merges the parts of one window. No value
// may be added afterwards.
func (t *Table) Finish() {
	for i := range t.series {
		c := &t.series[i]
		if !c.unsorted {
			continue
		}
		sort.Stable((*byWindow)(c))
		kept := 0
		for j := range c.windows {
			if kept > 0 && c.windows[kept-1] == c.windows[j] {
				c.merge(kept-1, c.values[j], t.grid.of(int64(c.windows[j])), c.count(j))
				continue
			}
			c.windows[kept], c.values[kept] = c.windows[j], c.values[j]
			if c.counts != nil {
				c.counts[kept] = c.counts[j]
			}
			kept++
		}
		t.points -= len(c.windows) - kept
		c.windows, c.values, c.unsorted = c.windows[:kept], c.values[:kept], false
		if c.counts != nil {
			c.counts = c.counts[:kept]
		}
	}
	t.ordered = t.sorted()
}

// Size returns the number of values in the table.
func (t *Table) Size() int { return t.points }

// sorted returns the columns by name and labels.
func (t *Table) sorted() []*column {
	all := make([]*column, len(t.series))
	for i := range t.series {
		all[i] = &t.series[i]
	}
	slices.SortFunc(all, func(a, b *column) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Labels, b.Labels))
	})
	return all
}

// Span returns the first and one past the last window with a value.
func (t *Table) Span() (from, to int64) {
	first := true
	for i := range t.series {
		c := &t.series[i]
		n := len(c.windows)
		if n == 0 {
			continue
		}
		last := int64(c.windows[n-1])
		a, b := int64(c.windows[0]), last+t.grid.of(last)
		if first {
			from, to, first = a, b, false
			continue
		}
		from, to = min(from, a), max(to, b)
	}
	return from, to
}

// Labels returns the label texts under which a series name occurs, sorted.
func (t *Table) Labels(name string) []string {
	i, _ := slices.BinarySearchFunc(t.ordered, name, func(c *column, name string) int { return cmp.Compare(c.Name, name) })
	var labels []string
	for ; i < len(t.ordered) && t.ordered[i].Name == name; i++ {
		labels = append(labels, t.ordered[i].Labels)
	}
	return labels
}

// Names returns all series, sorted by name and labels.
func (t *Table) Names() []series.Series {
	names := make([]series.Series, len(t.ordered))
	for i, c := range t.ordered {
		names[i] = c.Series
	}
	return names
}

// fill writes the values of windows [from, from+len(out)) to out and leaves
// the others as they are.
func (c *column) fill(out []float64, from int64) {
	i := sort.Search(len(c.windows), func(i int) bool { return int64(c.windows[i]) >= from })
	for ; i < len(c.windows); i++ {
		at := int64(c.windows[i]) - from
		if at >= int64(len(out)) {
			return
		}
		out[at] = c.values[i]
	}
}

// byWindow sorts the two slices of a column together.
type byWindow column

func (c *byWindow) Len() int           { return len(c.windows) }
func (c *byWindow) Less(i, j int) bool { return c.windows[i] < c.windows[j] }
func (c *byWindow) Swap(i, j int) {
	c.windows[i], c.windows[j] = c.windows[j], c.windows[i]
	c.values[i], c.values[j] = c.values[j], c.values[i]
	if c.counts != nil {
		c.counts[i], c.counts[j] = c.counts[j], c.counts[i]
	}
}

func seriesText(s series.Series) string {
	if s.Labels == "" {
		return s.Name
	}
	return s.Name + "{" + s.Labels + "}"
}
