// Package buoys has the readings of the last day.
package buoys

import (
	"encoding/binary"
	"math"
)

// Reading is what a buoy saw at a time.
type Reading struct {
	At         uint32
	Wave, Wind float64
	Salt       float32
	Battery    uint16
}

// AppendTo appends a reading as the station wants it.
func (r Reading) AppendTo(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, r.At)
	dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(r.Wave))
	dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(r.Wind))
	dst = binary.BigEndian.AppendUint32(dst, math.Float32bits(r.Salt))
	return binary.BigEndian.AppendUint16(dst, r.Battery)
}

// Fleet has all buoys.
type Fleet struct{ days [][]Reading }

// NewFleet makes n buoys with so many readings each.
func NewFleet(n, readings int) *Fleet {
	f := &Fleet{days: make([][]Reading, n)}
	for i := range f.days {
		day := make([]Reading, readings)
		for k := range day {
			day[k] = Reading{uint32(k * 60), 1.5 + math.Sin(float64(k+i)/40), 7 + math.Cos(float64(k)/90), 35.1, uint16(3700 - k%200)}
		}
		f.days[i] = day
	}
	return f
}

// Day returns the readings of a buoy.
func (f *Fleet) Day(buoy int) ([]Reading, bool) {
	if buoy < 0 || buoy >= len(f.days) {
		return nil, false
	}
	return f.days[buoy], true
}
