//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/redline-go/redline/bench/load/process"
)

// allocation is one line of go test -bench.
type allocation struct {
	Package   string  `json:"package"`
	Benchmark string  `json:"benchmark"`
	NS        float64 `json:"ns_per_op"`
	Bytes     int64   `json:"bytes_per_op"`
	Count     int64   `json:"allocs_per_op"`
	// Requests is how many requests an operation makes: 1, or by the benchmark's
	// metric "requests/s" if its operation is a whole run.
	Requests float64 `json:"requests_per_op"`
}

// perRequest is the allocations of one request. It includes the start of a run if an
// operation is a whole run.
func (a allocation) perRequest() float64 { return float64(a.Count) / max(a.Requests, 1) }

// extra reports whether the benchmark does more than the loop must: checks examine the
// answer's body.
func (a allocation) extra() bool { return strings.Contains(a.Benchmark, "checked") }

// noAllocation is the share of a run's start, spread over its requests.
const noAllocation = 0.05

// allocationPackages hold the loop of HTTP/1.1: the engine with its pacing and
// accounting, and the protocol.
var allocationPackages = []string{"./load", "./load/account", "./load/pace", "./load/http1"}

// allocations runs the benchmarks of the loop.
func (b *bench) allocations(ctx context.Context) (*section, error) {
	benchtime := "1s"
	if b.short {
		benchtime = "100ms"
	}
	args := append([]string{"test", "-run", "^$", "-bench", ".", "-benchmem", "-benchtime", benchtime}, allocationPackages...)
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w%s", strings.Join(args, " "), err, process.LastLine(out))
	}
	all := readAllocations(string(out))
	s := &section{
		Title: "Allocations", About: "`go " + strings.Join(args, " ") + "`.",
		Columns: []string{"package", "benchmark", "ns per operation", "bytes per operation", "allocations per operation",
			"requests per operation", "allocations per request"},
	}
	m := mark{What: "steady allocations per request, HTTP/1.1 loop", Want: "0", Got: "no benchmark found", Verdict: notMeasured}
	most, counted := 0.0, 0
	for _, a := range all {
		s.Rows = append(s.Rows, []string{
			a.Package, a.Benchmark, fmt.Sprintf("%.1f", a.NS), fmt.Sprint(a.Bytes), fmt.Sprint(a.Count),
			thousands(a.Requests), fmt.Sprintf("%.3f", a.perRequest()),
		})
		if !a.extra() {
			most, counted = max(most, a.perRequest()), counted+1
		}
	}
	if counted > 0 {
		m.Got, m.Verdict = fmt.Sprintf("%.3f at most, of %d benchmarks without checks", most, counted), verdict(most < noAllocation)
	}
	s.Marks = []mark{m}
	s.Raw, err = json.Marshal(all)
	return s, err
}

var requestMetric = regexp.MustCompile(`\s([\d.]+) requests/s\s`)

var benchmarkLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op\s+(?:.*\s)?(\d+) B/op\s+(\d+) allocs/op`)

// readAllocations parses the output of go test -bench -benchmem
// (https://go.dev/design/14313-benchmark-format).
func readAllocations(text string) []allocation {
	var all []allocation
	pkg := ""
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "pkg: "); ok {
			pkg = strings.TrimSpace(rest)
		}
		m := benchmarkLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		a := allocation{Package: strings.TrimPrefix(pkg, "github.com/redline-go/redline/"), Benchmark: m[1]}
		a.NS, _ = strconv.ParseFloat(m[2], 64)
		a.Bytes, _ = strconv.ParseInt(m[3], 10, 64)
		a.Count, _ = strconv.ParseInt(m[4], 10, 64)
		a.Requests = 1
		if rate := requestMetric.FindStringSubmatch(line); rate != nil {
			perSecond, _ := strconv.ParseFloat(rate[1], 64)
			a.Requests = perSecond * a.NS / 1e9
		}
		all = append(all, a)
	}
	return all
}
