// Package pantry knows what food contains.
package pantry

import (
	"encoding/json"
	"fmt"
)

// Label is what is printed on a packet.
type Label struct {
	Recipe  int                `json:"recipe"`
	Grams   float64            `json:"grams"`
	Energy  float64            `json:"energy_kj"`
	Per100  map[string]float64 `json:"per_100g"`
	Traces  []string           `json:"traces,omitempty"`
	Healthy bool               `json:"healthy"`
}

type part struct {
	food  int
	grams float64
}

// Book is a book of recipes.
type Book struct{ recipes [][]part }

var nutrients = []string{"fat", "saturates", "carbohydrate", "sugars", "fibre", "protein", "salt"}

var allergens = []string{"nuts", "milk", "gluten", "celery", "mustard"}

// NewBook makes a book of n recipes.
func NewBook(n int) *Book {
	b := &Book{make([][]part, n)}
	for i := range b.recipes {
		for k := range 6 + i%7 {
			b.recipes[i] = append(b.recipes[i], part{(i*31 + k*17) % 400, float64(10 + (i+k*13)%190)})
		}
	}
	return b
}

// Label adds a recipe up.
func (b *Book) Label(id int) ([]byte, error) {
	if id < 0 || id >= len(b.recipes) {
		return nil, fmt.Errorf("no recipe %d", id)
	}
	l := Label{Recipe: id, Per100: make(map[string]float64, len(nutrients))}
	sums := make([]float64, len(nutrients))
	for _, p := range b.recipes[id] {
		l.Grams += p.grams
		for n := range sums {
			sums[n] += p.grams * float64((p.food*7+n*11)%60) / 300
		}
		if p.food%80 == 0 {
			l.Traces = append(l.Traces, allergens[p.food/80])
		}
	}
	for n, name := range nutrients {
		l.Per100[name] = float64(int(sums[n]/l.Grams*10000)) / 100
	}
	l.Energy = sums[0]*37 + sums[2]*17 + sums[5]*17
	l.Healthy = l.Per100["sugars"] < 10 && l.Per100["salt"] < 1.5
	return json.Marshal(l)
}
