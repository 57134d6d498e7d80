// Package field holds what stations of a valley measured in a night.
package field

import (
	"fmt"
	"math"
)

// Station measures at one place.
type Station struct {
	Name    string
	X, Y    float64
	Celsius []float64 // by hour
}

// Valley is all stations.
type Valley struct{ Stations []Station }

// NewValley makes a valley of n stations.
func NewValley(n int) *Valley {
	v := &Valley{}
	for i := range n {
		s := Station{Name: fmt.Sprintf("station %d", i), X: math.Mod(float64(i)*0.7548, 1), Y: math.Mod(float64(i)*0.5698, 1)}
		for h := range 24 {
			s.Celsius = append(s.Celsius, 6*math.Sin(float64(h-9)/24*2*math.Pi)+s.Y*3-2+float64(i%5)/4)
		}
		v.Stations = append(v.Stations, s)
	}
	return v
}

// At estimates the temperature of a place at an hour from the stations around,
// each weighed by the inverse square of how far it is.
func (v *Valley) At(x, y float64, hour int) float64 {
	sum, weight := 0.0, 0.0
	for i := range v.Stations {
		s := &v.Stations[i]
		dx, dy := s.X-x, s.Y-y
		w := 1 / (dx*dx + dy*dy + 1e-4)
		sum += w * s.Celsius[hour]
		weight += w
	}
	return sum / weight
}
