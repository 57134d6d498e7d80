package bands

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/record/breakdown"
)

// maxHelpers bounds the kinds of helpers that are counted. A go statement that starts less
// than leastHelper of a function's helpers is left out of the record.
const (
	maxHelpers  = 256
	leastHelper = 0.01
)

// helperKind is a function in which requests start goroutines, and the go statement.
type helperKind struct {
	entry interned.Name
	start interned.Stack
}

// helpers counts goroutines by their kind.
type helpers map[helperKind]int

func (h helpers) add(kind helperKind) {
	if _, ok := h[kind]; ok || len(h) < maxHelpers {
		h[kind]++
	}
}

// AddHelper counts a goroutine that worked for only one request: the function in which it
// began, and the stack of its go statement.
func (a *Requests) AddHelper(entry interned.Name, start interned.Stack) {
	a.helpers.add(helperKind{entry, start})
}

// AddLeft counts a goroutine that a request started, and that was there when both the request and the trace had ended.
func (a *Requests) AddLeft(entry interned.Name, start interned.Stack) {
	a.left.add(helperKind{entry, start})
}

// AddWoken counts a wake-up of a goroutine that serves no request; request reports whether it follows from one.
func (a *Requests) AddWoken(entry interned.Name, request bool) {
	w := a.woken[entry]
	if w == nil {
		if len(a.woken) >= maxHelpers {
			return
		}
		w = &breakdown.Woken{}
		a.woken[entry] = w
	}
	w.Count++
	if request {
		w.Requests++
	}
}

// wokenList returns the goroutines that were woken, the most frequent first.
func (a *Requests) wokenList() (list []breakdown.Woken) {
	for entry, w := range a.woken {
		w.Entry = a.Stacks.Names[entry]
		list = append(list, *w)
	}
	slices.SortFunc(list, func(x, y breakdown.Woken) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Entry, y.Entry))
	})
	return list
}

// helperList returns goroutines, those of one function together, the most frequent first.
func (a *Requests) helperList(counted helpers) []breakdown.Helper {
	sums := map[interned.Name]int{}
	for kind, n := range counted {
		sums[kind.entry] += n
	}
	var list []breakdown.Helper
	for kind, n := range counted {
		if float64(n) >= leastHelper*float64(sums[kind.entry]) {
			list = append(list, breakdown.Helper{Entry: a.Stacks.Names[kind.entry], Start: a.Stacks.Info(kind.start).Frames, Count: n})
		}
	}
	slices.SortFunc(list, func(x, y breakdown.Helper) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Entry, y.Entry), slices.CompareFunc(x.Start, y.Start, compareFrames))
	})
	return list
}
