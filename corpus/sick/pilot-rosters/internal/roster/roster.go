// Package roster has duties.
package roster

import "fmt"

// Duty is a day of a pilot.
type Duty struct {
	Day   int
	Code  string
	From  string
	To    string
	Block int
}

// Plan has the duties of all pilots.
type Plan struct{ pilots [][]Duty }

// NewPlan plans a month for n pilots.
func NewPlan(n int) *Plan {
	p := &Plan{}
	ports := []string{"FRA", "OSL", "JFK", "NRT", "GRU"}
	for i := range n {
		var ds []Duty
		for d := range 30 {
			ds = append(ds, Duty{d + 1, fmt.Sprintf("F%d", 100+(i+d)%800), ports[(i+d)%5], ports[(i+d*3+1)%5], 60 + (i*d)%500})
		}
		p.pilots = append(p.pilots, ds)
	}
	return p
}

// Pilot returns the duties of a pilot.
func (p *Plan) Pilot(n int) ([]Duty, bool) {
	if n < 0 || n >= len(p.pilots) {
		return nil, false
	}
	return p.pilots[n], true
}
