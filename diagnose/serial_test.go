package diagnose_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/evidence"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/series"
)

const (
	storeGet   = "shop/store.(*Store).Get@store.go:40"
	storeLoop  = "shop/store.(*Store).loop@store.go:90"
	storeCheck = "shop/store.(*Store).check@store.go:120"
)

// oneForAll is a service whose requests wait for one goroutine, which runs, while half
// of the CPUs are idle.
func oneForAll() *Builder {
	running := breakdown.Chain{Links: []breakdown.Link{{Goroutine: "shop/store.(*Store).loop", State: breakdown.StateRunning}}}
	return New(64, 400*time.Millisecond).CPU(2, 1.02, 1, 0.02, 0).
		Wait(breakdown.StateRunning, time.Millisecond, 1).
		Wait(breakdown.StateChannel, 390*time.Millisecond, 1, "runtime.chanrecv1", storeGet).Waker(storeLoop).Behind(running).
		Background(9500*time.Millisecond, storeCheck, storeLoop).Background(500*time.Millisecond, storeLoop)
}

// Work of a goroutine for which all requests wait is worth its share of that
// goroutine, however idle the CPUs are, and the queue is worth the whole chain.
func TestWorkBehindOneGoroutineIsWorthItsChain(t *testing.T) {
	found := ExpectFirst(t, suite.All(), oneForAll(), "channel-bottleneck")
	if f := found.Findings[0]; f.GainCeiling < 5 || f.GainOf != laws.Throughput {
		t.Errorf("the queue is worth %.2fx of %s", f.GainCeiling, f.GainOf)
	}
	runWith(t, oneForAll(), func(p *diagnose.Pass) {
		g := p.Ran(evidence.Work{Share: 0.95, Function: "shop/store.(*Store).check"})
		if g.Factor < 15 || g.Factor > 21 || !strings.Contains(g.Then, "loop") {
			t.Errorf("95 %% of a serial goroutine: %+v, want about 20x, then the rest of it", g)
		}
		if other := p.Ran(evidence.Work{Share: 0.95}); other.Factor > 2 {
			t.Errorf("the same CPU, not known to run inside it: %+v", other)
		}
	})
}

// TestSeveralGoroutinesAreNoCPUs: what limits next once one function that four goroutines run is cheaper is the rest of their work.
func TestSeveralGoroutinesAreNoCPUs(t *testing.T) {
	runWith(t, oneForAll().Left(4, 4, "runtime.gopark", storeLoop), func(p *diagnose.Pass) {
		g := p.Ran(evidence.Work{Share: 0.5, Function: "shop/store.(*Store).check"})
		if g.Then != "the 4 goroutines of store.(*Store).loop" {
			t.Errorf("%+v, want the goroutines named", g)
		}
	})
}

// A finding says what its remedy gains and what limits next.
func TestGainSaysWhatLimitsNext(t *testing.T) {
	runWith(t, New(64, 40*time.Millisecond).CPU(2, 1.8, 0.8, 0.5, 0.5).
		Wait(breakdown.StateSleep, 30*time.Millisecond, 1, "time.Sleep", storeGet), func(p *diagnose.Pass) {
		if g := p.Waited(0.9); g.Then != "the host's 2 CPUs" || g.Of != laws.Throughput {
			t.Errorf("%+v, want the CPUs named", g)
		}
		if g := p.Waited(0.05); g.Then != "" {
			t.Errorf("%+v: nothing that was measured limits then", g)
		}
	})
	runWith(t, Idle(), func(p *diagnose.Pass) {
		if g := p.Waited(0.27); g.Of != laws.Latency || g.Factor < 1.36 || g.Factor > 1.38 {
			t.Errorf("27 %% of request time: %+v, want 1.37x of latency", g)
		}
	})
}

// behindLock is a service whose requests wait for a lock in which one of them works, at a
// cost per request that rises with the stored data.
func behindLock(work ...string) *Builder {
	rising := func(w int) float64 { return 1e8 * (0.02 + float64(w)/100) }
	holding := breakdown.Chain{Links: []breakdown.Link{{Request: true, State: breakdown.StateRunning, Stack: Stack(storeGet)}}}
	return New(12, 6*time.Millisecond).CPU(2, 1.3, 1.1, 0.2, 0).
		Series(series.ProcessUser, "", rising).Gauge(series.ProcessSystem, "", 0).
		Series("/gc/heap/live:bytes", "", func(w int) float64 { return 4e6 * (1 + float64(w)/60) }).
		Wait(breakdown.StateRunning, time.Millisecond, 1).
		Wait(breakdown.StateLock, 5*time.Millisecond, 1, "sync.runtime_SemacquireMutex", "sync.(*Mutex).Lock", storeGet).
		WakerRequest("sync.(*Mutex).Unlock", storeGet).Behind(holding).
		Held(8*time.Second, "sync.(*Mutex).Unlock", storeGet).
		Sample(time.Second, storeGet).Sample(8*time.Second, work...)
}

// A lock is held for longer the more is stored: the growing work is the cause if it is done
// while requests wait for the lock.
func TestLockFollowsFromWhatGrowsUnderIt(t *testing.T) {
	ExpectFirst(t, suite.All(), behindLock(storeCheck, storeGet), "grows-with-state")
	ExpectFirst(t, suite.All(), behindLock("shop/page.Render@page.go:12"), "lock-contention")
}

