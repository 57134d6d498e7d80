// Package kitchen has spices and what goes with what.
package kitchen

import (
	"cmp"
	"fmt"
	"slices"
)

// Spice is on a shelf.
type Spice struct {
	Name  string
	Heat  int
	Notes map[string]int
	Near  []*Spice
}

// Blend is a proposal.
type Blend struct {
	Spices []string       `json:"spices"`
	Notes  map[string]int `json:"notes"`
	Heat   int            `json:"heat"`
	Score  int            `json:"score"`
}

// Kitchen has all spices.
type Kitchen struct{ spices []*Spice }

var notes = [...]string{"smoke", "citrus", "earth", "floral", "sweet", "bitter", "mint"}

// Stock returns a kitchen of n spices.
func Stock(n int) *Kitchen {
	k := &Kitchen{spices: make([]*Spice, n)}
	for i := range k.spices {
		s := &Spice{Name: fmt.Sprintf("spice %d", i), Heat: i % 10, Notes: map[string]int{}}
		for j := range 3 {
			s.Notes[notes[(i*3+j*j)%len(notes)]] = 1 + (i+j)%5
		}
		k.spices[i] = s
	}
	for i, s := range k.spices {
		for j := range 12 {
			s.Near = append(s.Near, k.spices[(i*13+j*101)%n])
		}
	}
	return k
}

// Blends returns the best blends with a spice.
func (k *Kitchen) Blends(spice, heat int) []Blend {
	base := k.spices[spice%len(k.spices)]
	all := make([]Blend, 0, len(base.Near))
	for _, near := range base.Near {
		all = append(all, mix(heat, base, near, near.Near[heat%len(near.Near)]))
	}
	slices.SortFunc(all, func(a, b Blend) int { return cmp.Compare(b.Score, a.Score) })
	return all[:5]
}

func mix(heat int, spices ...*Spice) Blend {
	b := Blend{Notes: map[string]int{}}
	for _, s := range spices {
		b.Spices = append(b.Spices, s.Name)
		b.Heat += s.Heat
		for n, v := range s.Notes {
			b.Notes[n] += v
		}
	}
	b.Score = 4*len(b.Notes) - max(b.Heat-heat, heat-b.Heat)
	return b
}
