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
)

// allocation is one line of go test -bench.
type allocation struct {
	Package   string  `json:"package"`
	Benchmark string  `json:"benchmark"`
	NS        float64 `json:"ns_per_op"`
	Bytes     int64   `json:"bytes_per_op"`
	Count     int64   `json:"allocs_per_op"`
}

// allocationPackages hold the loop of HTTP/1.1: the engine and the protocol.
var allocationPackages = []string{"./load", "./load/http1"}

// allocations runs the benchmarks of the loop. Their operation is one request.
func (b *bench) allocations(ctx context.Context) (*section, error) {
	benchtime := "1s"
	if b.short {
		benchtime = "10x"
	}
	args := append([]string{"test", "-run", "^$", "-bench", ".", "-benchmem", "-benchtime", benchtime}, allocationPackages...)
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w%s", strings.Join(args, " "), err, lastLine(out))
	}
	all := readAllocations(string(out))
	s := &section{
		Title: "Allocations", About: "`go " + strings.Join(args, " ") + "`.",
		Columns: []string{"package", "benchmark", "ns per operation", "bytes per operation", "allocations per operation"},
	}
	m := mark{What: "steady allocations per request, HTTP/1.1 loop", Want: "0", Got: "no benchmark found", Verdict: notMeasured}
	most := int64(-1)
	for _, a := range all {
		s.Rows = append(s.Rows, []string{a.Package, a.Benchmark, fmt.Sprintf("%.1f", a.NS), fmt.Sprint(a.Bytes), fmt.Sprint(a.Count)})
		most = max(most, a.Count)
	}
	if most >= 0 {
		m.Got, m.Verdict = fmt.Sprintf("%d at most, of %d benchmarks", most, len(all)), verdict(most == 0)
	}
	s.Marks = []mark{m}
	s.Raw, err = json.Marshal(all)
	return s, err
}

var benchmarkLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op\s+(?:.*\s)?(\d+) B/op\s+(\d+) allocs/op`)

// readAllocations parses what go test -bench -benchmem prints
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
		all = append(all, a)
	}
	return all
}
