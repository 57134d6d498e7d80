//go:build linux

// Package generator drives load generators, redline among them, with the same load
// and reads what each reports about its run. Their output is parsed in the format of
// the pinned version; a tally of nothing is an error, so that a changed format does not
// go unnoticed.
package generator

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/bench/load/process"
)

// protocol is the protocol that a tool speaks.
type protocol string

// Protocols that tools are compared on.
const (
	HTTP1 protocol = "http1"
	HTTP2 protocol = "h2"
	GRPC  protocol = "grpc"
)

// Shape is one load, the same for every tool.
type Shape struct {
	Protocol    protocol
	Address     string // host:port
	TLS         bool
	Connections int
	Streams     int     // requests at once on each connection
	Rate        float64 // 1/s; 0 is as fast as possible
	Duration    time.Duration
}

// url is the target of a tool that speaks HTTP.
func (s Shape) url() string {
	if s.TLS {
		return "https://" + s.Address + "/"
	}
	return "http://" + s.Address + "/"
}

func (s Shape) seconds() string { return fmt.Sprintf("%gs", s.Duration.Seconds()) }

// Tally is a tool's report on its own run. Latencies are zero if the tool
// does not state them.
type Tally struct {
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

// Tool is a load generator.
type Tool struct {
	Name string
	Path string // program; empty if it is not available
	Why  string // why it is not available
	// Arguments returns the command line without the program, with files below
	// dir; ok is false if the tool cannot do the shape.
	Arguments func(s Shape, dir string) (args []string, ok bool)
	// Read returns the tally from the run's output and its files in dir.
	Read func(o process.Output, s Shape, dir string) (Tally, error)
	// excuses are the exit codes other than 0 that come with results.
	excuses []int
}

// Can reports whether the tool is available and can do the shape.
func (t *Tool) Can(s Shape) bool {
	if t.Path == "" {
		return false
	}
	_, ok := t.Arguments(s, "")
	return ok
}

// Skipped returns a line per missing tool that says why it is not in a table.
func Skipped(tools []*Tool) []string {
	var lines []string
	for _, t := range tools {
		if t.Path == "" {
			lines = append(lines, fmt.Sprintf("%s is skipped: %s", t.Name, strings.TrimSpace(t.Why)))
		}
	}
	return lines
}

// Excused reports whether err is an exit code that comes with results.
func (t *Tool) Excused(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && slices.Contains(t.excuses, exit.ExitCode())
}
