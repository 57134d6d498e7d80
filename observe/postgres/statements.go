package postgres

import (
	"cmp"
	"time"

	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// databaseMore names the figures that DatabaseSQL reads beyond transactions and sessions.
var databaseMore = [5]string{series.DBDeadlocks, series.DBTempFiles, series.DBTempBytes, series.DBReads, series.DBHits}

// costShare is the part of one CPU of the server that reading may take: each
// entry of pg_stat_statements costs about 1 us per reading, and there may be
// thousands.
const costShare = 0.01

// costNote says that the entries are read less often than once per window.
const costNote = "pg_stat_statements was at times read only in one window in %d, to cost the server no more than 1 %% of a CPU"

// pay notes a reading's cost: took is ours, the round trip; cost is the server's:
// CPU time if it is visible, or else the time of the statements alone.
func (w *watch) pay(r *server.Reading, took, cost time.Duration, cpu bool) {
	w.statementPace.share = costShare
	if r.Statements != nil {
		w.statementPace.took(max(0, cost-w.plain), w.subject.Window)
	} else if cpu {
		w.plain = cost
	}
	if plain := w.plain; plain > 0 {
		took = max(took, time.Duration(float64(plain)*0.25/costShare)) // in terms of the pace's share of time
	}
	w.pace.took(took, w.subject.Window)
}

// statements takes a reading of pg_stat_statements at a run time. Statistics
// that were reset or dropped leave a gap.
func (w *watch) statements(r *server.Reading, at time.Duration) {
	was := w.keeping
	w.keeping = r.Keeping
	from := w.ledger.lastAt
	if was.Known && !r.Keeping.ResetAt.Equal(was.ResetAt) {
		// The reading may be from before or after the reset, so the next one is the
		// new base.
		w.ledger.lose()
		w.resetAt = from
		w.gap(record.Gap{Span: timebase.Span{From: from, To: at}, Of: "statements", Why: resetWhy})
		return
	}
	if w.ledger.last == nil && w.resetAt > 0 {
		w.gap(record.Gap{Span: timebase.Span{From: w.resetAt, To: at}, Of: "statements", Why: resetWhy})
		w.resetAt = 0
	}
	first := w.ledger.last == nil
	lost := w.ledger.read(at, r.Statements)
	dropped := r.Keeping.Dropped - was.Dropped
	switch {
	case first:
	case was.Known && dropped > 0:
		w.evicted += dropped
		w.gap(record.Gap{Span: timebase.Span{From: from, To: at}, Of: "statements",
			Why: "pg_stat_statements was full and dropped rare ones"})
	case lost > 0:
		w.gap(record.Gap{Span: timebase.Span{From: from, To: at}, Of: "statements",
			Why: "entries of pg_stat_statements were reset or dropped"})
	}
}

// resetWhy is the reason of the gap that a reset leaves.
const resetWhy = "pg_stat_statements was reset"

// maxGaps bounds the number of gaps that are kept separately.
const maxGaps = 64

// gap marks a stretch that was not observed. It is joined to the last one of its
// kind if they touch, or if there are too many.
func (s *Source) gap(g record.Gap) {
	for i := len(s.gaps) - 1; i >= 0; i-- {
		last := &s.gaps[i]
		if last.Of != g.Of || last.Why != g.Why {
			continue
		}
		if g.From <= last.To || len(s.gaps) >= maxGaps {
			last.To = max(last.To, g.To)
			return
		}
		break
	}
	if len(s.gaps) < 2*maxGaps {
		s.gaps = append(s.gaps, g)
	}
}

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
