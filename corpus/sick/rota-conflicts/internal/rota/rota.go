// Package rota has the shifts of wards.
package rota

import (
	"cmp"
	"fmt"
	"slices"
)

// Shift is a stretch of work of a nurse, in minutes of the month.
type Shift struct {
	ID       string
	Nurse    int
	From, To int
	Rest     int // minutes that must be free afterwards
}

// Clash is two shifts of a nurse that overlap.
type Clash struct {
	First, Second string
	Minutes       int
}

// Finder finds clashes.
type Finder interface {
	Clashes(shifts []Shift) []Clash
}

// Demo returns n wards with so many shifts each.
func Demo(n, shifts int) [][]Shift {
	wards := make([][]Shift, n)
	for w := range wards {
		list := make([]Shift, shifts)
		for i := range list {
			nurse := (i*7 + w) % 30
			from := (i/30)*1440 + (i*37)%600
			if i%211 == 17 {
				from -= 1100
			}
			list[i] = Shift{fmt.Sprintf("w%d-s%d", w, i), nurse, from, from + 480, 60}
		}
		wards[w] = list
	}
	return wards
}

func (s Shift) ends() int { return s.To + s.Rest }

// clash says for how long two shifts overlap, rest included.
func (s Shift) clash(o Shift) int {
	if s.Nurse != o.Nurse {
		return 0
	}
	return max(0, min(s.ends(), o.ends())-max(s.From, o.From))
}

// Pairs compares each shift with the others.
type Pairs struct{}

// Clashes implements Finder.
func (Pairs) Clashes(shifts []Shift) []Clash {
	var out []Clash
	for i, a := range shifts {
		for j, b := range shifts {
			if i == j || a.From > b.From || (a.From == b.From && i > j) {
				continue
			}
			if m := a.clash(b); m > 0 {
				out = append(out, Clash{a.ID, b.ID, m})
			}
		}
	}
	return out
}

// Sweep goes through the shifts of each nurse in order.
type Sweep struct{}

// Clashes implements Finder.
func (Sweep) Clashes(shifts []Shift) []Clash {
	sorted := slices.Clone(shifts)
	slices.SortFunc(sorted, func(a, b Shift) int {
		return cmp.Or(cmp.Compare(a.Nurse, b.Nurse), cmp.Compare(a.From, b.From))
	})
	var out []Clash
	for i, a := range sorted {
		for _, b := range sorted[i+1:] {
			if b.Nurse != a.Nurse || b.From >= a.ends() {
				break
			}
			out = append(out, Clash{a.ID, b.ID, a.clash(b)})
		}
	}
	return out
}
