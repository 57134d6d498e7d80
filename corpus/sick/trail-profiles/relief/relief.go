// Package relief knows how high the ground is.
package relief

import "github.com/redline-go/redline/corpus/sick/trail-profiles/trail"

const side = 512

// Model is heights on a grid.
type Model struct {
	step    float64
	heights [side * side]float32
}

// NewModel makes a model with so many metres between two heights.
func NewModel(step float64) *Model {
	m := &Model{step: step}
	seed := uint32(7)
	for i := range m.heights {
		x, y := i%side, i/side
		seed = seed*1664525 + 1013904223
		m.heights[i] = float32(800+(x*y)%700) + float32(seed>>28)
	}
	return m
}

// Step is the distance in metres between two heights.
func (m *Model) Step() float64 { return m.step }

// Lift gives each point its height.
func (m *Model) Lift(walk []*trail.Point) {
	for _, p := range walk {
		x, y := p.East/m.step, p.North/m.step
		cx, cy := int(x), int(y)
		fx, fy := x-float64(cx), y-float64(cy)
		low := m.at(cx, cy)*(1-fx) + m.at(cx+1, cy)*fx
		high := m.at(cx, cy+1)*(1-fx) + m.at(cx+1, cy+1)*fx
		p.Height = low*(1-fy) + high*fy
	}
}

func (m *Model) at(x, y int) float64 { return float64(m.heights[(y&(side-1))*side+x&(side-1)]) }
