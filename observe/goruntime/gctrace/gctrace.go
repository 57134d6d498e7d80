// Package gctrace parses the runtime's lines about its collections, GODEBUG=gctrace=1.
package gctrace

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Cycle is one line of GODEBUG=gctrace=1: one collection, as it ended.
type Cycle struct {
	Number int64 // from 1; a gap means a lost line, or one of another program
	// Start is when the cycle began, after the program's start; the runtime truncates it
	// to milliseconds.
	Start  time.Duration
	Pauses [2]time.Duration // stop-the-world pauses at the start and the end of marking
	Mark   time.Duration    // concurrent, in wall time
	Assist time.Duration    // of CPU
	CPU    time.Duration    // all CPU of the cycle, assist included
	// Sizes are exact to 1 MB, because the runtime prints MB.
	Peak   float64 // heap at the end of the cycle, bytes
	Live   float64 // bytes found alive
	Goal   float64 // bytes
	Procs  float64
	Forced bool
}

// End is when the cycle ended, after the program's start.
func (c Cycle) End() time.Duration { return c.Start + c.Pauses[0] + c.Mark + c.Pauses[1] }

// maxCycle bounds a line's times and sizes: a line beyond it is not
// one of the runtime's.
const (
	maxCycle   = 1 << 40 // MB, ms, or a number of cycles
	maxGCLine  = 400
	maxPhases  = 3
	cpuSources = 3 // of marking: assist, background, idle
)

var errNoCycle = errors.New("not a line of gctrace")

// Parse parses a line of gctrace, whose form is documented in package
// runtime (GODEBUG, gctrace) and has been since Go 1.5:
//
//	gc # @#s #%: #+#+# ms clock, #+#/#/#+# ms cpu, #->#-># MB, # MB goal, # P
//
// Since Go 1.19 the sizes of stacks and globals come between the goal and the number of Ps.
// Unknown fields are skipped, so later versions may add more. Forced collections end in
// "(forced)".
func Parse(line string) (c Cycle, err error) {
	rest, ok := strings.CutPrefix(line, "gc ")
	if !ok || len(line) > maxGCLine {
		return Cycle{}, errNoCycle
	}
	head, fields, ok := strings.Cut(rest, ": ")
	if !ok {
		return Cycle{}, errNoCycle
	}
	number, rest, _ := strings.Cut(head, " @")
	start, _, ok := strings.Cut(rest, "s ")
	n, err1 := figure(number)
	at, err2 := figure(start)
	if !ok || err1 != nil || err2 != nil {
		return Cycle{}, errNoCycle
	}
	c.Number, c.Start = int64(n), time.Duration(at*float64(time.Second))
	fields, c.Forced = strings.CutSuffix(strings.TrimSpace(fields), "(forced)")
	known := 0
	for field := range strings.SplitSeq(fields, ", ") {
		took, err := c.field(strings.TrimSpace(field))
		if err != nil {
			return Cycle{}, fmt.Errorf("gctrace: %.60q: %w", field, err)
		}
		known += took
	}
	if known < 5 { // clock, cpu, sizes, goal and Ps
		return Cycle{}, errNoCycle
	}
	return c, nil
}

// field takes one of the fields after the colon and returns how many it recognized.
func (c *Cycle) field(text string) (known int, err error) {
	value, unit, _ := strings.Cut(text, " ")
	switch unit {
	case "ms clock":
		var phases []float64
		if phases, err = figures(value, "+", maxPhases); err == nil {
			c.Pauses[0], c.Mark, c.Pauses[1] = millis(phases[0]), millis(phases[1]), millis(phases[2])
		}
	case "ms cpu":
		err = c.cpuField(value)
	case "MB":
		var sizes []float64
		if sizes, err = figures(value, "->", 3); err == nil {
			c.Peak, c.Live = sizes[1]*(1<<20), sizes[2]*(1<<20)
		}
	case "MB goal":
		c.Goal, err = figure(value)
		c.Goal *= 1 << 20
	case "P":
		c.Procs, err = figure(value)
	default:
		return 0, nil
	}
	return 1, err
}

// cpuField parses "#+#/#/#+#": sweep termination, assist, background and idle
// marking, mark termination.
func (c *Cycle) cpuField(value string) error {
	phases := strings.Split(value, "+")
	if len(phases) != maxPhases {
		return errNoCycle
	}
	marking, err := figures(phases[1], "/", cpuSources)
	if err != nil {
		return err
	}
	before, err1 := figure(phases[0])
	after, err2 := figure(phases[2])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	c.Assist = millis(marking[0])
	c.CPU = millis(before + marking[0] + marking[1] + marking[2] + after)
	return nil
}

// figures splits a list of exactly n figures. Another number of them is another format,
// not a shorter line.
func figures(text, separator string, n int) ([]float64, error) {
	parts := strings.Split(text, separator)
	if len(parts) != n {
		return nil, errNoCycle
	}
	values := make([]float64, n)
	for i, part := range parts {
		var err error
		if values[i], err = figure(part); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// figure parses a figure, which is never negative.
func figure(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || v < 0 || v > maxCycle || text[0] == '+' {
		return 0, errNoCycle
	}
	return v, nil
}

// millis converts ms, and stops at an hour, because a larger float has no Duration.
func millis(v float64) time.Duration {
	return time.Duration(min(v, float64(time.Hour/time.Millisecond)) * float64(time.Millisecond))
}
