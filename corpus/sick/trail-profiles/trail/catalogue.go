// Package trail knows where hiking trails go.
package trail

import (
	"fmt"
	"math"
)

// Point is a place on a trail, in metres.
type Point struct {
	East, North float64
	Along       float64 // from the trail's start
	Height      float64
	Mark        *Mark // nil where nothing stands
}

// Mark is a signpost, a hut or a spring.
type Mark struct {
	Kind, Name string
}

// Trail is a way from a start to an end.
type Trail struct {
	ID   int
	Name string
	Way  []*Point
}

// Catalogue is all trails.
type Catalogue struct{ trails map[int]*Trail }

// NewCatalogue makes n trails of so many points each.
func NewCatalogue(n, points int) *Catalogue {
	c := &Catalogue{make(map[int]*Trail, n)}
	for id := range n {
		t := &Trail{ID: id, Name: fmt.Sprintf("Trail %d", id)}
		east, north, along := float64(id%90)*100, float64(id%70)*120, 0.0
		for k := range points {
			p := &Point{East: east, North: north, Along: along}
			p.Mark = &Mark{Kind: []string{"signpost", "hut", "spring"}[k%3], Name: fmt.Sprintf("%d/%d", id, k)}
			t.Way = append(t.Way, p)
			turn := float64((id*31+k*17)%628) / 100
			east, north = math.Abs(east+90*math.Cos(turn)), math.Abs(north+90*math.Sin(turn))
			along += math.Hypot(east-p.East, north-p.North)
		}
		c.trails[id] = t
	}
	return c
}

// Find finds a trail.
func (c *Catalogue) Find(id int) (*Trail, bool) {
	t, ok := c.trails[id]
	return t, ok
}
