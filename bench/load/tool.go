//go:build linux

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// protocol is the one that a tool is asked to speak.
type protocol string

const (
	http1 protocol = "http1"
	http2 protocol = "h2"
	gRPC  protocol = "grpc"
)

// shape is one load as every tool is asked for it.
type shape struct {
	protocol    protocol
	address     string // host:port
	tls         bool
	connections int
	streams     int     // requests at once on each connection
	rate        float64 // 1/s; 0 is as fast as it goes
	duration    time.Duration
}

// url is the target of a tool that speaks HTTP.
func (s shape) url() string {
	if s.tls {
		return "https://" + s.address + "/"
	}
	return "http://" + s.address + "/"
}

func (s shape) seconds() string { return fmt.Sprintf("%gs", s.duration.Seconds()) }

// tally is a tool's report on its own run. Latencies are zero where the tool
// does not state them.
type tally struct {
	Requests  int64         `json:"requests"` // answered, without errors
	Errors    int64         `json:"errors"`
	P50       time.Duration `json:"p50_ns,omitempty"`
	P99       time.Duration `json:"p99_ns,omitempty"`
	P999      time.Duration `json:"p99_9_ns,omitempty"`
	Max       time.Duration `json:"max_ns,omitempty"`
	LagP50    time.Duration `json:"lag_p50_ns,omitempty"`
	LagP99    time.Duration `json:"lag_p99_ns,omitempty"`
	LagP999   time.Duration `json:"lag_p99_9_ns,omitempty"`
	OwnCPU    time.Duration `json:"own_cpu_ns,omitempty"` // the tool's own reading, of its measured span
	Remark    string        `json:"remark,omitempty"`
	Unoffered int64         `json:"unoffered,omitempty"` // requests the tool says it did not send in time
	// Established is the mean number of open connections.
	Established float64 `json:"established,omitempty"`
}

// tool is a load generator.
type tool struct {
	name string
	path string // program; empty when it cannot be had
	why  string // it cannot be had
	// arguments returns the command line without the program, with files below
	// dir; ok is false when the tool cannot do the shape.
	arguments func(s shape, dir string) (args []string, ok bool)
	// read returns the tally from the run's output and its files in dir.
	read func(o output, s shape, dir string) (tally, error)
	// excuses are exit codes that come with results all the same.
	excuses []int
}

// can reports whether the tool is there and does the shape.
func (t *tool) can(s shape) bool {
	if t.path == "" {
		return false
	}
	_, ok := t.arguments(s, "")
	return ok
}

// skipped is the line that says why a tool is not in a table.
func skipped(tools []*tool) []string {
	var lines []string
	for _, t := range tools {
		if t.path == "" {
			lines = append(lines, fmt.Sprintf("%s is skipped: %s", t.name, strings.TrimSpace(t.why)))
		}
	}
	return lines
}

// excused reports whether err is an exit that comes with results.
func (t *tool) excused(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && slices.Contains(t.excuses, exit.ExitCode())
}
