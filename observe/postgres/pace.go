package postgres

import (
	"cmp"
	"time"
)

// maxPace is the largest number of windows per reading: 6.4 s of windows of 100 ms,
// within which a chart still shows when something changed.
const maxPace = 64

// pace decides how many windows lie between readings, so that these take no more
// than a share of the time.
//
// Its zero value is ready.
type pace struct {
	share   float64 // of the time that reading may take; zero means a quarter
	every   int64   // windows; zero means 1
	slowest int64   // the largest every was
	slow    int     // consecutive readings that took too long
	quick   int     // consecutive readings quick enough for half the distance
}

// due reports whether to take a reading at the edge after this many windows.
func (p *pace) due(edge int64) bool { return p.every <= 1 || edge%p.every == 0 }

// took notes how long a reading lasted. One slow reading may be a hiccup of the
// host; three in a row are due to the size of the server's statistics.
func (p *pace) took(d, window time.Duration) {
	p.every = max(p.every, 1)
	distance := time.Duration(p.every) * window
	limit := time.Duration(cmp.Or(p.share, 0.25) * float64(distance))
	if d > limit {
		p.slow, p.quick = p.slow+1, 0
	} else {
		p.slow = 0
	}
	if d < limit/4 {
		p.quick++
	} else {
		p.quick = 0
	}
	switch {
	case p.slow >= 3 && p.every < maxPace:
		p.every, p.slow = p.every*2, 0
	case p.quick >= 20 && p.every > 1:
		p.every, p.quick = p.every/2, 0
	}
	p.slowest = max(p.slowest, p.every)
}
