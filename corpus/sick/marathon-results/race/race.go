// Package race has the runners and their times.
package race

import (
	"math/rand/v2"
	"sort"
)

// Runner ran.
type Runner struct {
	Bib    int
	Class  int
	Splits [5]int32 // seconds at 10, 20, 30, 40 km and the finish
}

// Field is all runners, by bib.
type Field struct{ runners []Runner }

// NewField makes n runners.
func NewField(n int) *Field {
	r := rand.New(rand.NewPCG(42, 195))
	f := &Field{}
	for i := range n {
		ru := Runner{Bib: i + 1, Class: r.IntN(12)}
		at := int32(0)
		for k := range ru.Splits {
			at += 2100 + r.Int32N(1800)
			ru.Splits[k] = at
		}
		f.runners = append(f.runners, ru)
	}
	return f
}

// Place is where a runner was at a split.
type Place struct {
	Split   int   `json:"split"`
	Seconds int32 `json:"seconds"`
	Overall int   `json:"overall"`
	Class   int   `json:"class"`
}

// Placer returns the places of a runner.
type Placer interface {
	Places(bib int) ([]Place, bool)
}

func (f *Field) order(split int) []Runner {
	order := append([]Runner(nil), f.runners...)
	sort.Slice(order, func(i, k int) bool {
		a, b := order[i], order[k]
		if a.Splits[split] != b.Splits[split] {
			return a.Splits[split] < b.Splits[split]
		}
		return a.Bib < b.Bib
	})
	return order
}

func locate(order []Runner, split int, me Runner) Place {
	p := Place{Split: split, Seconds: me.Splits[split], Class: 1}
	for i, r := range order {
		if r.Bib == me.Bib {
			p.Overall = i + 1
			break
		}
		if r.Class == me.Class {
			p.Class++
		}
	}
	return p
}

// Live looks at the field as it is.
type Live struct{ *Field }

// Places implements Placer.
func (l Live) Places(bib int) ([]Place, bool) {
	if bib < 1 || bib > len(l.runners) {
		return nil, false
	}
	var out []Place
	for split := range 5 {
		out = append(out, locate(l.order(split), split, l.runners[bib-1]))
	}
	return out, true
}

// Final knows the order of all splits.
type Final struct {
	*Field
	orders [5][]Runner
}

// NewFinal makes a Final.
func NewFinal(f *Field) *Final {
	n := &Final{Field: f}
	for split := range n.orders {
		n.orders[split] = f.order(split)
	}
	return n
}

// Places implements Placer.
func (n *Final) Places(bib int) ([]Place, bool) {
	if bib < 1 || bib > len(n.runners) {
		return nil, false
	}
	var out []Place
	for split := range n.orders {
		out = append(out, locate(n.orders[split], split, n.runners[bib-1]))
	}
	return out, true
}
