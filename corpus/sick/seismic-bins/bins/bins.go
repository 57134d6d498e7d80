// Package bins sorts shakes by their strength.
package bins

import (
	"errors"
	"fmt"
	"math"

	"github.com/redline-go/redline/corpus/sick/seismic-bins/par"
)

// ErrNoStation says that there is no such station.
var ErrNoStation = errors.New("no such station")

// Sample is a shake.
type Sample struct {
	Amplitude float64
	Period    float64
	Depth     float64
}

// Histogram is an hour's shakes.
type Histogram struct {
	Counts [10]int
	Peak   float64
	Quiet  float64
}

// Archive holds what stations wrote, by hour.
type Archive struct {
	stations map[string][24][]Sample
	apply    func([]Sample, func(Sample) float64) []float64
}

// NewArchive makes an archive of so many stations with so many samples an hour.
func NewArchive(stations, samples int, plain bool) *Archive {
	a := &Archive{stations: map[string][24][]Sample{}, apply: par.Map[Sample, float64]}
	if plain {
		a.apply = par.Each[Sample, float64]
	}
	for s := range stations {
		var day [24][]Sample
		for h := range day {
			for i := range samples {
				x := math.Abs(math.Sin(float64(i*(s+3)) + float64(h)))
				day[h] = append(day[h], Sample{0.1 + x*x*900, 0.2 + x, 5 + float64(i%30)})
			}
		}
		a.stations[fmt.Sprintf("ST%02d", s)] = day
	}
	return a
}

// Hour sorts the shakes of an hour.
func (a *Archive) Hour(station string, hour int) (h Histogram, err error) {
	day, ok := a.stations[station]
	if !ok {
		return h, ErrNoStation
	}
	if hour < 0 || hour > 23 {
		return h, fmt.Errorf("no hour %d", hour)
	}
	strengths := a.apply(day[hour], magnitude)
	quiet := 0
	for _, m := range strengths {
		b := max(0, min(len(h.Counts)-1, int(m)))
		h.Counts[b]++
		h.Peak = max(h.Peak, m)
		if m < 1 {
			quiet++
		}
	}
	h.Quiet = float64(quiet) / float64(len(strengths))
	return h, nil
}

// magnitude is how strong a shake was at its source.
func magnitude(s Sample) float64 {
	m := math.Log10(s.Amplitude/s.Period) + 0.0031*s.Depth
	for range 3 {
		m += 0.01 * math.Log1p(math.Abs(m)*s.Period)
	}
	return m
}
