// Package mosaic puts the pictures of radars together.
package mosaic

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Side is how many points a square has on each side.
const Side = 64

// ErrOutside says that a square is not in the picture.
var ErrOutside = errors.New("outside")

// Picture is what was seen at a time. It is not changed once it is shown.
type Picture struct {
	Version int64
	width   int
	height  int
	points  []byte
}

// Square copies a square into dst.
func (p *Picture) Square(x, y int, dst []byte) ([]byte, error) {
	x, y = x*Side, y*Side
	if x < 0 || y < 0 || x+Side > p.width || y+Side > p.height {
		return nil, ErrOutside
	}
	dst = dst[:0]
	for row := range Side {
		from := (y+row)*p.width + x
		dst = append(dst, p.points[from:from+Side]...)
	}
	return dst, nil
}

// Mosaic has the latest picture.
type Mosaic struct {
	width, height int
	now           atomic.Pointer[Picture]
}

// New makes a mosaic.
func New(width, height int) *Mosaic {
	m := &Mosaic{width: width, height: height}
	m.now.Store(m.paint(1))
	return m
}

// paint fills a picture from what the radars sent.
func (m *Mosaic) paint(version int64) *Picture {
	p := &Picture{Version: version, width: m.width, height: m.height, points: make([]byte, m.width*m.height)}
	for y := range m.height {
		row := p.points[y*m.width : (y+1)*m.width]
		for x := range row {
			row[x] = byte((x*x+y*3+int(version)*17)>>5) & 0x3f
		}
	}
	return p
}

// Follow paints the picture anew until ctx ends.
func (m *Mosaic) Follow(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for version := int64(2); ; version++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		m.now.Store(m.paint(version))
	}
}

// Now returns the latest picture.
func (m *Mosaic) Now() *Picture { return m.now.Load() }
