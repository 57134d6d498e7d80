//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/record"
)

// redline is the real binary driving load with all of its accounting: windows,
// histograms, the latency log, slow requests, its judgement of itself, the
// bundle and its report. It watches nothing: the cost of watching a target is
// not the generator's, and stands next to it; see observing.
func redline(path string) *tool {
	t := observing(path)
	t.name = "redline"
	t.arguments = func(s shape, dir string) ([]string, bool) {
		return append(redlineArguments(s, dir), "--no-observe"), true
	}
	return t
}

// observing is redline as it runs by default, which also watches nginx's
// process, the sockets and the kernel.
func observing(path string) *tool {
	return &tool{
		name: "redline, observing", path: path,
		arguments: func(s shape, dir string) ([]string, bool) { return redlineArguments(s, dir), true },
		read:      readRedline,
		// 3 says that the generator was the limit, which a closed loop against a
		// server this fast means it to be; the reasons are kept as a remark.
		excuses: []int{3},
	}
}

func redlineArguments(s shape, dir string) []string {
	args := []string{"run", redlineURL(s), "-d", s.duration.String(), "--warmup", "0s", "--json", "--plain",
		"-o", filepath.Join(dir, "bundle")}
	if s.rate > 0 {
		args = append(args, "--rate", fmt.Sprint(s.rate))
	} else {
		args = append(args, "-c", strconv.Itoa(s.connections))
	}
	if s.streams > 1 {
		args = append(args, "--streams", strconv.Itoa(s.streams))
	}
	if s.protocol == http2 {
		args = append(args, "--http2")
	}
	if s.protocol == gRPC {
		args = append(args, "--body", echoBody)
	}
	if s.tls {
		args = append(args, "--insecure")
	}
	return args
}

func redlineURL(s shape) string {
	if s.protocol == gRPC {
		return "grpc://" + s.address + "/" + echoService + "/" + echoMethod
	}
	return s.url()
}

func readRedline(o output, _ shape, _ string) (tally, error) {
	var summary record.Summary
	if err := json.Unmarshal(o.stdout, &summary); err != nil {
		return tally{}, fmt.Errorf("redline: its summary is not JSON: %w%s", err, lastLine(o.stderr))
	}
	l := summary.Load
	t := tally{
		Requests: l.Requests - l.Errors, Errors: l.Errors,
		P50: time.Duration(l.Latency.P50), P99: time.Duration(l.Latency.P99), P999: time.Duration(l.Latency.P999), Max: time.Duration(l.Latency.Max),
		LagP50: time.Duration(l.Lag.P50), LagP99: time.Duration(l.Lag.P99), LagP999: time.Duration(l.Lag.P999),
		OwnCPU: time.Duration(summary.Generator.CPU), Unoffered: l.InFlight,
		Established: l.Established,
		Remark:      strings.Join(summary.Generator.WhyInvalid, "; "),
	}
	return t.checked("redline")
}
