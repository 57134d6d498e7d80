// Package grid holds what is measured at the places of a map.
package grid

import (
	"fmt"
	"math"
	"sort"
)

// Reading is what was measured at a place.
type Reading struct {
	Station string
	Grains  map[string]float64
	Next    *Reading // the one before it
}

// Cell is a place.
type Cell struct {
	x, y   int
	latest *Reading
}

// Grid is a square map.
type Grid struct {
	side  int
	cells []*Cell
}

// Place is a place in a report.
type Place struct {
	Station string  `json:"station"`
	Grains  float64 `json:"grains"`
	Trend   float64 `json:"trend"`
	Away    float64 `json:"away"`
}

// Report is what is in the air around a place.
type Report struct {
	Kind   string  `json:"kind"`
	Mean   float64 `json:"mean"`
	Worst  []Place `json:"worst"`
	Advice string  `json:"advice"`
}

var kinds = []string{"birch", "grass", "hazel"}

// New makes a grid with two readings at each place.
func New(side int) *Grid {
	g := &Grid{side: side, cells: make([]*Cell, side*side)}
	for i := range g.cells {
		c := &Cell{x: i % side, y: i / side}
		for age := range 2 {
			r := &Reading{Station: fmt.Sprintf("station %d/%d", c.x, c.y), Grains: make(map[string]float64, len(kinds)), Next: c.latest}
			for k, kind := range kinds {
				r.Grains[kind] = math.Abs(math.Sin(float64(i*(k+1)+age))) * 90
			}
			c.latest = r
		}
		g.cells[i] = c
	}
	return g
}

// Near reports what is in the air up to so many cells from a place.
func (g *Grid) Near(kind string, x, y, reach int) (*Report, bool) {
	if x < 0 || y < 0 || x >= g.side || y >= g.side {
		return nil, false
	}
	var places []*Place
	for cy := max(0, y-reach); cy <= min(g.side-1, y+reach); cy++ {
		for cx := max(0, x-reach); cx <= min(g.side-1, x+reach); cx++ {
			c := g.cells[cy*g.side+cx]
			v, ok := c.latest.Grains[kind]
			if !ok {
				return nil, false
			}
			p := &Place{Station: c.latest.Station, Grains: v, Away: math.Hypot(float64(cx-x), float64(cy-y))}
			if before := c.latest.Next; before != nil {
				p.Trend = v - before.Grains[kind]
			}
			places = append(places, p)
		}
	}
	sort.Slice(places, func(i, j int) bool { return places[i].Grains > places[j].Grains })
	r := &Report{Kind: kind, Advice: "enjoy the air"}
	for _, p := range places {
		r.Mean += p.Grains / float64(len(places))
	}
	for _, p := range places[:min(5, len(places))] {
		r.Worst = append(r.Worst, *p)
	}
	if r.Mean > 50 {
		r.Advice = "keep windows shut"
	}
	return r, true
}
