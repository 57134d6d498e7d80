package spans

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const (
	// late is how long the source waits for a span after its end: exporters of the SDKs
	// send every five seconds by default.
	late = 6 * time.Second
	// mostPerSecond bounds the spans that are examined, once for those of the
	// load's own traces and once for all others. Decoding them takes some 5 %
	// of a CPU.
	mostPerSecond = 20_000
)

// store takes spans and counts their fates. Its methods may be called
// concurrently.
type store struct {
	clock timebase.Clock
	width time.Duration
	trace uint64 // first half of the load's trace ids; 0 for none

	decoding sync.Mutex // one export at a time: that bounds CPU and memory
	texts    texts
	shapes   shapes

	mu       sync.Mutex // of all below
	counts   tally
	reported tally // of counts, delivered as points
	own      allowance
	others   allowance
	skew     time.Duration // of the wall clock since the epoch
	aligned  bool
	from     int64 // the first window
	services services
	kept     keeper
}

// tally counts the fates of spans.
type tally struct {
	// received are all spans of admitted exports. Of these, dropped were over
	// the rate and not examined, invalid had no ids.
	received, dropped, invalid int64
	// outside ended before the run or after it, by their clock; tooLate came after
	// their window was delivered.
	outside, tooLate int64
	// evicted made room for slower ones; crowded are of services beyond the bound.
	evicted, crowded int64
	refused          int64  // exports
	refusal          string // why the first one was
	limited          int64  // exports over the rate, not among the refused
}

// newStore returns a store for a run that begins now: windows that
// closed before it have no figures.
func newStore(clock timebase.Clock, width time.Duration, trace uint64) *store {
	if width <= 0 {
		width = timebase.DefaultWindow
	}
	from := timebase.Window(clock.Now(), width)
	return &store{
		clock: clock, width: width, trace: trace, texts: texts{}, shapes: shapes{}, from: from,
		services: services{closed: from}, kept: newKeeper(),
	}
}

// take decodes an export and takes its spans: all or, if it is malformed, none.
func (s *store) take(body []byte, decode func([]byte, *batch) error) error {
	s.decoding.Lock()
	defer s.decoding.Unlock()
	s.mu.Lock()
	now := s.clock.Now()
	s.own.refill(now)
	s.others.refill(now)
	s.mu.Unlock()
	b := batch{admit: s.admit, texts: s.texts, shapes: s.shapes}
	if err := decode(body, &b); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.received += b.all
	s.counts.invalid += b.invalid
	s.counts.dropped += b.all - b.invalid - int64(len(b.spans))
	for i := range b.spans {
		s.add(&b.spans[i], now)
	}
	return nil
}

// admit reports whether a span is examined.
func (s *store) admit(trace []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loads(trace) {
		return s.own.take()
	}
	return s.others.take()
}

// loads reports whether the trace has an id that the load gave.
func (s *store) loads(trace []byte) bool {
	return s.trace != 0 && binary.BigEndian.Uint64(trace) == s.trace
}

// add needs the lock.
func (s *store) add(sp *span, now time.Duration) {
	s.services.sent(sp.service, now)
	end := s.runTime(sp.to)
	window := timebase.Window(end, s.width)
	switch {
	case window < s.from || window > timebase.Window(now, s.width):
		s.counts.outside++
	case sp.entry() && window < s.services.closed:
		s.counts.tooLate++
	case sp.entry():
		s.services.add(sp, window)
	}
	s.kept.add(sp, s.loads(sp.trace[:]))
}

// runTime converts a wall time in ns since 1970.
func (s *store) runTime(wall uint64) time.Duration {
	return s.clock.FromWall(time.Unix(0, int64(min(wall, 1<<62)))) + s.skew
}

// align measures how far the wall clock has moved away from the run's since the
// epoch, and how well that is known.
func (s *store) align(b *observe.Bracket) {
	before := s.clock.Now()
	wall := time.Now()
	after := s.clock.Now()
	half := (after - before) / 2
	skew := before + half - s.clock.FromWall(wall)
	s.mu.Lock()
	defer s.mu.Unlock()
	// Spans that arrive now ended up to a few seconds ago: the clock's
	// slew since the last time is in doubt.
	moved := s.clock.EpochError
	if s.aligned {
		moved = (skew - s.skew).Abs()
	}
	s.skew, s.aligned = skew, true
	b.Add(0, 2*(half+moved))
}

// edge delivers the counts of the window that ends, and the windows for which no
// more spans are awaited.
func (s *store) edge(at time.Duration, meter *observe.Meter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.describe(observe.Ended(at, s.width), meter)
	s.services.closeBelow(timebase.Window(at-late, s.width), meter)
}

// last delivers the rest.
func (s *store) last(now time.Duration, meter *observe.Meter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.describe(timebase.Window(now, s.width), meter)
	s.services.closeBelow(timebase.Window(now, s.width)+1, meter)
}

// describe delivers how many spans came and were dropped since the last window: by when
// they arrived, not by when they ended.
func (s *store) describe(window int64, meter *observe.Meter) {
	meter.Put(series.SpansReceived, "", window, float64(s.counts.received-s.reported.received))
	meter.Put(series.SpansDropped, "", window, float64(s.counts.dropped-s.reported.dropped))
	s.reported = s.counts
}

// awaits reports whether a service that sent spans has not sent any since.
func (s *store) awaits(since time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.services.silentSince(since)
}

// refuse counts an export that was not taken.
func (s *store) refuse(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts.refused++; s.counts.refused == 1 {
		s.counts.refusal = err.Error()
	}
}

// limit counts an export that was over the rate.
func (s *store) limit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.limited++
}

// tally returns the counts so far.
func (s *store) tally() tally {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.counts
	t.evicted, t.crowded = s.kept.evicted, s.services.crowded
	return t
}

// recorded returns the spans that were kept, as the record has them.
func (s *store) recorded() []record.TraceSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept.recorded(s.runTime)
}

// allowance is a token bucket of mostPerSecond spans.
type allowance struct {
	left float64       // spans that may still be examined
	at   time.Duration // of the last refill
	used bool          // false until the first export
}

// refill adds what the time since the last export allows, up to a second's worth.
func (a *allowance) refill(now time.Duration) {
	if !a.used { // the first export finds it full
		a.used, a.left, a.at = true, mostPerSecond, now
	}
	a.left = min(mostPerSecond, a.left+mostPerSecond*(now-a.at).Seconds())
	a.at = now
}

// take takes one span's worth; false when none is left.
func (a *allowance) take() bool {
	if a.left < 1 {
		return false
	}
	a.left--
	return true
}
