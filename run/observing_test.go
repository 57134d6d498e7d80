package run

import (
	"flag"
	"fmt"
	"os"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/series"
)

var update = flag.Bool("update", false, "write the tables of docs/observing.md anew")

const observingDoc = "../docs/observing.md"

// owners say which source delivers the series whose names begin with a prefix, and what
// reading them takes; the longest prefix counts.
var owners = []struct{ prefix, source, cost string }{
	{"load.", "load", "counted as requests end"},
	{"generator.", "load", "clock and schedstat of redline's own threads each window"},
	{"process.", "process", "a file per process each window"},
	{"process.cpu.", "process", "a CPU clock and a file per process each window"},
	{"process.run_delay", "process", "a file per thread each window (above 64 threads, every fifth)"},
	{"process.switch.", "process", "a file per thread twice a second"},
	{"process.io.", "process", "a file per process twice a second"},
	{"process.fd", "process", "a look at the descriptors each second"},
	{"host.cpu", "process", "a file each window"},
	{"cgroup.cpu.", "container", "a file each window"},
	{"cgroup.cpu.quota", "container", "a file per level of groups each second"},
	{"cgroup.memory", "container", "a file each second"},
	{"cgroup.memory.limit", "container", "a file per level of groups each second"},
	{"cgroup.memory.high", "container", "a file per level of groups each second"},
	{"pressure.", "container", "a file per resource each window"},
	{"host.pressure.", "container", "a file per resource each window"},
	{"perf.", "perf", "a reading per thread each window; the kernel switches the counter with the thread"},
	{"postgres.", "postgres", "three queries each window, in all"},
	{"pool.", "runtime", "the pool's own statistics each window, in the target"},
	{"/", "runtime", "one reading of runtime/metrics each window, in the target"},
	{"gc.", "collections", "a line of the target's standard error per collection"},
	{"net.", "netstat", "two files each window, in all"},
	{"net.sockets", "netstat", "two files every fifth window, in all"},
	{"net.tcp.in_use", "netstat", "two files every fifth window, in all"},
	{"net.tcp.orphans", "netstat", "two files every fifth window, in all"},
	{"net.tcp.time_wait", "netstat", "two files every fifth window, in all"},
	{"net.tcp.allocated", "netstat", "two files every fifth window, in all"},
	{"net.tcp.memory", "netstat", "two files every fifth window, in all"},
	{"net.tcp.time_waits", "netstat", "two files each window, in all"},
	{"net.tcp.time_wait_", "netstat", "two files each window, in all"},
	{"net.tcp.memory_", "netstat", "two files each window, in all"},
	{"softnet.", "netstat", "a file every fifth window"},
	{"sockets.", "sockets", "a walk of the kernel's table of connections, at most 1 % of a CPU"},
	{"sockets.accept_queue", "sockets", "a walk of the kernel's listeners four times a window"},
	{"sockets.backlog", "sockets", "a walk of the kernel's listeners four times a window"},
	{"peers.", "peers", "a CPU clock per peer each window"},
	{"peers.unseen", "peers", "a walk of the kernel's table of connections and of descriptors, at most 1 % of a CPU"},
	{"tcp.", "events", "a program per connection opened or closed and per retransmission"},
	{"runqueue.", "events", "a program per switch of threads"},
	{"block.", "events", "a program per request of a block device"},
	{"fsync.", "events", "a program per fsync"},
	{"kernel.calibration", "events", "a file every tenth window"},
	{"span", "spans", "what the services' exporters take"},
}

// owner returns which source delivers a series, and what that takes.
func owner(name string) (source, cost string) {
	best := 0
	for _, o := range owners {
		if strings.HasPrefix(name, o.prefix) && len(o.prefix) > best {
			best, source, cost = len(o.prefix), o.source, o.cost
		}
	}
	return source, cost
}

// TestObservingDocumentation regenerates the tables of docs/observing.md from the
// catalogue and the sources' own words.
func TestObservingDocumentation(t *testing.T) {
	text, err := os.ReadFile(observingDoc)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for name, table := range map[string]string{
		"sources": sourceTable(), "series": seriesTable(t), "runtime series": runtimeTable(),
	} {
		begin, end := "<!-- "+name+": generated, see run/observing_test.go -->\n", "<!-- end -->"
		head, rest, ok := strings.Cut(got, begin)
		_, tail, also := strings.Cut(rest, end)
		if !ok || !also {
			t.Fatalf("%s has no place for the table of %s", observingDoc, name)
		}
		got = head + begin + "\n" + table + "\n" + end + tail
	}
	if *update {
		if err := os.WriteFile(observingDoc, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if got != string(text) {
		t.Errorf("%s is not what the catalogue says: go test ./run -run Observing -update", observingDoc)
	}
}

// allSources are those of a target that has everything.
func allSources() []observe.Source {
	return Sources(observe.Subject{GCTrace: func() (came time.Time, line string, ok bool) { return came, "", false }})
}

func sourceTable() string {
	var b strings.Builder
	b.WriteString("| source | what it sees | what it needs | what it costs |\n|---|---|---|---|\n")
	for _, source := range allSources() {
		d := source.Describe()
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.Name, d.Doc, d.Needs, d.Cost)
	}
	return b.String()
}

func seriesTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| series | unit | kind | labels | source | what it is | read from | what it costs |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	for _, name := range series.Names() {
		info, _ := series.Known(name)
		source, cost := owner(name)
		if source == "" {
			t.Errorf("%s has no source: add it to owners", name)
		}
		kind := "gauge"
		if info.Counter {
			kind = "counter"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n",
			name, info.Unit, kind, strings.ReplaceAll(info.Labels, ",", ", "), source, info.Meaning, info.Source, cost)
	}
	return b.String()
}

// runtimeTable lists what the probe reads from this Go version's runtime/metrics.
func runtimeTable() string {
	var b strings.Builder
	b.WriteString("| series | unit | kind |\n|---|---|---|\n")
	for _, d := range metrics.All() {
		info, ok := series.Known(d.Name)
		if !ok || strings.HasPrefix(d.Name, "/godebug/") || slices.Contains([]string{"/gc/pauses:seconds",
			"/gc/heap/frees-by-size:bytes"}, d.Name) {
			continue
		}
		kind := "gauge"
		switch {
		case d.Kind == metrics.KindFloat64Histogram:
			kind = "histogram: labels q=count, p50, p99, max"
		case d.Cumulative:
			kind = "counter"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", d.Name, info.Unit, kind)
	}
	return b.String()
}

// TestOwnersAreSources: every owner but load is a source, and every source that
// delivers series owns some.
func TestOwnersAreSources(t *testing.T) {
	names := map[string]bool{"load": true}
	for _, source := range allSources() {
		names[source.Describe().Name] = true
	}
	owns := map[string]bool{"profiles": true, "traces": true, "operations": true} // these deliver files
	for _, o := range owners {
		owns[o.source] = true
		if !names[o.source] {
			t.Errorf("%s belongs to %s, which is no source", o.prefix, o.source)
		}
	}
	for name := range names {
		if !owns[name] {
			t.Errorf("source %s owns no series", name)
		}
	}
}
