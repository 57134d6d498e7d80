//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestReadWhatToolsPrint reads output that the pinned versions printed.
func TestReadWhatToolsPrint(t *testing.T) {
	us, ms := time.Microsecond, time.Millisecond
	for _, c := range []struct {
		tool *tool
		file string // what it printed, or what it left in its directory
		want tally
	}{
		{wrk(), "wrk.txt", tally{Requests: 231937, P50: 146 * us, P99: 872 * us, P999: 3305 * us, Max: 3968 * us}},
		{h2load(), "h2load.txt", tally{Requests: 156832}},
		{ab(), "ab.txt", tally{Requests: 238492}},
		{hey(), "hey.txt", tally{Requests: 42788, P50: 1500 * us, P99: 3800 * us, Max: 9900 * us}},
		{hey(), "hey-errors.txt", tally{Requests: 107, Errors: 93, P50: 200 * us, P99: 6700 * us, Max: 6700 * us}},
		{k6(), "k6.json", tally{Requests: 17140, P50: 3154838 * time.Nanosecond, P99: 14527579 * time.Nanosecond, P999: 17066367 * time.Nanosecond, Max: 18053910 * time.Nanosecond}},
		{fortio(), "fortio.json", tally{Requests: 142742, P50: 335410 * time.Nanosecond, P99: 3655667 * time.Nanosecond, P999: 9312900 * time.Nanosecond, Max: 26445521 * time.Nanosecond}},
		{ghz(), "ghz.json", tally{Requests: 5226, P50: 324777, P99: 3336430, Max: 9062159}},
		{redline(""), "redline.json", tally{Requests: 990, Errors: 10, P50: 100 * us, P99: 2 * ms, P999: 3 * ms, Max: 4 * ms,
			LagP50: 5 * us, LagP99: 50 * us, LagP999: 90 * us, OwnCPU: time.Second, Unoffered: 3, Established: 64, Remark: "the generator is the limit"}},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.tool.read(output{stdout: data}, shape{}, "testdata")
		if err != nil || got != c.want {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", c.file, got, err, c.want)
		}
	}
}

// TestNothingIsNoTally: a tool whose format changed must not count as one that
// answered nothing.
func TestNothingIsNoTally(t *testing.T) {
	for _, tool := range []*tool{wrk(), h2load(), ab(), hey(), k6(), fortio(), ghz(), redline(""), floor(t.Context(), t.TempDir())} {
		if got, err := tool.read(output{stdout: []byte("{}")}, shape{}, t.TempDir()); err == nil {
			t.Errorf("%s read %+v from nothing", tool.name, got)
		}
	}
}

func TestReadAllocations(t *testing.T) {
	const text = `goos: linux
pkg: github.com/redline-go/redline/load
BenchmarkLoop-2   	       1	 500000000 ns/op	   200000 requests/s	     160 B/op	    1000 allocs/op
PASS
pkg: github.com/redline-go/redline/load/http1
BenchmarkWire/chunked 	 2000000	       473.8 ns/op	       0 B/op	       0 allocs/op
BenchmarkSilent-2 	 2000000	       1.0 ns/op
`
	got := readAllocations(text)
	want := []allocation{{"load", "Loop", 5e8, 160, 1000, 1e5}, {"load/http1", "Wire/chunked", 473.8, 0, 0, 1}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] || got[0].perRequest() != 0.01 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestResident(t *testing.T) {
	if got, ok := resident("Name:\tredline\nVmHWM:\t   20 kB\nVmRSS:\t   12 kB\n"); got != 12<<10 || !ok {
		t.Errorf("got %d, %v", got, ok)
	}
	if _, ok := resident("Name:\tredline\nState:\tZ (zombie)\n"); ok {
		t.Error("a zombie has no memory")
	}
}
