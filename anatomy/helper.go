package anatomy

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/record/breakdown"
)

// maxHelpers bounds the kinds of helpers that are counted, and leastHelper the part of
// a function's helpers below which a place that starts them is left out of the record.
const (
	maxHelpers  = 256
	leastHelper = 0.01
)

// helperKind is a function that requests start goroutines in, and the place of the go
// statement.
type helperKind struct {
	entry nameID
	start stackID
}

// helped counts a goroutine at its end, where it worked for one request alone: that
// request started it, itself or by a helper, and is still under way. What outlives its
// request may work for later ones, as a connection's reader does.
func (t *tracker) helped(g *goroutine) {
	if g.started == 0 || g.entry == 0 {
		return
	}
	if c, _ := g.request(); c == nil {
		return
	}
	kind := helperKind{g.entry, g.started}
	if _, ok := t.all.helpers[kind]; ok || len(t.all.helpers) < maxHelpers {
		t.all.helpers[kind]++
	}
}

// helperList returns the helpers, those of one function together, the most first.
func (a *collector) helperList() []breakdown.Helper {
	sums := map[nameID]int{}
	for kind, n := range a.helpers {
		sums[kind.entry] += n
	}
	var list []breakdown.Helper
	for kind, n := range a.helpers {
		if float64(n) >= leastHelper*float64(sums[kind.entry]) {
			list = append(list, breakdown.Helper{Entry: a.stacks.names[kind.entry], Start: a.stacks.info(kind.start).frames, Count: n})
		}
	}
	slices.SortFunc(list, func(x, y breakdown.Helper) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Entry, y.Entry), slices.CompareFunc(x.Start, y.Start, compareFrames))
	})
	return list
}
