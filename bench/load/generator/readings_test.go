//go:build linux

package generator

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redline-go/redline/bench/load/process"
)

// TestReadWhatToolsPrint reads output that the pinned versions printed.
func TestReadWhatToolsPrint(t *testing.T) {
	us, ms := time.Microsecond, time.Millisecond
	for _, c := range []struct {
		tool *Tool
		file string // what it printed, or what it left in its directory
		want Tally
	}{
		{wrk(), "wrk.txt", Tally{Requests: 231937, P50: 146 * us, P99: 872 * us, P999: 3305 * us, Max: 3968 * us}},
		{h2load(), "h2load.txt", Tally{Requests: 156832}},
		{ab(), "ab.txt", Tally{Requests: 238492}},
		{hey(), "hey.txt", Tally{Requests: 42788, P50: 1500 * us, P99: 3800 * us, Max: 9900 * us}},
		{hey(), "hey-errors.txt", Tally{Requests: 107, Errors: 93, P50: 200 * us, P99: 6700 * us, Max: 6700 * us}},
		{k6(), "k6.json", Tally{Requests: 17140, P50: 3154838 * time.Nanosecond, P99: 14527579 * time.Nanosecond, P999: 17066367 * time.Nanosecond, Max: 18053910 * time.Nanosecond}},
		{fortio(), "fortio.json", Tally{Requests: 142742, P50: 335410 * time.Nanosecond, P99: 3655667 * time.Nanosecond, P999: 9312900 * time.Nanosecond, Max: 26445521 * time.Nanosecond}},
		{ghz(), "ghz.json", Tally{Requests: 5226, P50: 324777, P99: 3336430, Max: 9062159}},
		{Redline(""), "redline.json", Tally{Requests: 990, Errors: 10, P50: 100 * us, P99: 2 * ms, P999: 3 * ms, Max: 4 * ms,
			LagP50: 5 * us, LagP99: 50 * us, LagP999: 90 * us, OwnCPU: time.Second, Unoffered: 3, Established: 64,
			Remark: "the generator is the limit"}},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.tool.Read(process.Output{Stdout: data}, Shape{}, "testdata")
		if err != nil || got != c.want {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", c.file, got, err, c.want)
		}
	}
}

// TestNothingIsNoTally: a tool whose format changed must not count as one that
// answered nothing.
func TestNothingIsNoTally(t *testing.T) {
	for _, tool := range []*Tool{wrk(), h2load(), ab(), hey(), k6(), fortio(), ghz(), Redline(""), Floor(t.Context(), t.TempDir()),
		RingFloor(t.Context(), t.TempDir(), 1)} {
		if got, err := tool.Read(process.Output{Stdout: []byte("{}")}, Shape{}, t.TempDir()); err == nil {
			t.Errorf("%s read %+v from nothing", tool.Name, got)
		}
	}
}
