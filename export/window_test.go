package export

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// TestLateValues: an amount that comes after its window was sent is not lost,
// and a gauge is not made up.
func TestLateValues(t *testing.T) {
	g := newGather(timebase.Clock{}, timebase.DefaultWindow, nil)
	requests := series.Series{Name: series.LoadRequests, Unit: "1"}
	gauge := series.Series{Name: series.LoadInFlight, Unit: "1"}
	g.add([]series.Point{{Window: 0, Series: requests, Value: 3}, {Window: 1, Series: requests, Value: 1},
		{Window: 0, Series: gauge, Value: 7}})
	if all := g.take(timebase.DefaultWindow); len(all) != 1 || len(all[0].values) != 2 || all[0].values[1].number != 3 {
		t.Fatalf("%+v", all)
	}
	g.add([]series.Point{{Window: 0, Series: requests, Value: 2}, {Window: 0, Series: gauge, Value: 9},
		{Window: 0, Series: gauge, Value: math.NaN()}})
	all := g.take(time.Hour)
	if len(all) != 1 || len(all[0].values) != 1 || all[0].index != 1 || all[0].values[0].number != 6 {
		t.Errorf("%+v", all)
	}
	if g.late != 1 || g.held != 0 || len(g.frames) != 0 {
		t.Errorf("late %d, held %d", g.late, g.held)
	}
}

// TestInfiniteValues: what the record refuses is not exported, and does not stay in a total.
func TestInfiniteValues(t *testing.T) {
	g := newGather(timebase.Clock{}, timebase.DefaultWindow, nil)
	requests := series.Series{Name: series.LoadRequests, Unit: "1"}
	for w, value := range []float64{3, math.Inf(1), math.Inf(-1), 4} {
		g.add([]series.Point{{Window: int64(w), Series: requests, Value: value}})
	}
	all := g.take(time.Hour)
	if len(all) != 2 || all[0].values[0].number != 3 || all[1].values[0].number != 7 {
		t.Errorf("%+v", all)
	}
}

// TestFloods: what waits is bounded, and what does not fit is counted.
func TestFloods(t *testing.T) {
	g := newGather(timebase.Clock{}, timebase.DefaultWindow, nil)
	points := make([]series.Point, 1000)
	for i := range points {
		points[i] = series.Point{Window: int64(i), Series: series.Series{Name: series.LoadInFlight, Unit: "1"}}
	}
	for range 300 {
		g.add(points)
	}
	if len(g.points) != mostPending || g.lost() != 300_000-mostPending {
		t.Errorf("%d wait, %d lost", len(g.points), g.lost())
	}
	g.take(0)
	for w := range int64(mostHeld) {
		g.sort(series.Point{Window: w, Series: series.Series{Name: series.LoadQueued, Unit: "1"}})
	}
	if g.held != mostHeld {
		t.Errorf("%d held", g.held)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ name, labels, unit, metric, otlp, otlpUnit string }{
		{series.LoadRequests, "", "1", "redline_load_requests_total", "redline.load.requests", "1"},
		{series.LoadBytesIn, "", "bytes", "redline_load_bytes_in_bytes_total", "redline.load.bytes_in", "By"},
		{series.LoadLatency, "q=p99", "ns", "redline_load_latency_seconds", "redline.load.latency", "s"},
		{"/sched/goroutines:goroutines", "", "1", "redline_go_sched_goroutines_goroutines", "redline.go.sched.goroutines.goroutines", "1"},
		{"/gc/heap/allocs:bytes", "", "bytes", "redline_go_gc_heap_allocs_bytes_total", "redline.go.gc.heap.allocs.bytes", "By"},
		{"/gc/heap/allocs:objects", "", "1", "redline_go_gc_heap_allocs_objects_total", "redline.go.gc.heap.allocs.objects", "1"},
		{"/cpu/classes/gc/mark/assist:cpu-seconds", "", "ns", "redline_go_cpu_classes_gc_mark_assist_cpu_seconds_total",
			"redline.go.cpu.classes.gc.mark.assist.cpu-seconds", "s"},
		{"/sched/latencies:seconds", "q=p99", "ns", "redline_go_sched_latencies_seconds", "redline.go.sched.latencies.seconds", "s"},
		{"/sched/latencies:seconds", "q=count", "1", "redline_go_sched_latencies_seconds_events_total",
			"redline.go.sched.latencies.seconds.events", "1"},
		{"/process/cpu/user:cpu-seconds", "", "ns", "redline_go_process_cpu_user_cpu_seconds_total",
			"redline.go.process.cpu.user.cpu-seconds", "s"},
		{"9 lives/é", "", "1/s", "redline__9_lives_per_second", "redline.9 lives/é", "1/s"},
	} {
		l := newLine(series.Series{Name: c.name, Labels: c.labels, Unit: c.unit})
		if l.metric != c.metric || l.name != c.otlp || l.unit != c.otlpUnit {
			t.Errorf("%s: %s, %s in %s", c.name, l.metric, l.name, l.unit)
		}
	}
}

