package goruntime

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/goruntime/gctrace"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Collections delivers the garbage collections of a target without a probe, from
// the lines that its runtime prints (GODEBUG=gctrace=1).
//
// A line holds when its cycle began on the target's own clock, cut to milliseconds, and its
// phases. The offset of that clock follows from the lines: each arrives shortly after its
// cycle ends, and the smallest delay gives the best estimate. So late lines are dated
// correctly too.
type Collections struct {
	subject observe.Subject
	meter   observe.Meter
	bracket observe.Bracket
	offset  time.Duration // run time at the program's start, best estimate so far
	based   bool
	number  int64              // of the last cycle
	window  int64              // the last that was filled up to
	sums    map[string]float64 // of the window after it
	latest  *gctrace.Cycle     // that ended in it; nil without one
	strange int64
	trouble problems
}

var (
	_ observe.Source   = (*Collections)(nil)
	_ observe.Reporter = (*Collections)(nil)
)

// NewCollections returns the source.
func NewCollections() *Collections { return &Collections{} }

// Describe implements observe.Source.
func (c *Collections) Describe() observe.Description {
	return observe.Description{
		Name:  "collections",
		Doc:   "Garbage collections of a target without the probe, from its runtime's gctrace output.",
		Needs: "a Go program that redline starts itself (--exec); the probe's figures are more precise.",
		Cost:  "a line on the target's standard error per collection.",
	}
}

// Open implements observe.Source. It opens where the probe is absent and redline started
// the target, because GODEBUG is read as a program starts.
func (c *Collections) Open(_ context.Context, subject observe.Subject) error {
	if subject.Ring != "" {
		return &observe.Unsupported{What: "not needed: the probe reports collections", Enable: "nothing to do"}
	}
	if subject.GCTrace == nil {
		return &observe.Unsupported{
			What:   "the target does not print its garbage collections",
			Enable: "let redline start it (--exec), which sets GODEBUG=gctrace=1",
		}
	}
	c.subject, c.meter.Width = subject, subject.Window
	c.sums = map[string]float64{}
	return nil
}

// Run implements observe.Source. Lines come on the target's standard error, late and in
// batches when it is busy; the cycle's own clock dates them.
func (c *Collections) Run(ctx context.Context, sink observe.Sink) error {
	begun := c.subject.Clock.Now()
	c.window = timebase.Window(begun, c.subject.Window) // the first is seen in part only
	err := observe.Every(ctx, c.subject.Clock, c.subject.Window, func(edge time.Duration) error {
		c.drain(begun)
		// A line comes after its cycle's end: windows are delivered one window later.
		c.deliver(timebase.Window(edge, c.subject.Window) - 2)
		if err := c.meter.Flush(sink); err != nil {
			c.trouble.add("store: %v", err)
		}
		return nil
	})
	if c.bracket.Samples() == 0 {
		c.trouble.add("the target printed no garbage collection: it is not a Go program, made none, or writes its standard error elsewhere")
	}
	return err
}

// drain takes the lines that came.
func (c *Collections) drain(begun time.Duration) {
	for {
		came, line, ok := c.subject.GCTrace()
		if !ok {
			return
		}
		parsed, err := gctrace.Parse(line)
		if err != nil {
			c.strange++
			continue
		}
		c.add(parsed, c.subject.Clock.At(came), begun)
	}
}

// tick is the resolution to which the runtime cuts a cycle's start.
const tick = time.Millisecond

// add counts a cycle in the window in which it ended.
func (c *Collections) add(g gctrace.Cycle, came, begun time.Duration) {
	if g.Number <= c.number { // a restarted program, or its child
		c.trouble.add("the target restarted: its collections start over")
		c.based = false
	}
	c.number = g.Number
	if offset := came - g.End(); !c.based || offset < c.offset {
		c.offset, c.based = offset, true
	}
	earliest := c.offset + g.End()
	if earliest < begun {
		return // it covers the time before the source was opened
	}
	at := c.bracket.Add(earliest, min(came, earliest+tick))
	w := timebase.Window(at, c.subject.Window)
	if w <= c.window { // delivered already: rather a window late than lost
		w = c.window + 1
	}
	c.deliver(w - 1)
	c.sums[series.GCCycles]++
	if g.Forced {
		c.sums[series.GCForced]++
	}
	c.sums[series.GCPause] += float64(g.Pauses[0] + g.Pauses[1])
	c.sums[series.GCMark] += float64(g.Mark)
	c.sums[series.GCAssist] += float64(g.Assist)
	c.sums[series.GCCPU] += float64(g.CPU)
	c.latest = &g
}

var gcCounters = [...]string{series.GCCycles, series.GCForced, series.GCPause, series.GCMark, series.GCAssist, series.GCCPU}

// deliver delivers all windows up to upTo, and begins the next. A window without a
// cycle is delivered as such once the runtime has printed one, because then it is
// known to print.
func (c *Collections) deliver(upTo int64) {
	for ; c.window < upTo; c.window++ {
		if c.based {
			for _, name := range gcCounters {
				c.meter.Put(name, "", c.window+1, c.sums[name])
			}
		}
		if g := c.latest; g != nil {
			c.meter.Put(series.GCLive, "", c.window+1, g.Live)
			c.meter.Put(series.GCPeak, "", c.window+1, g.Peak)
			c.meter.Put(series.GCGoal, "", c.window+1, g.Goal)
			c.meter.Put(series.GCProcs, "", c.window+1, g.Procs)
		}
		clear(c.sums)
		c.latest = nil
	}
}

// Health implements observe.Reporter.
func (c *Collections) Health() record.SourceHealth {
	texts := c.trouble.texts
	if c.strange > 0 {
		texts = append(texts, fmt.Sprintf("%d lines begin like gctrace's but have an unknown form", c.strange))
	}
	n := c.bracket.Samples()
	return record.SourceHealth{
		Name: c.Describe().Name, OK: n > 0, Why: strings.Join(texts, "; "),
		Samples: n, Align: c.bracket.Align(),
	}
}
