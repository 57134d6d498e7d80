package host_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/diagnose/passes/host"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

const ms = time.Millisecond

func TestGenerator(t *testing.T) {
	Expect(t, host.Generator, Healthy())
	Expect(t, host.Generator, Idle())
	Expect(t, host.Generator, New(64, 4*ms).Achieved(5000), "generator-saturated") // Little's law
	Expect(t, host.Generator, New(64, 4*ms).CPU(2, 1.97, 0.4, 1.4, -1), "generator-saturated")
	// The service uses up its own quota, and the host has CPUs for both.
	Expect(t, host.Generator, New(64, 4*ms).CPU(8, 2.4, 0.5, 1.6, 0).Gauge(series.CgroupQuota, "", 0.5))
	Expect(t, host.Generator, Healthy().
		Summary(record.Summary{Generator: record.Generator{WhyInvalid: []string{"its lag is 40 ms"}}}), "generator-saturated")
	Expect(t, host.Generator, Healthy().Summary(record.Summary{Generator: record.Generator{Valid: true}}))
	// Requests that the service never answered are not the generator's fault.
	Expect(t, host.Generator, Healthy().
		Summary(record.Summary{Generator: record.Generator{WhyInvalid: []string{"2 of 3 never ended"},
			Unanswered: "2 of 3 never ended"}}))
	lag := series.Labels("q", "p99")
	Expect(t, host.Generator, New(64, 4*ms).Rate(500).Gauge(series.LoadLag, lag, 30e6), "generator-saturated")
	// All connections wait for a slow service: being late is not the generator's fault.
	late := New(64, 400*ms).Rate(500).Gauge(series.LoadLag, lag, 300e6)
	Expect(t, host.Generator, late.Gauge(series.LoadQueued, "", 200).Gauge(series.LoadInFlight, "", 64))
	ExpectUnjudged(t, host.Generator, New(64, 4*ms).Achieved(0), "generator-saturated")
}

func TestConnections(t *testing.T) {
	few := func() *Builder { return New(1, 4*ms).CPU(2, 0.4, 0.2, 0.1, -1) }
	Expect(t, host.Connections, few().Wait(breakdown.StateRunning, ms, 1), "generator-limited")
	if found := Expect(t, host.Connections, New(4, 4*ms).Streams(4).CPU(2, 0.4, 0.2, 0.1, -1).
		Wait(breakdown.StateRunning, ms, 1), "generator-limited"); len(found) == 1 &&
		!strings.HasPrefix(found[0].Title, "4 streams at ") {
		t.Errorf("one connection of four streams reads %q", found[0].Title)
	}
	Expect(t, host.Connections, few().CPU(2, 1.6, 1, 0.3, -1))
	Expect(t, host.Connections, few().Rate(200))
	Expect(t, host.Connections, Healthy())
	// Nothing shows what requests wait for, so nothing promises that more of them are served at a time.
	for _, blind := range []bool{false, true} {
		from := few()
		if !blind {
			from = from.Wait(breakdown.StateRunning, ms, 1)
		}
		if f := Expect(t, host.Connections, from, "generator-limited")[0]; (f.GainCeiling == 1) != blind {
			t.Errorf("blind %v: %q claims %.2fx", blind, f.Title, f.GainCeiling)
		}
	}
	ExpectUnjudged(t, host.Connections, few().Aborted(), "generator-limited")
	Expect(t, host.Connections, few().Aborted().Wait(breakdown.StateRunning, ms, 1), "generator-limited")
}

// quota is a service with half a CPU on a host with CPUs to spare.
func quota(used float64) *Builder {
	return New(64, 20*ms).CPU(2, used+0.3, used, 0.2, -1).Gauge(series.CgroupQuota, "", 0.5).Counter(series.CgroupPeriods, "", 100)
}

// bursts makes the quota run out in every fifth window, and that window slow.
func bursts(b *Builder, slow float64) *Builder {
	b.Series(series.LoadLatency, series.Labels("q", "p99"), func(w int) float64 {
		if w%5 == 0 {
			return slow
		}
		return 10e6
	})
	b.Series(series.CgroupThrottles, "", func(w int) float64 { return float64(max(0, 1-w%5)) })
	return b.Series(series.CgroupThrottled, "", func(w int) float64 { return 80e6 * float64(max(0, 1-w%5)) })
}

