// Package atlas has observations by square.
package atlas

import (
	"fmt"
	"sort"
	"strings"
)

// Observation is a bird that was heard.
type Observation struct {
	Species string  `json:"species"`
	By      string  `json:"by"`
	Day     int     `json:"day"`
	Males   int     `json:"males"`
	Notes   *string `json:"notes,omitempty"`
}

// Atlas has all observations.
type Atlas struct {
	squares map[string][]*Observation
	species []string
}

// Load makes n observations.
func Load(n int) *Atlas {
	a := &Atlas{squares: map[string][]*Observation{}}
	for i := range 40 {
		a.species = append(a.species, fmt.Sprintf("Warbler %02d", i))
	}
	for i := range n {
		o := &Observation{Species: a.species[(i+i/600*7)%40], By: fmt.Sprintf("observer-%d", i%900), Day: i % 365, Males: 1 + i%4}
		if i%3 == 0 {
			note := fmt.Sprintf("singing from a hedge %d", i)
			o.Notes = &note
		}
		k := Square(i % 600)
		a.squares[k] = append(a.squares[k], o)
	}
	return a
}

// Square returns the name of a square.
func Square(n int) string { return fmt.Sprintf("sq-%03d", n) }

// Summary is what was heard in a square.
type Summary struct {
	Species   string   `json:"species"`
	Males     int      `json:"males"`
	First     int      `json:"first"`
	Observers []string `json:"observers"`
}

// Summarize sums the observations of a square.
func (a *Atlas) Summarize(square string) []*Summary {
	by := map[string]*Summary{}
	for _, o := range a.squares[square] {
		s, ok := by[o.Species]
		if !ok {
			s = &Summary{Species: strings.ToUpper(o.Species), First: o.Day}
			by[o.Species] = s
		}
		s.Males += o.Males
		s.First = min(s.First, o.Day)
		if len(s.Observers) < 3 {
			s.Observers = append(s.Observers, o.By)
		}
	}
	out := make([]*Summary, 0, len(by))
	for _, s := range by {
		out = append(out, s)
	}
	sort.Slice(out, func(i, k int) bool { return out[i].Species < out[k].Species })
	return out
}
