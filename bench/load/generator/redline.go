//go:build linux

package generator

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/bench/load/process"
	"github.com/redline-go/redline/bench/load/serve"
	"github.com/redline-go/redline/record"
)

// Redline is the real binary driving load with all of its accounting: windows,
// histograms, the latency log, slow requests, its assessment of itself, the
// bundle and its report. It watches nothing: the cost of watching a target is
// not the generator's, and is shown separately; see Observing.
func Redline(path string) *Tool {
	t := Observing(path)
	t.Name = "redline"
	t.Arguments = func(s Shape, dir string) ([]string, bool) {
		return append(RedlineArguments(s, dir), "--no-observe"), true
	}
	return t
}

// Observing is redline as it runs by default, which also watches nginx's
// process, the sockets and the kernel.
func Observing(path string) *Tool {
	return &Tool{
		Name: "redline, observing", Path: path,
		Arguments: func(s Shape, dir string) ([]string, bool) { return RedlineArguments(s, dir), true },
		Read:      readRedline,
		// 3 says that the generator was the limit, as intended for a closed loop against
		// a server this fast; the reasons are kept as a remark.
		excuses: []int{3},
	}
}

// RedlineArguments is redline's command line for a load, without the program; the
// bundle goes below dir.
func RedlineArguments(s Shape, dir string) []string {
	args := []string{"run", redlineURL(s), "-d", s.Duration.String(), "--warmup", "0s", "--json", "--plain",
		"-o", filepath.Join(dir, "bundle")}
	if s.Rate > 0 {
		args = append(args, "--rate", fmt.Sprint(s.Rate))
	} else {
		args = append(args, "-c", strconv.Itoa(s.Connections))
	}
	if s.Streams > 1 {
		args = append(args, "--streams", strconv.Itoa(s.Streams))
	}
	if s.Protocol == HTTP2 {
		args = append(args, "--http2")
	}
	if s.Protocol == GRPC {
		args = append(args, "--body", serve.EchoBody)
	}
	if s.TLS {
		args = append(args, "--insecure")
	}
	return args
}

func redlineURL(s Shape) string {
	if s.Protocol == GRPC {
		return "grpc://" + s.Address + "/" + serve.EchoService + "/" + serve.EchoMethod
	}
	return s.url()
}

func readRedline(o process.Output, _ Shape, _ string) (Tally, error) {
	var summary record.Summary
	if err := json.Unmarshal(o.Stdout, &summary); err != nil {
		return Tally{}, fmt.Errorf("redline: its summary is not JSON: %w%s", err, process.LastLine(o.Stderr))
	}
	l := summary.Load
	t := Tally{
		Requests: l.Requests - l.Errors, Errors: l.Errors,
		P50: time.Duration(l.Latency.P50), P99: time.Duration(l.Latency.P99), P999: time.Duration(l.Latency.P999),
		Max:    time.Duration(l.Latency.Max),
		LagP50: time.Duration(l.Lag.P50), LagP99: time.Duration(l.Lag.P99), LagP999: time.Duration(l.Lag.P999),
		OwnCPU: time.Duration(summary.Generator.CPU), Unoffered: l.InFlight,
		Established: l.Established,
		Remark:      strings.Join(summary.Generator.WhyInvalid, "; "),
	}
	return t.checked("redline")
}