func TestThrottling(t *testing.T) {
	Expect(t, host.Throttling, quota(0.49).Counter(series.CgroupThrottled, "", 9e9).Counter(series.CgroupThrottles,
		"", 95), "cpu-throttled")
	Expect(t, host.Throttling, bursts(quota(0.2), 90e6), "cpu-throttled")
	Expect(t, host.Throttling, bursts(quota(0.2), 10e6)) // it runs out, with no effect
	Expect(t, host.Throttling, quota(0.2).Counter(series.CgroupThrottled, "", 1e7).Counter(series.CgroupThrottles, "", 1))
	Expect(t, host.Throttling, quota(0.49).Counter(series.CgroupThrottled, "", 0).Counter(series.CgroupThrottles, "", 0))
	ExpectUnjudged(t, host.Throttling, Healthy(), "cpu-throttled")
}

func TestProcs(t *testing.T) {
	one := func(busy float64) *Builder {
		return New(64, 20*ms).CPU(4, busy, 0.97, 0.3, 0.3).Gauge("/sched/gomaxprocs:threads", "", 1).
			Wait(breakdown.StateRunnable, 18*ms, 9).Wait(breakdown.StateRunning, ms, 9)
	}
	Expect(t, host.Procs, one(1.6), "gomaxprocs-mismatch")
	Expect(t, host.Procs, one(3.9).CPU(4, 3.9, 0.97, 0.3, 2.6)) // the load itself leaves no CPU
	if found := Expect(t, host.Procs, one(3.9), "gomaxprocs-mismatch"); len(found) == 1 &&
		(found[0].Confidence != "medium" || found[0].GainCeiling < 3) {
		t.Errorf("other programs took the CPUs that the load leaves: %+v", found[0])
	}
	Expect(t, host.Procs, Healthy())
	Expect(t, host.Procs, bursts(quota(0.2).Gauge("/sched/gomaxprocs:threads", "", 8), 90e6), "gomaxprocs-mismatch")
	Expect(t, host.Procs, bursts(quota(0.2), 90e6)) // Go itself chooses no less than 2
	Expect(t, host.Procs, quota(0.49).Gauge("/sched/gomaxprocs:threads", "", 8).Counter(series.CgroupThrottles, "", 95))
	ExpectUnjudged(t, host.Procs, Healthy().Without("/sched/gomaxprocs:threads"), "gomaxprocs-mismatch")
	// A consequence of the other is reported in it.
	ExpectAll(t, []diagnose.Analyzer{host.Throttling, host.Procs},
		bursts(quota(0.2).Gauge("/sched/gomaxprocs:threads", "", 8), 90e6), "gomaxprocs-mismatch")
}

func TestDescriptors(t *testing.T) {
	Expect(t, host.Descriptors, Healthy().Gauge(series.ProcessFDs, "", 1000), "fd-limit")
	// All connections are open, each with several streams.
	if found := Expect(t, host.Descriptors, Healthy().Streams(8).Gauge(series.ProcessFDs, "", 1020).
		Gauge(series.LoadConnections, "", 8), "fd-limit"); len(found) == 1 && found[0].GainCeiling > 1.5 {
		t.Errorf("streams count as connections that are not open: %+v", found[0])
	}
	Expect(t, host.Descriptors, Healthy())
	ExpectUnjudged(t, host.Descriptors, Healthy().Without(series.ProcessFDs), "fd-limit")
	// Calls leave connections of their own open: each has two goroutines. A few explain nothing.
	for kept, want := range map[int64]string{20: "fd-limit", 400: "fd-limit at quotes.go:30"} {
		full := Healthy().Gauge(series.ProcessFDs, "", 1000).Dials("quotes:80", 1000, Caller(1, ms, "net/http.(*Transport).dial",
			"net/http.(*Client).Do", "shop/quotes.fetch@quotes.go:30"))
		for _, loop := range []string{"readLoop", "writeLoop"} {
			full.Left(0, kept, "internal/poll.runtime_pollWait", "net/http.(*persistConn)."+loop)
		}
		if found := Expect(t, host.Descriptors, full, want); len(found) == 1 && (found[0].Where.Line == 0) != (kept < 100) {
			t.Errorf("%d kept: %+v", kept, found[0].Where)
		}
	}
}

