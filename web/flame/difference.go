package flame

import (
	"fmt"

	"github.com/redline-go/redline/compare"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/stacks"
)

// Noise says how large a difference between two columns must be to be more than chance.
type Noise struct {
	// Each is the weight of one sample in either column. Counts of samples have their own size
	// as variance, so a difference counts from three standard errors on. Zeros where nothing was
	// sampled.
	Each [2]float64 `json:"each"`
	// Share is the least part of the larger column's whole that counts.
	Share float64 `json:"share"`
}

// leastShare of the mean request: below, traces of the same service differ.
const leastShare = 0.01

// AddDifference adds the graphs of two runs, a column per run: CPU per request, and the mean
// request of their execution traces. What either run lacks goes to miss.
func (s *Set) AddDifference(a, b *record.Record, miss func(what string, err error)) {
	runs := []*record.Record{a, b}
	if err := s.differenceOfCPU(a, b); err != nil {
		miss("difference of CPU", err)
	}
	var t tree
	g := Graph{ID: "requests", Title: "Requests", Note: "The mean request of the execution traces.", Noise: &Noise{Share: leastShare}}
	for side, rec := range runs {
		var body breakdown.Anatomy
		if err := rec.ReadJSON(breakdown.File, &body); err != nil {
			miss("difference of requests", fmt.Errorf("%s has no anatomy: %w", rec.Run.ID, err))
			return
		}
		for _, p := range body.All {
			t.part(side, p)
		}
		g.Columns = append(g.Columns, Column{Name: "run " + "ab"[side:side+1], Unit: "ns"})
	}
	s.put(g, &t)
}

func (s *Set) differenceOfCPU(a, b *record.Record) error {
	costs, err := compare.Profiles(a, b)
	if err != nil {
		return err
	}
	var t tree
	g := Graph{
		ID:    "cpu",
		Title: "CPU per request",
		Note:  "Each run's CPU profile, over its requests.",
		Noise: &Noise{Each: costs.Each},
	}
	for side, rec := range []*record.Record{a, b} {
		p, err := stacks.CPU(rec)
		if err != nil {
			return err
		}
		t.addProfile(p, side)
		g.Columns = append(
			g.Columns,
			Column{Name: "run " + "ab"[side:side+1], Unit: "ns", Scale: costs.Root.Cost[side] / float64(p.Total)},
		)
	}
	s.put(g, &t)
	return nil
}
