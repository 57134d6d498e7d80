package series

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/probe/ring"
	"github.com/redline-go/redline/probe/sampler"
)

var update = flag.Bool("update", false, "write names.go from catalogue.txt")

// TestNamesAreTheCatalogues: the constants are those of the table, in the table's order.
func TestNamesAreTheCatalogues(t *testing.T) {
	want, err := format.Source(constants(parse(table)))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("names.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("names.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("names.go is not what catalogue.txt gives: go test ./record/series -update")
	}
}

// constants writes the table as Go constants, each followed by its line of the table as a
// comment.
func constants(groups []group) []byte {
	var b bytes.Buffer
	b.WriteString("// Code generated from catalogue.txt by its test. DO NOT EDIT.\n\npackage series\n\n" +
		"// The names of the catalogue: kind, unit and meaning of each.\nconst (\n")
	for _, g := range groups[1:] {
		b.WriteByte('\n')
		for _, line := range g.heading {
			fmt.Fprintf(&b, "\t// %s\n", line)
		}
		for _, r := range g.rows {
			kind := "gauge"
			switch {
			case r.Counter:
				kind = "counter"
			case r.Most:
				kind = "peak"
			}
			fmt.Fprintf(&b, "\t%s = %q // %s, %s: %s\n", r.constant, r.Name, kind, r.Unit, r.Meaning)
		}
	}
	b.WriteString(")\n")
	return b.Bytes()
}

// TestCatalogueIsWhole: every row says what there is to say, once.
func TestCatalogueIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, g := range parse(table)[1:] {
		for _, r := range g.rows {
			if seen[r.Name] || seen[r.constant] {
				t.Errorf("%s is there twice", r.Name)
			}
			seen[r.Name], seen[r.constant] = true, true
			if r.Meaning == "" || r.Source == "" {
				t.Errorf("%s has no meaning or no source", r.Name)
			}
			if !slices.Contains([]string{"ns", "bytes", "1", "1/s"}, r.Unit) || strings.Contains(r.Labels, " ") {
				t.Errorf("%s has unit %q and labels %q", r.Name, r.Unit, r.Labels)
			}
		}
	}
	if len(seen) == 0 || len(Names())*2 != len(seen) {
		t.Errorf("%d names of %d rows", len(Names()), len(seen)/2)
	}
}

func TestKnownRuntimeNames(t *testing.T) {
	for name, unit := range map[string]string{
		"/sched/goroutines:goroutines":      "1",
		"/cpu/classes/gc/total:cpu-seconds": "ns",
		"/sched/latencies:seconds":          "ns",
		"/gc/heap/allocs:bytes":             "bytes",
	} {
		if info, ok := Known(name); !ok || info.Unit != unit {
			t.Errorf("Known(%q) = %+v, %v; want unit %s", name, info, ok, unit)
		}
	}
	for _, name := range []string{"", "/no/unit", "made.up"} {
		if _, ok := Known(name); ok {
			t.Errorf("%q is known", name)
		}
	}
}

func TestCounts(t *testing.T) {
	for s, want := range map[Series]bool{
		{Name: LoadRequests}:                                         true,
		{Name: LoadInFlight}:                                         false,
		{Name: LoadLatency, Labels: "q=p99"}:                         false,
		{Name: "/gc/heap/allocs:bytes"}:                              true,
		{Name: "/gc/heap/live:bytes"}:                                false,
		{Name: "/gc/heap/allocs-by-size:bytes", Labels: "size=le64"}: true,
		{Name: "/sched/latencies:seconds", Labels: "q=count"}:        true,
		{Name: "/sched/latencies:seconds", Labels: "q=p99"}:          false,
		{Name: "/process/cpu/user:cpu-seconds"}:                      true, // of the probe, in the runtime's style
		{Name: "/cpu/classes/of/a/newer/runtime:cpu-seconds"}:        true,
		{Name: "/of/a/newer/runtime:events"}:                         false, // its kind is not known
		{Name: "unknown"}:                                            false,
	} {
		if got := Counts(s); got != want {
			t.Errorf("%s{%s}: %v", s.Name, s.Labels, got)
		}
	}
}

// TestProbeAgrees: units and kinds that the record derives from the names of runtime/metrics
// are those that the probe writes.
func TestProbeAgrees(t *testing.T) {
	units := map[ring.Unit]string{ring.One: "1", ring.Nanoseconds: "ns", ring.Bytes: "bytes"}
	for _, c := range sampler.New().Columns() {
		info, known := Known(c.Name)
		if c.Labels == "q=count" || strings.HasPrefix(c.Labels, "size=") {
			info.Unit = "1" // events, whatever is measured of them
		}
		if !known || units[c.Unit] != info.Unit {
			t.Errorf("%s{%s} comes in %q, is recorded in %q, known: %v", c.Name, c.Labels, units[c.Unit], info.Unit, known)
		}
		if counts := Counts(Series{Name: c.Name, Labels: c.Labels}); counts != (c.Kind == ring.Cumulative) {
			t.Errorf("%s{%s}: counter %v, but %v for the probe", c.Name, c.Labels, counts, !counts)
		}
	}
}
