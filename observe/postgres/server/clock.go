package server

import (
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// drift is how fast two hosts' clocks may diverge: quartz is good to some 50 ppm, and
// slewing adds up to 500. RFC 5905 (NTP) assumes 15 ppm for a disciplined clock; the
// bound here is wider, because the server's may not be one.
const drift = 100e-6

// Clock converts the server's wall clock to run time.
//
// A server on this host shares the clock that the epoch was read from. For another host,
// the offset is estimated as in NTP: the server's reading lies between two of ours, so half
// the round trip bounds the error of the middle. The tightest round trip is used until its
// bound, which grows with the drift, exceeds that of a new one.
//
// Run must be set. Clock is not safe for concurrent use.
type Clock struct {
	Run timebase.Clock
	// Local is set if the server shares this host's clock. Sandwich clears it for good if a
	// reading contradicts it.
	Local bool

	known  bool
	offset time.Duration // run time minus server time since the epoch's wall time
	bound  time.Duration
	at     time.Duration
}

// Sandwich takes a reading of the server's clock and the run times before and after it. It
// reports whether the reading contradicts Local, so that the clock is another or was set;
// from then on the offset is estimated.
func (c *Clock) Sandwich(before, after time.Duration, server time.Time) (contradiction bool) {
	raw := c.Run.FromWall(server)
	if c.Local {
		slack := c.Run.EpochError + time.Microsecond // PostgreSQL truncates to whole µs
		if before-slack <= raw && raw <= after+slack {
			return false
		}
		c.Local, contradiction = false, true
	}
	bound := (after - before) / 2
	if !c.known || bound < c.Bound(after) {
		c.known, c.bound, c.at = true, bound, after
		c.offset = before + bound - raw
	}
	return contradiction
}

// Bound returns the maximum error of a conversion at a run time.
func (c *Clock) Bound(at time.Duration) time.Duration {
	if c.Local {
		return c.Run.EpochError + time.Microsecond
	}
	return c.bound + time.Duration(float64(at-c.at)*drift)
}

// Bracket converts the server's readings around an event to run time, widened
// by the error of the conversion.
func (c *Clock) Bracket(before, after time.Time) (from, to time.Duration) {
	from, to = c.Run.FromWall(before), c.Run.FromWall(after)
	if !c.Local {
		from, to = from+c.offset, to+c.offset
	}
	e := c.Bound(to)
	return from - e, to + e
}
