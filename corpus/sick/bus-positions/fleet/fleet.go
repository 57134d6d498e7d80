// Package fleet follows buses.
package fleet

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// Position is what passengers may know of a bus.
type Position struct {
	ID      string        `json:"id"`
	Line    string        `json:"line"`
	Lat     float64       `json:"lat"`
	Lon     float64       `json:"lon"`
	Heading float64       `json:"heading"`
	Next    string        `json:"next"`
	Delay   time.Duration `json:"delay"`
	Seen    time.Time     `json:"seen"`
}

// Bus is a bus on its way.
type Bus struct {
	Position
	Driver string `json:"_driver"`
	Radio  string `json:"_radio"`
}

// Fleet is all buses by line. A line's buses are replaced as a whole, never changed.
type Fleet struct {
	lines map[string]*atomic.Pointer[[]Bus]
}

// New makes a fleet.
func New(lines, each int) *Fleet {
	f := &Fleet{map[string]*atomic.Pointer[[]Bus]{}}
	start := time.Date(2026, 5, 4, 6, 0, 0, 0, time.UTC)
	for l := range lines {
		name := fmt.Sprintf("L%d", l+1)
		buses := make([]Bus, each)
		for i := range buses {
			p := Position{ID: fmt.Sprintf("%s-%03d", name, i), Line: name, Next: fmt.Sprintf("stop %d & market", i), Seen: start}
			buses[i] = Bus{p, fmt.Sprintf("driver %d", l*each+i), fmt.Sprintf("ch %d", i%16)}
		}
		p := &atomic.Pointer[[]Bus]{}
		p.Store(&buses)
		f.lines[name] = p
		f.Move(name, start)
	}
	return f
}

// Line returns the buses of a line.
func (f *Fleet) Line(name string) []Bus {
	p := f.lines[name]
	if p == nil {
		return nil
	}
	return *p.Load()
}

// Move takes all buses of a line to where they are at a time.
func (f *Fleet) Move(name string, now time.Time) {
	p := f.lines[name]
	if p == nil {
		return
	}
	buses := append([]Bus(nil), *p.Load()...)
	for i := range buses {
		angle := float64(now.Unix()%3600)/3600*2*math.Pi + float64(i)
		buses[i].Lat, buses[i].Lon = 53.5+math.Sin(angle)/20, 10+math.Cos(angle)/20
		buses[i].Heading = math.Mod(angle*180/math.Pi, 360)
		buses[i].Delay = time.Duration(i%5) * 30 * time.Second
		buses[i].Seen = now
	}
	p.Store(&buses)
}
