// Package vitals keeps the health of the sources of package kernel
// after a run: how many samples they took, how well these are dated, and which data
// they could not see.
package vitals

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
)

// maxNotes and maxGaps bound the notes on one run.
const (
	maxNotes = 16
	maxGaps  = 100
)

// Vitals is written by one goroutine and read after it, except Gone. The zero Vitals is
// ready to use.
type Vitals struct {
	// Bracket dates the samples.
	Bracket observe.Bracket
	// Missed counts the windows that were skipped.
	Missed int64

	ended time.Duration
	gone  atomic.Bool
	notes []string
	gaps  []record.Gap
}

// Say adds a note to the health, once.
func (v *Vitals) Say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(v.notes, text) && len(v.notes) < maxNotes {
		v.notes = append(v.notes, text)
	}
}

// End notes the run time at which the target was found gone; the first call counts.
func (v *Vitals) End(at time.Duration) {
	if v.ended == 0 {
		v.ended = max(at, 1)
		v.gone.Store(true)
	}
}

// Gone reports whether the target was found gone. It is safe to call during the run.
func (v *Vitals) Gone() bool { return v.gone.Load() }

// Blind notes a gap. A gap directly after one with the same reason extends that.
func (v *Vitals) Blind(s timebase.Span, why string) {
	if n := len(v.gaps); n > 0 && v.gaps[n-1].Why == why && v.gaps[n-1].To >= s.From {
		v.gaps[n-1].To = max(v.gaps[n-1].To, s.To)
	} else if n < maxGaps {
		v.gaps = append(v.gaps, record.Gap{Span: s, Why: why})
	}
}

// Finish ends the run; if the process ended before, the rest is a gap.
func (v *Vitals) Finish(now time.Duration) {
	if v.ended != 0 {
		v.Blind(timebase.Span{From: v.ended, To: max(now, v.ended)}, "the process ended")
	}
}

// Health implements observe.Reporter.
func (v *Vitals) Health(name string) record.SourceHealth {
	samples := v.Bracket.Samples()
	var why []string
	if v.ended != 0 {
		why = append(why, fmt.Sprintf("the process ended %s into the run", notation.Time(v.ended)))
	} else if samples == 0 {
		why = append(why, "the run ended before the first window did")
	}
	if v.Missed > 0 {
		why = append(why, observe.Skipped(v.Missed))
	}
	return record.SourceHealth{
		Name:    name,
		OK:      samples > 0 && v.ended == 0,
		Why:     strings.Join(append(why, v.notes...), "; "),
		Samples: samples,
		Align:   v.Bracket.Align(),
		Gaps:    v.gaps,
	}
}
