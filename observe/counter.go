package observe

import (
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// minCover is the share of a window that readings must cover for its amount to
// be delivered. A window at the start, at the end or next to a gap is covered in
// part only, and the part would read as a dip that never was. It is below one
// because the first reading comes a little after its edge: as late as the host
// scheduled us.
const minCover = 0.9

// Counter turns cumulative readings, taken at uneven instants, into the amount
// of each window: the amount between two readings is split over the windows
// between them (timebase.Split), and a window is delivered once, when a reading
// at or past its end has come.
//
// The first reading only sets the base. A reading below the last one means that the counter
// was reset in between: the amount is unknown, so the interval stays absent and the reading
// becomes the new base.
//
// Amounts are float64: exact up to 2^53, which for ns is 104 days of CPU.
//
// The zero Counter is ready to use. It is not safe for concurrent use.
type Counter struct {
	Width time.Duration // of a window; zero means timebase.DefaultWindow

	based bool
	at    time.Duration
	value float64

	window  int64         // still open
	amount  float64       // accrued in it
	covered time.Duration // of it
}

// Read takes the cumulative value read at the run time at, and calls deliver
// for each window that it closes, in order. A reading not later than the last
// one is ignored.
func (c *Counter) Read(at time.Duration, value float64, deliver func(window int64, amount float64)) {
	if c.Width <= 0 {
		c.Width = timebase.DefaultWindow
	}
	if c.based && at <= c.at {
		return
	}
	if c.based && value < c.value {
		c.Break()
	}
	if c.based {
		between := timebase.Span{From: c.at, To: at}
		timebase.Split(between, c.Width, value-c.value, func(w int64, part float64) {
			c.accrue(w, overlap(between, timebase.WindowSpan(w, c.Width)), part, deliver)
		})
		// Subtle: a reading exactly on an edge touches no part of the window
		// it opens, so the one it closes is delivered here.
		if w := timebase.Window(at, c.Width); w != c.window {
			c.accrue(w, 0, 0, deliver)
		}
	} else {
		c.window = timebase.Window(at, c.Width)
	}
	c.based, c.at, c.value = true, at, value
}

// Break forgets the last reading and the open window: the next reading is a new base, and
// the amount until then stays absent. Call it after a gap in which the source was blind.
func (c *Counter) Break() {
	c.based, c.amount, c.covered = false, 0, 0
}

// accrue adds a part of an amount to a window, of which it covers the time cover. A
// window is delivered when a later one begins, and only if most of it was covered: a
// part of an amount would read as a dip.
func (c *Counter) accrue(w int64, cover time.Duration, part float64, deliver func(int64, float64)) {
	if w != c.window {
		if float64(c.covered) >= minCover*float64(c.Width) {
			deliver(c.window, c.amount)
		}
		c.window, c.amount, c.covered = w, 0, 0
	}
	c.amount += part
	c.covered += cover
}

// overlap is the time that two spans share; 0 when they do not meet.
func overlap(a, b timebase.Span) time.Duration {
	return max(0, min(a.To, b.To)-max(a.From, b.From))
}
