package bands

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/anatomy/interned"
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
	entry interned.Name
	start interned.Stack
}

// AddHelper counts a goroutine that worked for one request alone: the function that it
// began in, and the stack of its go statement.
func (a *Requests) AddHelper(entry interned.Name, start interned.Stack) {
	kind := helperKind{entry, start}
	if _, ok := a.helpers[kind]; ok || len(a.helpers) < maxHelpers {
		a.helpers[kind]++
	}
}

// helperList returns the helpers, those of one function together, the most first.
func (a *Requests) helperList() []breakdown.Helper {
	sums := map[interned.Name]int{}
	for kind, n := range a.helpers {
		sums[kind.entry] += n
	}
	var list []breakdown.Helper
	for kind, n := range a.helpers {
		if float64(n) >= leastHelper*float64(sums[kind.entry]) {
			list = append(list, breakdown.Helper{Entry: a.Stacks.Names[kind.entry], Start: a.Stacks.Info(kind.start).Frames, Count: n})
		}
	}
	slices.SortFunc(list, func(x, y breakdown.Helper) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Entry, y.Entry), slices.CompareFunc(x.Start, y.Start, compareFrames))
	})
	return list
}