// A goroutine that mostly waits for the disk makes requests queue for it: the disk is the cause.
func TestQueueFollowsFromTheSyncsOfItsGoroutine(t *testing.T) {
	syncing := breakdown.Chain{NS: int64(350 * time.Millisecond), Links: []breakdown.Link{{
		Goroutine: "shop/store.(*Store).loop", State: breakdown.StateSyscall,
		Stack: Stack("syscall.Fsync", "os.(*File).Sync", "shop/store.(*Store).save@store.go:70", storeLoop),
	}}}
	queue := New(64, 400*time.Millisecond).CPU(2, 0.2, 0.15, 0.02, 0).
		Wait(breakdown.StateRunning, time.Millisecond, 1).
		Wait(breakdown.StateChannel, 390*time.Millisecond, 1, "runtime.chansend1", storeGet).Waker(storeLoop).Behind(syncing)
	found := ExpectFirst(t, suite.All(), queue, "disk-sync")
	if text := found.Findings[0].Title; !strings.Contains(text, ", so requests wait for a channel's few consumers") {
		t.Errorf("the queue is reported apart: %q, and %d findings", text, len(found.Findings))
	}
}

// Compiling belongs in no request: a goroutine that compiles for all of them is the consequence, however many it could be
// divided among. Decoding may well be divided.
func TestQueueFollowsFromWhatItsGoroutineCompiles(t *testing.T) {
	doing := func(work ...string) *Builder {
		running := breakdown.Chain{Links: []breakdown.Link{{Goroutine: "shop/store.(*Store).loop", State: breakdown.StateRunning,
			Stack: Stack(storeCheck, storeLoop)}}}
		return New(64, 400*time.Millisecond).CPU(2, 1.02, 1, 0.02, 0).
			Wait(breakdown.StateRunning, time.Millisecond, 1).
			Wait(breakdown.StateChannel, 390*time.Millisecond, 1, "runtime.chanrecv1", storeGet).Waker(storeLoop).Behind(running).
			Background(9*time.Second, append(work, storeCheck, storeLoop)...).Background(time.Second, storeLoop)
	}
	found := ExpectFirst(t, suite.All(), doing("regexp/syntax.Parse", "regexp.Compile"), "cpu-regexp-compile")
	if text := found.Findings[0].Title; !strings.Contains(text, ", so requests wait for a channel's few consumers") {
		t.Errorf("the queue is reported apart: %q", text)
	}
	ExpectFirst(t, suite.All(), doing("encoding/json.(*decodeState).object", "encoding/json.Unmarshal"), "channel-bottleneck")
}

// A goroutine that serves all requests and mostly is in a system call: that call is the cause, at its place. Where another request
// is in it, holding a lock, the lock is.
func TestQueueFollowsFromTheCallsOfItsGoroutine(t *testing.T) {
	const rollup = "shop/proc.(*Reader).Rollup@proc.go:510"
	inCall := func(link breakdown.Link) breakdown.Chain {
		link.State, link.Stack = breakdown.StateSyscall, Stack("syscall.read", "os.(*File).Read", "os.ReadFile", rollup, storeLoop)
		return breakdown.Chain{NS: int64(350 * time.Millisecond), Links: []breakdown.Link{link}}
	}
	queue := func() *Builder {
		return New(64, 400*time.Millisecond).CPU(2, 0.8, 0.75, 0.02, 0).Wait(breakdown.StateRunning, time.Millisecond, 1)
	}
	found := ExpectFirst(t, suite.All(), queue().Wait(breakdown.StateChannel, 390*time.Millisecond, 1, "runtime.chansend1", storeGet).
		Waker(storeLoop).Behind(inCall(breakdown.Link{Goroutine: "shop/store.(*Store).loop"})), "blocking-syscall")
	if f := found.Findings[0]; !strings.Contains(f.Title, "at proc.go:510, so requests wait for a channel's few consumers") {
		t.Errorf("%q at %s", f.Title, f.Where.Function)
	}
	found = ExpectFirst(t, suite.All(), queue().Wait(breakdown.StateLock, 390*time.Millisecond, 1, "sync.(*Mutex).Lock", storeGet).
		WakerRequest("sync.(*Mutex).Unlock", storeGet).Behind(inCall(breakdown.Link{Request: true})), "lock-contention")
	if len(found.Findings) != 1 {
		t.Errorf("%d findings of one lock", len(found.Findings))
	}
	loop := inCall(breakdown.Link{Goroutine: "shop/store.(*Store).loop"})
	found = ExpectFirst(t, suite.All(), queue().Wait(breakdown.StateLock, 390*time.Millisecond, 1, "sync.(*Mutex).Lock", storeGet).
		Waker("sync.(*Mutex).Unlock", storeLoop).Behind(loop), "lock-contention")
	if len(found.Findings) != 1 {
		t.Errorf("%d findings of a lock that a goroutine holds in the background", len(found.Findings))
	}
	several := queue().Wait(breakdown.StateChannel, 390*time.Millisecond, 1, "runtime.chansend1", storeGet).Waker(storeLoop).Behind(loop).
		Left(4, 4, "syscall.read", storeLoop)
	for _, f := range ExpectAll(t, suite.All(), several, "concurrency-limit", "blocking-syscall") {
		if strings.Contains(f.Remedy, "one goroutine") {
			t.Errorf("four goroutines: %s", f.Remedy)
		}
	}
}
