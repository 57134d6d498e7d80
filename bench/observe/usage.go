//go:build linux

package main

import (
	"errors"
	"os"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/timebase"
)

// usage is the CPU used over a span.
type usage struct {
	seconds             float64
	target, host, agent float64 // ns
	err                 error
}

// usage waits for a span to pass and reads the CPU clocks at both ends.
func (s *stage) usage(span timebase.Span) usage {
	var read [2]usage
	for i, at := range []time.Duration{span.From, span.To} {
		time.Sleep(at - s.clock.Now())
		target, err := observe.CPUTime(s.target.Info().PID)
		agent, err2 := observe.CPUTime(os.Getpid())
		host, err3 := busy()
		read[i] = usage{s.clock.Now().Seconds(), float64(target), host, float64(agent), errors.Join(err, err2, err3)}
	}
	a, b := read[0], read[1]
	return usage{b.seconds - a.seconds, b.target - a.target, b.host - a.host, b.agent - a.agent, errors.Join(a.err, b.err)}
}

// busy returns the CPU time of everything that ran on this host, in ns. Stolen time ran elsewhere.
func busy() (float64, error) {
	c, err := benchmark.HostCPU()
	return float64(c.All - c.Idle - c.Stolen), err
}
