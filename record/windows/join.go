package windows

import "github.com/redline-go/redline/record/series"

// joining is how several windows of a series become one.
type joining uint8

// Ways of joining. A counter's amounts are summed. Of a gauge the last value stays,
// because a gauge is the level at a window's end. Of values that are the largest in
// their window the largest stays; so it does of percentiles above the median, because
// the percentile of several windows does not follow from theirs: the largest bounds it
// from above, and a slow moment stays visible. Medians are averaged, because the
// largest of many would not be a typical level.
const (
	joinSum joining = iota
	joinLast
	joinMost
	joinMean
)

// joiningOf returns how windows of a series are joined.
func joiningOf(s series.Series) joining {
	info, _ := series.Known(s.Name)
	switch q := series.Label(s.Labels, "q"); {
	case series.Counts(s):
		return joinSum
	case q == "p50":
		return joinMean
	case q != "" || info.Most:
		return joinMost
	}
	return joinLast
}

// join adds a later value b, of nb windows, to a, of na windows.
func (j joining) join(a float64, na uint16, b float64, nb uint16) (float64, uint16) {
	n := uint16(min(int(na)+int(nb), MaxFactor))
	switch j {
	case joinSum:
		return a + b, n
	case joinMost:
		return max(a, b), n
	case joinMean:
		return (a*float64(na) + b*float64(nb)) / float64(int(na)+int(nb)), n
	}
	return b, n
}

// Thinned returns the values of a finished table joined to windows of factor
// times its own.
func (t *Table) Thinned(factor int64) (*Table, error) {
	out := newTable()
	out.grid.slot = t.grid.slot
	for i := range t.series {
		c := &t.series[i]
		index, err := out.define(c.Series)
		if err != nil {
			return nil, err
		}
		for j, w := range c.windows {
			from := FloorDiv(int64(w), factor) * factor
			if err := out.addJoined(index, from, c.values[j], factor, c.count(j)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