func TestDisk(t *testing.T) {
	idle := func() *Builder {
		return New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, ms, 3)
	}
	wal := "shop/wal.(*Log).Append@wal.go:30"
	Expect(t, host.Disk, idle().Wait(breakdown.StateSyscall, 30*ms, 1, "syscall.Fsync", "os.(*File).Sync", wal), "disk-sync at wal.go:30")
	Expect(t, host.Disk, idle().Wait(breakdown.StateSyscall, 30*ms, 1, "syscall.write",
		"internal/poll.(*FD).Write", "os.(*File).Write", wal), "disk-sync at wal.go:30")
	Expect(t, host.Disk, idle().Wait(breakdown.StateSyscall, 30*ms, 1,
		"syscall.write", "os.(*File).Write", "log/slog.Info", wal)) // a logger's
	// blocking-syscall
	Expect(t, host.Disk, idle().Wait(breakdown.StateSyscall, 30*ms, 1, "syscall.Pread", "os.(*File).Read", wal))
	ExpectUnjudged(t, host.Disk, idle().NoAnatomy(), "disk-sync")
	// What the slow requests gain is latency, also where the mean request's gain would be throughput.
	tail := idle().Wait(breakdown.StateNetwork, 20*ms, 1, Query()...).Wait(breakdown.StateSyscall, 8*ms, 1, "syscall.Fsync",
		"os.(*File).Sync", wal).Slow(breakdown.StateSyscall, 400*ms, "syscall.Fsync", "os.(*File).Sync", wal)
	if found := Expect(t, host.Disk, tail, "disk-sync at wal.go:30"); len(found) == 1 &&
		(found[0].ShareOf != diagnose.OfRequest || found[0].GainOf != laws.Latency || found[0].Then != "") {
		t.Errorf("worth %.2fx of %q, then %q", found[0].GainCeiling, found[0].GainOf, found[0].Then)
	}
	// What the kernel computes in the calls goes with them, and leaves CPUs to others: of a place that writes elsewhere, nothing.
	worth := func(sync ...string) float64 {
		b := New(64, 40*ms).CPU(2, 1.4, 1.2, 0.1, 0.1).Wait(breakdown.StateRunning, ms, 3).
			Wait(breakdown.StateSyscall, 36*ms, 1, "syscall.Fsync", "os.(*File).Sync", wal).Busy(8*time.Second).
			Sample(4*time.Second, sync...)
		found := Expect(t, host.Disk, b, "disk-sync at wal.go:30")
		if len(found) != 1 {
			return 0
		}
		return found[0].GainCeiling
	}
	own, others := worth("syscall.Fsync", "os.(*File).Sync", wal), worth("syscall.Fsync", "os.(*File).Sync", "shop/other.Save@other.go:3")
	if !(own > 1.3*others) {
		t.Errorf("worth %.2fx with the CPU of its calls, %.2fx without", own, others)
	}
	// A generic function writes whatever it is given: who gave it is named, and who called that.
	found := Expect(t, host.Disk, idle().Wait(breakdown.StateSyscall, 30*ms, 1, "syscall.Fsync", "os.(*File).Sync", wal,
		"shop/data.Service[...].Update@data.go:57", "shop/keys.(*Keys).Touch@keys.go:109", "shop/web.(*Bouncer).lookup@web.go:352"),
		"disk-sync at wal.go:30")
	if len(found) == 1 && (found[0].Where.Detail != "for keys.(*Keys).Touch (keys.go:109)" ||
		!slices.ContainsFunc(found[0].Evidence, func(e findings.Evidence) bool {
			return strings.HasPrefix(e.Text, "called by web.(*Bouncer).lookup web.go:352")
		})) {
		t.Errorf("%s: %v", found[0].Where.Detail, found[0].Evidence)
	}
}

func TestCold(t *testing.T) {
	steps := func(f func(w int) float64) *Builder {
		return Healthy().Series(series.LoadLatency, series.Labels("q", "p50"), f)
	}
	wobble := func(w int) float64 { return 10e6 + 1e6*math.Sin(float64(w)*1.7) }
	Expect(t, host.Cold, steps(func(w int) float64 {
		if w < 25 {
			return 3 * wobble(w)
		}
		return wobble(w)
	}), "cold-start")
	Expect(t, host.Cold, steps(wobble))
	Expect(t, host.Cold, steps(func(w int) float64 { // a shift in the middle is no start
		if w < 60 {
			return 3 * wobble(w)
		}
		return wobble(w)
	}))
	Expect(t, host.Cold, Healthy())
}