// TestNamesDiffer: no two series of the catalogue become one metric.
func TestNamesDiffer(t *testing.T) {
	from := map[string]string{}
	for _, name := range catalogued() {
		info, _ := series.Known(name)
		metric := newLine(series.Series{Name: name, Unit: info.Unit}).metric
		if other := from[metric]; other != "" {
			t.Errorf("%s and %s are both %s", name, other, metric)
		}
		from[metric] = name
	}
}

func catalogued() []string {
	return []string{
		series.LoadRequests, series.LoadErrors, series.LoadLatency, series.LoadService, series.TCPRetransmits, series.TCPRetransmitBy,
		series.BlockLatency, series.BlockTime, series.CgroupMemory, series.CgroupMemoryLimit, series.GCLive,
		series.PoolWaits, series.PoolWaitTime,
	}
}

func TestServiceName(t *testing.T) {
	for want, target := range map[string]record.Target{
		"gateway":         {MainPkg: "example.org/shop/gateway", Command: []string{"/tmp/x"}},
		"svc":             {Command: []string{"/opt/bin/svc", "-v"}, URL: "http://a/"},
		"127.0.0.1:8080":  {URL: "http://127.0.0.1:8080/x"},
		"unknown_service": {},
	} {
		if got := ServiceName(target); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSpread: no value is lost, and each lies below its bucket's bound.
func TestSpread(t *testing.T) {
	var all spread
	values := []int64{0, 1, 15_000, 1_000_000, 1_000_001, 16_000_000_000, histogram.Highest}
	for _, v := range values {
		var c histogram.Counts
		c.Add(v)
		all.add(spreadOf(&c))
	}
	if all.total != uint64(len(values)) {
		t.Fatalf("%+v", all)
	}
	last, previous := uint64(0), 0.0
	all.classic(func(le float64, below uint64) {
		if below < last || le <= previous {
			t.Errorf("%d below %g after %d below %g", below, le, last, previous)
		}
		last, previous = below, le
	})
	if last != all.total {
		t.Errorf("%d of %d", last, all.total)
	}
	for _, v := range []float64{1e-6, 1e-3, 0.5, 1, 1.5} {
		if i := bucketOf(v); v > bound(i)*(1+1e-12) || v <= bound(i-1)*(1-1e-12) {
			t.Errorf("%g is in (%g, %g]", v, bound(i-1), bound(i))
		}
	}
}

// FuzzText: whatever a series is called, Prometheus reads the page.
func FuzzText(f *testing.F) {
	f.Add("load.requests", "kind=timeout", "1", 1.5)
	f.Add("/gc/heap/allocs:bytes", "q=p99,run=x", "bytes", math.Inf(1))
	f.Add("a\nb", "é=\"\\\n,=,x", "ns", math.Copysign(0, -1))
	f.Fuzz(func(t *testing.T, name, labels, unit string, v float64) {
		if strings.Count(labels, ",") > 8 {
			return
		}
		l := newLine(series.Series{Name: name, Labels: labels, Unit: unit})
		seen := map[string]bool{}
		for _, label := range l.labels {
			if seen[label.name] {
				return // the record's Labels makes none twice
			}
			seen[label.name] = true
		}
		var text bytes.Buffer
		writeText(&text, []value{{line: l, number: v}}, []label{{"run", "r"}, {"scenario", text8(name)}})
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(&text)
		if err != nil || len(families) != 1 {
			t.Errorf("%v in %q", err, text.String())
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	g := newGather(timebase.Clock{}, timebase.DefaultWindow, nil)
	points := make([]series.Point, 100)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		g.add(points)
		if i%1000 == 0 {
			g.points = g.points[:0]
		}
	}
}
