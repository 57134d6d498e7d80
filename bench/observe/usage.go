//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

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

// busy returns the CPU time of everything that ran on this host, in ns, from the first
// line of /proc/stat (proc_stat(5)): ticks of 10 ms, without idle and iowait.
func busy() (float64, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return 0, fmt.Errorf("/proc/stat begins with %q", line)
	}
	total := 0.0
	for i, field := range fields[1:8] { // stolen time ran elsewhere
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		if i != 3 && i != 4 {
			total += n
		}
	}
	return total * 1e7, nil
}
