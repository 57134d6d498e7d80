package wait_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/downstream"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/series"
)

const (
	ms  = time.Millisecond
	us  = time.Microsecond
	s   = time.Second
	get = "shop/cache.(*Cache).Get@cache.go:41"
	set = "shop/cache.(*Cache).Set@cache.go:60"
)

// idle leaves most CPUs idle; its requests take 8 ms in addition to the waits that a test adds.
func idle() *Builder {
	return New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, 2*ms, 3).Wait(breakdown.StateNetwork, 6*ms, 1, Query()...)
}

// busy saturates the CPUs.
func busy() *Builder { return idle().CPU(2, 1.97, 1.2, 0.3, 0.4) }

func mutex(at ...string) []string {
	return append([]string{"sync.runtime_SemacquireMutex", "internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock"}, at...)
}

func TestLock(t *testing.T) {
	waited := func() *Builder { return idle().Wait(breakdown.StateLock, 30*ms, 1, mutex(get)...) }
	found := Expect(t, wait.Lock, waited().Held(8*s, "sync.(*Mutex).Unlock", set), "lock-contention at cache.go:60")
	if len(found) == 1 && (!strings.Contains(found[0].Remedy, "(*Cache).Set") ||
		!strings.HasSuffix(found[0].Title, "at cache.go:41; cache.(*Cache).Set holds it most")) {
		t.Errorf("the holder is not named: %s %s", found[0].Title, found[0].Remedy)
	}
	// Several hold it, none for most of the delay: it stands where requests wait.
	Expect(t, wait.Lock, waited().Held(3*s, "sync.(*Mutex).Unlock", set).Held(2*s, "sync.(*Mutex).Unlock", get).
		Held(3*s, "sync.(*Mutex).Unlock", "shop/cache.(*Cache).Drop@cache.go:80"), "lock-contention at cache.go:41")
	// Both methods wait for the same lock.
	Expect(t, wait.Lock, idle().Wait(breakdown.StateLock, 1200*us, 1, mutex(get)...).
		Wait(breakdown.StateLock, 1100*us, 1, mutex(set)...), "lock-contention at cache.go:41")
	Expect(t, wait.Lock, idle().Wait(breakdown.StateLock, 1200*us, 1, mutex(get)...).
		Wait(breakdown.StateLock, 1100*us, 1, mutex("shop/a.F@a.go:1")...))
	Expect(t, wait.Lock, busy().Wait(breakdown.StateLock, 30*ms, 1, mutex(get)...), "lock-contention") // serial even so
	Expect(t, wait.Lock, busy().Wait(breakdown.StateLock, 4*ms, 1, mutex(get)...))
	tiny := New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, 50*us,
		1).Wait(breakdown.StateLock, 60*us, 1, mutex(get)...)
	Expect(t, wait.Lock, tiny)
	Expect(t, wait.Lock, idle().Wait(breakdown.StateLock, 30*ms, 1, "sync.(*RWMutex).RLock", get), "rwlock-writer at cache.go:41")
	Expect(t, wait.Lock, idle().Wait(breakdown.StateLock, 30*ms, 1, "sync.(*RWMutex).Lock", get), "lock-contention at cache.go:41")
	ExpectUnjudged(t, wait.Lock, New(64, 40*ms), "lock-contention", "rwlock-writer")
}

// TestLockThroughHelpers: one function takes the lock, another releases it, and the one that calls both holds it. A function that
// does both itself holds it itself.
func TestLockThroughHelpers(t *testing.T) {
	const take, release, check = "shop/cache.(*Cache).lock@cache.go:10", "shop/cache.(*Cache).unlock@cache.go:20",
		"shop/cache.(*Cache).check@cache.go:30"
	waited := func() *Builder { return idle().Wait(breakdown.StateLock, 30*ms, 1, mutex(take, check)...) }
	found := Expect(t, wait.Lock, waited().Held(8*s, "sync.(*Mutex).Unlock", release, check), "lock-contention at cache.go:30")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "between Lock and Unlock in cache.(*Cache).check") {
		t.Error(found[0].Remedy)
	}
	const locker, unlocker = "shop/cache.(*locker).Lock@cache.go:50", "shop/cache.(*locker).Unlock@cache.go:55"
	Expect(t, wait.Lock, idle().Wait(breakdown.StateLock, 30*ms, 1, mutex(take, locker, check)...).
		Held(8*s, "sync.(*Mutex).Unlock", release, unlocker, check), "lock-contention at cache.go:30") // helpers of helpers
	// A middleware calls a handler that takes the lock, and another that releases it.
	const reads, writes = "shop/api.reads.func2@routes.go:64", "shop/api.writes.func10@routes.go:76"
	const next, guard = "net/http.HandlerFunc.ServeHTTP", "shop/api.auth.func1@auth.go:101"
	taken := mutex("shop/store.(*Store).Lock@store.go:92", reads, next, guard)
	Expect(t, wait.Lock, idle().Wait(breakdown.StateLock, 30*ms, 1, taken...).Held(8*s, "sync.(*Mutex).Unlock",
		"shop/store.(*Store).Unlock@store.go:107", writes, next, guard), "lock-contention at routes.go:64")
	Expect(t, wait.Lock, waited().Held(8*s, "sync.(*Mutex).Unlock", release, set), "lock-contention at cache.go:20") // another calls it
	Expect(t, wait.Lock, waited().Held(8*s, "sync.(*Mutex).Unlock", release, check).Held(s, "sync.(*Mutex).Unlock", take, check),
		"lock-contention at cache.go:20") // it releases it too
	Expect(t, wait.Lock, waited().Wait(breakdown.StateLock, ms, 1, mutex(release, check)...).Held(8*s, "sync.(*Mutex).Unlock", release,
		check), "lock-contention at cache.go:20") // the other takes it too
}

// TestLockOfALogger: whoever waits for a logger's lock waits for lines to be written, unless the holder meanwhile calls
// another service, in a hook of the logger's.
func TestLockOfALogger(t *testing.T) {
	const logrus = "github.com/sirupsen/logrus."
	locked := func(holder breakdown.State, frames ...string) *Builder {
		return idle().Wait(breakdown.StateLock, 30*ms, 1, mutex(logrus+"(*MutexWrap).Lock", logrus+"(*Entry).fireHooks", get)...).
			Behind(chain(breakdown.Link{Request: true, State: holder, Stack: Stack(append(frames, logrus+"(*Entry).fireHooks", get)...)}))
	}
	calls := locked(breakdown.StateSelect, "runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do",
		"shop/logs.(*hook).Fire@hook.go:25")
	found := Expect(t, wait.Lock, calls, "lock-contention at cache.go:41")
	if len(found) == 1 && (!strings.HasSuffix(found[0].Title, "whose holder waits for an HTTP call at hook.go:25") ||
		!strings.HasPrefix(found[0].Remedy, "logrus.(*Entry).fireHooks takes the lock: move the holder's wait to a goroutine of its own")) {
		t.Errorf("%s: %s", found[0].Title, found[0].Remedy)
	}
	Expect(t, wait.Lock, locked(breakdown.StateSyscall, "syscall.write", "os.(*File).Write", logrus+"(*Entry).write"))
}

// TestLockAroundACall: without the lock each request still waits for the call that is made with it, so that no more than the queue
// can be gained, though the holder also runs.
func TestLockAroundACall(t *testing.T) {
	b := New(8, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(breakdown.StateRunning, 10*ms, 3).Wait(breakdown.StateLock, 30*ms, 1, mutex(get)...)
	call := chain(breakdown.Link{Request: true, State: breakdown.StateSelect, Stack: Stack("runtime.selectgo",
		"net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", "shop/models.fetch@models.go:25", get)})
	runs := chain(breakdown.Link{Request: true, State: breakdown.StateRunning, Stack: Stack("shop/models.decode@models.go:40", get)})
	call.NS, runs.NS = int64(18*ms), int64(12*ms)
	call.Share, runs.Share = 0.6, 0.4
	found := Expect(t, wait.Lock, b.Behind(call, runs).Sample(2*time.Second, "shop/models.decode@models.go:40", get), "lock-contention")
	if len(found) == 1 && found[0].GainCeiling > 1.05/(1-found[0].Share) {
		t.Errorf("worth %.2fx, while the queue is %.2f of request time: %s", found[0].GainCeiling, found[0].Share, found[0].Title)
	}
}

func TestChannel(t *testing.T) {
	send := func() *Builder { return idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chansend1", get) }
	consumer := []string{"runtime.chanrecv2", "shop/cache.(*writer).loop@cache.go:90"}
	Expect(t, wait.Channel, send().Waker(consumer...), "channel-bottleneck at cache.go:41")
	Expect(t, wait.Channel, send().WakerRequest("runtime.chanrecv1", get), "concurrency-limit at cache.go:41")
	// Middleware runs the handler on a goroutine of its own, and neither its start nor its end is in
	// the traces: a dump or the CPU profile shows it, or the trace followed it.
	const handler = "github.com/limits/rest.Timeout.func1.1.1"
	timeout := func() *Builder {
		return idle().Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", "github.com/limits/rest.Timeout.func1.1")
	}
	Expect(t, wait.Channel, timeout(), "channel-bottleneck")
	Expect(t, wait.Channel, timeout().Background(9*s, get, handler))
	Expect(t, wait.Channel, timeout().Left(8, 8, "runtime.gopark", get, handler))
	Expect(t, wait.Channel, timeout().Behind(breakdown.Chain{Links: []breakdown.Link{{Goroutine: handler, State: breakdown.StateRunning}}}))
	Expect(t, wait.Channel, send().Blocked(9*time.Second, consumer...), "channel-bottleneck") // who ends it was not seen
	Expect(t, wait.Channel, send().Blocked(9*time.Second, "runtime.selectgo", "net/http.(*persistConn).readLoop"), "concurrency-limit")
	receive := func() *Builder { return idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get) }
	Expect(t, wait.Channel, receive().Waker("runtime.chansend1", "shop/cache.(*worker).run@cache.go:99"),
		"channel-bottleneck at cache.go:41")
	Expect(t, wait.Channel, receive().Waker("runtime.chansend1", "shop/cache.(*Cache).Get.func1@cache.go:44")) // its own goroutine
	Expect(t, wait.Channel, receive().Spawned(4))
	Expect(t, wait.Channel, receive().Waker(breakdown.WakerTimer))                 // a timer is another cause
	leased := idle().Wait(breakdown.StateSync, 30*ms, 1, "sync.(*Cond).Wait", get) // a pool of mutex and condition
	Expect(t, wait.Channel, leased.WakerRequest("sync.(*Cond).Signal", set), "concurrency-limit at cache.go:41")
	semaphore := []string{"runtime.selectgo", "golang.org/x/sync/semaphore.(*Weighted).Acquire", get}
	Expect(t, wait.Channel, idle().Wait(breakdown.StateSelect, 30*ms, 1, semaphore...), "concurrency-limit at cache.go:41")
	Expect(t, wait.Channel, busy().Wait(breakdown.StateSelect, 8*ms, 1, semaphore...)) // admission control
}

// One goroutine works for all requests, and answers each by closing its channel.
func TestServedByOneGoroutine(t *testing.T) {
	const loop, check = "shop/store.(*Store).loop@store.go:90", "shop/store.(*Store).check@store.go:120"
	receive := func() *Builder {
		return idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).Waker(loop)
	}
	working := breakdown.Chain{Links: []breakdown.Link{{Goroutine: "shop/store.(*Store).loop", State: breakdown.StateRunning}}}
	idling := breakdown.Chain{Links: []breakdown.Link{{Goroutine: "shop/store.(*Store).loop",
		State: breakdown.StateSleep, Stack: Stack("time.Sleep", loop)}}}
	found := Expect(t, wait.Channel, receive().Behind(working).Background(6*time.Second, "slices.Sort", check,
		loop).Sample(time.Second, get), "channel-bottleneck at cache.go:41")
	if len(found) == 1 && (!strings.Contains(found[0].Title, "(*Store).loop") ||
		!strings.Contains(found[0].Where.Detail, "(*Store).check")) {
		t.Errorf("the function that works for all is not named: %q, %+v", found[0].Title, found[0].Where)
	}
	// A goroutine that has nothing to do until it closes announces an event.
	Expect(t, wait.Channel, receive().Behind(idling))
}

// A pause of 4 ms in an open loop that keeps its schedule makes no request wait; in a
// closed loop it bounds the rate.
func TestSleepThatNobodyWaitsFor(t *testing.T) {
	short := func() *Builder {
		return New(64, 3*ms).CPU(2, 0.3, 0.1, 0.1, 0).Wait(breakdown.StateRunning, us, 1).
			Wait(breakdown.StateSleep, 2*ms, 1, "time.Sleep", get)
	}
	Expect(t, wait.Sleep, short(), "sleep at cache.go:41")
	Expect(t, wait.Sleep, short().Rate(400))
	Expect(t, wait.Sleep, short().Rate(400).Late(60*ms, 0.02), "sleep at cache.go:41")
}

func TestSleep(t *testing.T) {
	Expect(t, wait.Sleep, idle().Wait(breakdown.StateSleep, 30*ms, 1, "time.Sleep", get), "sleep at cache.go:41")
	Expect(t, wait.Sleep, idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).
		Waker(breakdown.WakerTimer), "sleep at cache.go:41")
	Expect(t, wait.Sleep, idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).
		Waker("runtime.closechan", "context.(*cancelCtx).cancel", "context.(*timerCtx).cancel",
			"context.WithDeadlineCause.func2"), "sleep at cache.go:41")
	Expect(t, wait.Sleep, idle().Wait(breakdown.StateSleep, ms, 1, "time.Sleep", get))
	// Others keep the host busy; the load itself would have room.
	Expect(t, wait.Sleep, idle().CPU(2, 1.99, 0.2, 0.05, 0.05).Wait(breakdown.StateSleep, 30*ms, 1, "time.Sleep", get), "sleep")
	tail := New(64, 3*ms).Rate(500).CPU(2, 0.4, 0.2, 0.06, 0.1).Wait(breakdown.StateRunning, ms, 3)
	found := Expect(t, wait.Sleep, tail.Slow(breakdown.StateSleep, 20*ms, "time.Sleep", get), "sleep at cache.go:41")
	if len(found) == 1 && found[0].ShareOf != "tail latency" {
		t.Errorf("a tail is told as %s", found[0].ShareOf)
	}
	Expect(t, wait.Sleep, New(64, 3*ms).Rate(500).Wait(breakdown.StateRunning, ms, 3).Slow(breakdown.StateSleep, 2*ms, "time.Sleep", get))
}

// TestTimerOfALibrary: a client may let requests wait until a batch is due, and a library pause between attempts. Neither is a
// slow answer, and neither is code of the service's.
func TestTimerOfALibrary(t *testing.T) {
	const kafka = "github.com/segmentio/kafka-go."
	const spawn, due = kafka + "(*Writer).spawn.func1", kafka + "(*partitionWriter).awaitBatch"
	written := func(state breakdown.State, frames ...string) *Builder {
		return idle().Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", kafka+"(*Writer).WriteMessages", get).
			Waker(kafka+"(*writeBatch).complete", spawn).Behind(chain(breakdown.Link{Goroutine: spawn, State: breakdown.StateSync},
			breakdown.Link{Goroutine: spawn, State: state, Stack: Stack(append(frames, spawn)...)}))
	}
	batch := func() *Builder { return written(breakdown.StateSelect, "runtime.selectgo", due) }
	lock := "github.com/go-redsync/redsync/v4.(*Mutex).LockContext"
	for _, c := range []struct {
		b             *Builder
		waits, remedy string
	}{
		{batch(), "for a timer of kafka-go.(*partitionWriter).awaitBatch", "Shorten the delay of kafka-go."},
		{idle().Wait(breakdown.StateSleep, 30*ms, 1, "time.Sleep", lock, get), "between attempts of redsync.(*Mutex).LockContext",
			"Hold the lock that redsync.(*Mutex).LockContext tries"},
	} {
		found := Expect(t, wait.Sleep, c.b, "sleep at cache.go:41")
		if len(found) == 1 && (!strings.HasSuffix(found[0].Title, c.waits+" at cache.go:41") ||
			!strings.HasPrefix(found[0].Remedy, c.remedy)) {
			t.Errorf("%s: %s", found[0].Title, found[0].Remedy)
		}
	}
	opens := []string{"time.Sleep", "go.etcd.io/bbolt.flock", "go.etcd.io/bbolt.Open", get}
	found := Expect(t, wait.Sleep, idle().Wait(breakdown.StateSleep, 30*ms, 1, opens...), "sleep at cache.go:41")
	if len(found) == 1 && !strings.HasPrefix(found[0].Remedy, "Open the file once and keep it open") {
		t.Error(found[0].Remedy)
	}
	Expect(t, downstream.Slow, batch())
	answer := written(breakdown.StateNetwork, "net.(*conn).Read", kafka+"(*conn).run")
	Expect(t, wait.Sleep, answer)
	Expect(t, downstream.Slow, answer, "downstream-slow at cache.go:41")
}

func TestFlight(t *testing.T) {
	Expect(t, wait.Flight, idle().Wait(breakdown.StateSync, 30*ms, 1, "sync.(*WaitGroup).Wait",
		"golang.org/x/sync/singleflight.(*Group).Do", get), "singleflight-convoy at cache.go:41")
	Expect(t, wait.Flight, idle().Wait(breakdown.StateSync, 30*ms, 1, "sync.(*WaitGroup).Wait", get))
}

func TestSched(t *testing.T) {
	queued := func(b *Builder) *Builder { return b.Wait(breakdown.StateRunnable, 30*ms, 9) }
	Expect(t, wait.Sched, queued(idle()), "sched-latency")
	Expect(t, wait.Sched, queued(busy())) // the CPUs are used by the requests themselves
	hog := []string{"shop/stats.(*Ticker).aggregate@stats.go:55", "shop/stats.(*Ticker).run@stats.go:20"}
	Expect(t, wait.Sched, queued(busy()).Busy(6*time.Second).Background(6*time.Second, hog...)) // reported as background-work
	// gqlgen runs each field in a goroutine that its requests start, and calls what is passed to it.
	field := []string{"shop/graph.(*media).HighRes@media.go:152", "github.com/99designs/gqlgen/graphql.(*FieldSet).Dispatch.func1"}
	fields := func() *Builder { return queued(busy()).Busy(6*time.Second).Background(6*time.Second, field...) }
	Expect(t, wait.Sched, fields().Helper(field[1], 200, "github.com/99designs/gqlgen/graphql.(*FieldSet).Dispatch"))
	Expect(t, wait.Sched, idle().Wait(breakdown.StateRunnable, 200*us, 9))
	// Other programs have half of the CPUs, and the service less.
	Expect(t, wait.Sched, queued(New(8, 40*ms).CPU(2, 1.4, 0.3, 0.05, 0)))
	Expect(t, wait.Sched, queued(New(8, 40*ms).CPU(2, 1, 0.3, 0.1, 0)), "sched-latency")
}

func TestSyscall(t *testing.T) {
	Expect(t, wait.Syscall, idle().Wait(breakdown.StateSyscall, 30*ms, 1, "syscall.Pread", "os.(*File).Read", get),
		"blocking-syscall at cache.go:41")
	Expect(t, wait.Syscall, idle().Wait(breakdown.StateSyscall, 30*ms, 1, "syscall.write", "net.(*conn).Write",
		"net/http.checkConnErrorWriter.Write"))
	locked := Expect(t, wait.Syscall, idle().Wait(breakdown.StateSyscall, 30*ms, 1, "syscall.Flock", get),
		"blocking-syscall at cache.go:41")
	if len(locked) == 1 && (!strings.Contains(locked[0].Title, "for a file lock") || strings.Contains(locked[0].Remedy, "Cache")) {
		t.Errorf("%s: %s", locked[0].Title, locked[0].Remedy)
	}
	// a logger's
	Expect(t, wait.Syscall, idle().Wait(breakdown.StateSyscall, 30*ms, 1, "syscall.write", "os.(*File).Write", "log/slog.Info", get))
}

func TestSpawn(t *testing.T) {
	start := []string{"runtime.malg", "runtime.newproc1", "runtime.newproc", "shop/orders.fan@orders.go:90"}
	Expect(t, wait.Spawn, busy().Busy(9*time.Second).Sample(3*time.Second, start...).Spawned(40), "goroutine-churn at orders.go:90")
	// Stacks grow where goroutines go deep; the place to change is where they start.
	deep := busy().Busy(9*time.Second).Spawned(40).
		Sample(3*time.Second, "runtime.copystack", "runtime.newstack", "shop/orders.price@orders.go:7")
	Expect(t, wait.Spawn, deep, "goroutine-churn at orders.go:7")
	Expect(t, wait.Spawn, deep.Helper("shop/orders.fan.func1", 40, start[3]), "goroutine-churn at orders.go:90")
	// Those of a client are as many as its queries, which have causes of their own.
	rows := busy().Busy(9*time.Second).Sample(3*time.Second, start...).Spawned(40).Helper("database/sql.(*Rows).awaitDone", 40, start[3])
	Expect(t, wait.Spawn, rows)
	// A goroutine that works for the request starts them.
	below := busy().Busy(9*time.Second).Sample(3*time.Second, start...).Spawned(1)
	Expect(t, wait.Spawn, below)
	Expect(t, wait.Spawn, below.Helper("shop/orders.fan.func1", 40_000, start[3]), "goroutine-churn at orders.go:90")
	Expect(t, wait.Spawn, busy().Busy(9*time.Second).Spawned(40))
	Expect(t, wait.Spawn, busy().Busy(9*time.Second).Sample(3*time.Second, start...).Spawned(2))
}

// What goroutines of some nanoseconds do themselves is dearer for their start: the gain is then a floor.
func TestSpawnOfShortGoroutinesIsWorthAtLeast(t *testing.T) {
	at := "shop/orders.fan@orders.go:90"
	for spawned, floor := range map[float64]bool{1000: true, 10: false} {
		b := busy().Busy(9*time.Second).Sample(3*time.Second, "runtime.malg", "runtime.newproc1", "runtime.newproc", at).
			Spawned(spawned).Helper("shop/orders.fan.func1", int(spawned), at).
			Background(3*time.Second, "shop/orders.price@orders.go:7", "shop/orders.fan.func1")
		if found := Expect(t, wait.Spawn, b, "goroutine-churn at orders.go:90"); len(found) == 1 && found[0].GainAtLeast != floor {
			t.Errorf("%v goroutines with 3 s of work: a floor is %v", spawned, found[0].GainAtLeast)
		}
	}
}

// A goroutine costs more than its start: the scheduler's work is proportional to the dispatches, and the
// objects that the starting line allocates are collected.
func TestSpawnIsWorthWhatItsGoroutinesCost(t *testing.T) {
	at := "shop/orders.fan@orders.go:90"
	many := func() *Builder {
		return busy().Busy(4*time.Second).Sample(3*time.Second, "runtime.malg", "runtime.newproc1", "runtime.newproc", at).Spawned(1000)
	}
	gain := func(b *Builder) float64 {
		t.Helper()
		found := Expect(t, wait.Spawn, b, "goroutine-churn at orders.go:90")
		if len(found) != 1 {
			t.Fatalf("%d findings", len(found))
		}
		return found[0].GainCeiling
	}
	searching := func(b *Builder) *Builder {
		return b.Background(2*time.Second, "runtime.findRunnable", "runtime.schedule", "runtime.mcall")
	}
	collecting := func() *Builder { return many().Background(2*time.Second, "runtime.gcDrain", "runtime.gcBgMarkWorker") }
	own, others := gain(searching(many())), gain(searching(many()).Wait(breakdown.StateRunnable, ms, 100_000))
	if !(own > 1.1*others) {
		t.Errorf("worth %.2fx where the scheduler works for them, %.2fx where it works for others", own, others)
	}
	closures, none := gain(collecting().Alloc(1e6, 64<<30, "runtime.newobject", at)), gain(collecting())
	if !(closures > 1.1*none) {
		t.Errorf("worth %.2fx with closures that are collected, %.2fx without", closures, none)
	}
}

func chain(links ...breakdown.Link) breakdown.Chain { return breakdown.Chain{Links: links} }

// TestOwnWorkInALibrarysPool: a pool that a library makes for the request runs the request's closures, although its
// goroutines begin in the library, and no trace shows the end of the wait.
func TestOwnWorkInALibrarysPool(t *testing.T) {
	const pond = "github.com/alitto/pond/v2.(*pool)"
	joined := func(works string) *Builder {
		return idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", pond+".StopAndWait", get).
			Background(5*time.Second, "shop/store.(*Store).Items@store.go:9", works, pond+".worker")
	}
	Expect(t, wait.Channel, joined("shop/cache.(*Cache).Get.func1@cache.go:35"))
	Expect(t, wait.Channel, joined("shop/sweep.(*Sweep).run.func1@sweep.go:35"), "channel-bottleneck at cache.go:41")
}

// Workers with room to spare are reported as what they do, a queue before them is
// not, and a ticker is a timer.
func TestWorkers(t *testing.T) {
	loop := "shop/cache.(*worker).run@cache.go:99"
	tick := breakdown.Link{Goroutine: "shop/cache.(*worker).run", State: breakdown.StateChannel, Stack: Stack("runtime.chanrecv2", loop)}
	asked := func(b *Builder) *Builder {
		return b.Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).Waker("runtime.chansend1", loop)
	}
	runs := breakdown.Link{Goroutine: "shop/cache.(*worker).run", State: breakdown.StateRunning}
	Expect(t, wait.Channel, asked(idle()).Behind(chain(runs)), "channel-bottleneck at cache.go:41")
	Expect(t, wait.Channel, asked(idle().Rate(20)).Behind(chain(runs))) // less than one waits at a time
	Expect(t, wait.Sleep, asked(idle()).Behind(chain(tick)), "sleep at cache.go:99")
	Expect(t, wait.Channel, asked(idle()).Behind(chain(tick)))
	// One pause for each of the 3,200 requests in the traces is the worker's pace. Ten look for what the request really waits for.
	for pauses, want := range map[int][]string{3200: {"sleep at cache.go:99"}, 32000: nil} {
		const entry = "shop/cache.(*worker).run"
		Expect(t, wait.Sleep, asked(idle()).Behind(chain(tick)).Path(nil, breakdown.Serial{Goroutine: entry, Goroutines: 1}).
			Woken(entry, pauses, 0), want...)
	}
}

// A request waits in three ways for a process that it starts: to start, to write and to
// end. The process's own CPU is the kernel's count, and one that nothing waits for is no cause.
func TestChild(t *testing.T) {
	run := []string{"os/exec.(*Cmd).Run", "shop/label.print@label.go:30"}
	started := func() *Builder {
		return idle().Wait(breakdown.StateSyscall, 8*ms, 1,
			append([]string{"syscall.forkExec", "os.StartProcess", "os/exec.(*Cmd).Start"}, run...)...).
			Wait(breakdown.StateChannel, 12*ms, 1, append([]string{"runtime.chanrecv1", "os/exec.(*Cmd).Wait"}, run...)...)
	}
	Expect(t, wait.Child, started().Children(0.5), "exec-per-request at label.go:30")
	Expect(t, wait.Channel, started())
	Expect(t, wait.Syscall, started())
	Expect(t, wait.Child, idle())
	Expect(t, wait.Child, idle().Children(0.5)) // nothing waits for them, and CPUs are idle
	// If CPUs are used up, their users decide, and removing the processes frees the CPU that they cost.
	full := func() *Builder {
		return New(16, 8*ms).CPU(2, 1.9, 0.4, 0.1, -1).Children(1.4).Busy(2*s).Wait(breakdown.StateRunnable, 7*ms, 9)
	}
	Expect(t, wait.Child, full(), "exec-per-request") // where they are started is unknown
	// A server that the service has started once is not started by requests.
	Expect(t, wait.Child, New(16, 8*ms).CPU(2, 1.9, 1.8, 0.1, -1).Itself(0.4).Busy(2*s).Wait(breakdown.StateRunnable, 7*ms, 9))
	found := Expect(t, wait.Child, full().Wait(breakdown.StateSyscall, ms, 1,
		append([]string{"syscall.forkExec"}, run...)...), "exec-per-request at label.go:30")
	if len(found) == 1 && (found[0].ShareOf != diagnose.OfCPU || found[0].GainCeiling < 1.9/0.5-0.01) {
		t.Errorf("%.2f of %s, worth %.2f", found[0].Share, found[0].ShareOf, found[0].GainCeiling)
	}
}

// TestChildOfALibrary: a library starts processes in goroutines of its own; the place is where the request waits for them,
// which takes more than a process that it starts itself elsewhere.
func TestChildOfALibrary(t *testing.T) {
	const entry, view = "github.com/kept/git.(*Tree).CommitsInfo.func1", "shop/repo.view@view.go:50"
	ends := []string{"internal/poll.(*FD).Read", "os/exec.(*Cmd).Wait", "os/exec.(*Cmd).Run", "github.com/kept/git.run", entry}
	b := idle().Wait(breakdown.StateChannel, 20*ms, 1, "runtime.chanrecv1", "github.com/kept/git.(*Tree).CommitsInfo", view).
		Waker("runtime.chansend1", entry).Spawned(1).Behind(breakdown.Chain{NS: int64(20 * ms), Links: []breakdown.Link{{Goroutine: entry,
		State: breakdown.StateNetwork, Times: 1, Stack: Stack(ends...)}}})
	b.Wait(breakdown.StateNetwork, 3*ms, 1, append(ends[:3:3], "shop/repo.ref@ref.go:7")...)
	Expect(t, wait.Child, b.Children(0.5), "exec-per-request at view.go:50")
}

// A long poll ends by its timer or by an event, and nothing is wrong with it.
func TestLongPoll(t *testing.T) {
	poll := func() *Builder {
		return idle().Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", get).Waker(breakdown.WakerTimer)
	}
	event := chain(breakdown.Link{Goroutine: "shop/cache.feed", State: breakdown.StateChannel,
		Stack: Stack("runtime.chanrecv2", "shop/cache.feed@cache.go:120")})
	event.NS = int64(15 * ms)
	Expect(t, wait.Sleep, poll(), "sleep at cache.go:41")
	Expect(t, wait.Sleep, poll().Behind(event))
}

// TestLibrarySleepsBetweenLooks: a worker of a library's closes the channel that a request waits at, as it would for an event,
// but the library slept while the task was there. A goroutine of the service's that sleeps may bring the event itself.
func TestLibrarySleepsBetweenLooks(t *testing.T) {
	const asynq = "github.com/hibiken/asynq.(*processor)."
	waits := func(sleeps ...string) *Builder {
		pace := chain(breakdown.Link{Goroutine: sleeps[len(sleeps)-1], State: breakdown.StateSleep,
			Stack: Stack(append([]string{"time.Sleep"}, sleeps...)...)})
		return idle().Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", get).
			Waker("runtime.closechan", "shop/tasks.done@tasks.go:18", asynq+"perform", asynq+"exec.func1.3").Behind(pace)
	}
	found := Expect(t, wait.Sleep, waits(asynq+"exec", asynq+"start.func1"), "sleep")
	if len(found) == 1 && !strings.Contains(found[0].Title, "for a timer of asynq.(*processor).exec") {
		t.Error(found[0].Title)
	}
	Expect(t, wait.Sleep, waits("shop/tasks.feed@feed.go:12"))
}

// TestLimiterBehindAGoroutine: the request waits at a channel for a goroutine that a rate limiter delays. What is delayed could be
// done at once, so the limiter is no event that the request is meant to wait for.
func TestLimiterBehindAGoroutine(t *testing.T) {
	const entry = "github.com/prometheus/client_golang/prometheus.(*Registry).Gather.func1"
	waits := func(frames ...string) *Builder {
		limited := chain(breakdown.Link{Goroutine: entry, State: breakdown.StateSelect, Stack: Stack(append(append([]string{
			"runtime.selectgo"}, frames...), "shop/certs.(*Exporter).secrets@certs.go:126", entry)...)})
		limited.NS = int64(24 * ms) // the rest was before the trace
		return idle().Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", get).
			Waker("runtime.chansend1", "shop/certs.(*Exporter).collect@certs.go:30", entry).Behind(limited)
	}
	const limiter = "golang.org/x/time/rate.(*Limiter)."
	Expect(t, wait.Sleep, waits(limiter+"wait", limiter+"Wait"), "sleep at certs.go:126")
	Expect(t, wait.Sleep, waits()) // an event
}

// A long poll: a goroutine with a ticker announces to all that something is new. What waits for a channel of its own waits for a
// flush, which could come earlier.
func TestAnnouncedByATimer(t *testing.T) {
	const entry = "shop/news.(*Board).run"
	waits := func(waker ...string) *Builder {
		tick := chain(breakdown.Link{Goroutine: entry, State: breakdown.StateChannel,
			Stack: Stack("runtime.chanrecv2", entry+"@news.go:39")})
		tick.NS = int64(30 * ms)
		return idle().Wait(breakdown.StateSync, 30*ms, 1, "sync.(*Cond).Wait", get).Waker(append(waker, entry)...).Behind(tick)
	}
	Expect(t, wait.Sleep, waits("sync.(*Cond).Broadcast", "shop/news.(*Board).Publish@news.go:20"))
	Expect(t, wait.Sleep, waits("runtime.closechan", "shop/news.(*Board).flush@news.go:25"), "sleep at news.go:39")
}

// TestGathered: a goroutine takes what requests hand it until its timer fires, and works on all of it. The request waits for the timer,
// however the goroutine says that it is done; that more requests come meanwhile does not shorten or lengthen the wait.
func TestGathered(t *testing.T) {
	const entry, at = "shop/batch.(*Gatherer).run", "shop/batch.(*Gatherer).run@batch.go:40"
	const answers, announces = "shop/batch.(*Gatherer).run@batch.go:50", "sync.(*Cond).Broadcast"
	gathers := breakdown.Link{Goroutine: entry, State: breakdown.StateSelect, Stack: Stack("runtime.selectgo", at)}
	of := func(ns time.Duration, links ...breakdown.Link) breakdown.Chain {
		return breakdown.Chain{NS: int64(ns), Links: links}
	}
	more := of(20*ms, gathers, breakdown.Link{Goroutine: "net/http.(*conn).serve", Request: true, State: breakdown.StateNetwork,
		Stack: Stack("internal/poll.runtime_pollWait", "net.(*conn).Read", "net/http.(*connReader).Read", "bufio.(*Reader).Peek",
			"net/http.(*conn).serve")})
	works := func(ns time.Duration) breakdown.Chain {
		return of(ns, breakdown.Link{Goroutine: entry, State: breakdown.StateRunning})
	}
	takes := func() *Builder {
		return idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).Waker("runtime.chansend1", answers).
			Behind(more, of(4*ms, gathers), works(6*ms))
	}
	if found := Expect(t, wait.Sleep, takes().Timed(1), "sleep at batch.go:40"); len(found) == 1 && (found[0].Share < 0.6 ||
		!strings.HasSuffix(found[0].Title, "by waiting at cache.go:41 for the goroutine that waits there")) {
		t.Errorf("share %.2f: %s", found[0].Share, found[0].Title)
	}
	Expect(t, wait.Channel, takes().Timed(1))
	Expect(t, wait.Sleep, takes()) // another request ended the waits: a hub that passes on what others send
	closes := func(work time.Duration) *Builder {
		return idle().Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", get).Waker(answers).
			Behind(of(30*ms-work, gathers), works(work))
	}
	Expect(t, wait.Sleep, closes(6*ms), "sleep at batch.go:40")
	Expect(t, wait.Sleep, closes(us)) // it announces an event
	Expect(t, wait.Sleep, closes(us).Woken(entry, 100, 90), "sleep at batch.go:40")
	waits := func(work time.Duration) *Builder {
		return idle().Wait(breakdown.StateSync, 30*ms, 1, "sync.(*Cond).Wait", get).Waker(announces, answers).
			Behind(of(30*ms-work, gathers), works(work))
	}
	Expect(t, wait.Sleep, waits(6*ms), "sleep at batch.go:40")
	Expect(t, wait.Sleep, waits(us))
}

// The pause between attempts is a sleep whose remedy is fewer failures, not a higher limit.
func TestPauseBetweenAttempts(t *testing.T) {
	b := idle().Wait(breakdown.StateSelect, 30*ms, 1, "runtime.selectgo", "github.com/avast/retry-go/v4.DoWithData[...]", get).
		Waker("(timer)")
	if found := Expect(t, wait.Sleep, b, "sleep at cache.go:41"); len(found) == 1 &&
		(!strings.Contains(found[0].Title, "between attempts in retry-go.DoWithData") || strings.Contains(found[0].Remedy, "limit")) {
		t.Errorf("%s: %s", found[0].Title, found[0].Remedy)
	}
}

// A flight's leader wakes all waiters and went through the same function as they; a goroutine
// that releases a slot did not.
func TestHomeMadeFlight(t *testing.T) {
	follow := func() *Builder { return idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", get) }
	Expect(t, wait.Flight, follow().WakerRequest("shop/cache.(*Cache).Get@cache.go:55"), "singleflight-convoy at cache.go:41")
	Expect(t, wait.Flight, follow().WakerRequest("shop/cache.(*Cache).release@cache.go:70"))
	Expect(t, wait.Channel, follow().WakerRequest("shop/cache.(*Cache).release@cache.go:70"), "concurrency-limit at cache.go:41")
	Expect(t, wait.Flight, idle().Wait(breakdown.StateSync, 30*ms, 1, "sync.(*WaitGroup).Wait", get).
		WakerRequest("sync.(*WaitGroup).Add", "sync.(*WaitGroup).Done", "shop/cache.fill@cache.go:80"),
		"singleflight-convoy at cache.go:41")
}

// A system call keeps the scheduler's place, so that others wait for it.
func TestSchedBehindCalls(t *testing.T) {
	b := idle().Wait(breakdown.StateRunnable, 30*ms, 9).Wait(breakdown.StateSyscall, 30*ms, 1, "syscall.Fsync", "os.(*File).Sync", get)
	Expect(t, wait.Sched, b)
}

// Goroutines that pile up while requests in flight do not.
func TestLeak(t *testing.T) {
	watch := []string{"runtime.gopark", "shop/cache.(*watcher).watch@cache.go:130"}
	climbs := func(from, by float64) func(int) float64 {
		return func(w int) float64 { return from + by*float64(w) }
	}
	piles := func() *Builder {
		return idle().Left(40, 1040, watch...).Series("/sched/goroutines:goroutines", "",
			climbs(100, 10)).Gauge(series.LoadInFlight, "", 12)
	}
	// Behind a lock on saturated CPUs they are a backlog.
	locked := func(cpu float64) *Builder {
		return New(8, 40*ms).CPU(2, cpu, 0.8*cpu, 0.1, 0).Wait(breakdown.StateRunnable, 30*ms, 9).
			Left(40, 1040, "sync.runtime_SemacquireMutex", "sync.(*Mutex).Lock", "shop/cache.(*watcher).watch@cache.go:130").
			Series("/sched/goroutines:goroutines", "", climbs(100, 10)).Gauge(series.LoadInFlight, "", 12)
	}
	Expect(t, wait.Leak, locked(1.98))
	Expect(t, wait.Leak, locked(0.5), "goroutine-leak at cache.go:130")
	found := Expect(t, wait.Leak, piles(), "goroutine-leak at cache.go:130")
	if len(found) == 1 && (found[0].Share < 0.9 || found[0].ShareOf != "goroutines") {
		t.Errorf("the growth is told as %v of %s", found[0].Share, found[0].ShareOf)
	}
	Expect(t, wait.Leak, idle().Left(3000, 3010, watch...)) // parked rightly
	Expect(t, wait.Leak, piles().Series(series.LoadInFlight, "", climbs(10, 12)))
	// one burst
	Expect(t, wait.Leak, piles().Series("/sched/goroutines:goroutines", "", func(w int) float64 { return 100 + float64(w/60)*1000 }))
	ExpectUnjudged(t, wait.Leak, idle(), "goroutine-leak")
}

// TestLeakOfALibrary: nothing of the user's is on the stacks of a library's goroutines. The traces saw requests start them at a
// line, which is the place; a user's goroutine keeps its own, where it waits.
func TestLeakOfALibrary(t *testing.T) {
	const scanner, writer = "lib.test/log.(*Entry).scan", "lib.test/log.(*Entry).Writer"
	piles := func(watch ...string) *Builder {
		more := func(w int) float64 { return 100 + 10*float64(w) }
		return idle().Left(40, 1040, watch...).Series("/sched/goroutines:goroutines", "", more).
			Gauge(series.LoadInFlight, "", 12).LeftBehind("lib.test/log.(*Hook).run", 900, "lib.test/log.New", "shop/web.other@web.go:9").
			LeftBehind(scanner, 300, writer, "shop/web.handle@web.go:40")
	}
	found := Expect(t, wait.Leak, piles("io.(*PipeReader).Read", scanner), "goroutine-leak at web.go:40")
	if len(found) == 1 && (found[0].Where.Detail != "in log.(*Entry).scan" || !strings.Contains(found[0].Title, "started at web.go:40")) {
		t.Errorf("%s, %+v", found[0].Title, found[0].Where)
	}
	Expect(t, wait.Leak, piles("runtime.gopark", "shop/cache.(*watcher).watch@cache.go:130"), "goroutine-leak at cache.go:130")
}

// TestLeakOfConnections: nothing of the user's is on the stacks of a client's connections. The hooks counted for whom they were
// opened; those of a copy of net/http's transport are connections too.
func TestLeakOfConnections(t *testing.T) {
	for _, entry := range []string{"net/http.(*persistConn).readLoop", "github.com/imroc/req/v3.(*persistConn).readLoop"} {
		b := idle().Left(40, 1040, "internal/poll.runtime_pollWait", entry).Gauge(series.LoadInFlight, "", 12).
			Series("/sched/goroutines:goroutines", "", func(w int) float64 { return 100 + 10*float64(w) })
		found := Expect(t, wait.Leak, b.Dials("quotes:80", 1000, Caller(1, ms, "net/http.(*Transport).dial",
			"net/http.(*Client).Do", "shop/quotes.fetch@quotes.go:30")), "goroutine-leak at quotes.go:30")
		if len(found) == 1 && !strings.Contains(found[0].Remedy, "once and share it") {
			t.Errorf("%s: %s", entry, found[0].Remedy)
		}
	}
}

// TestLeakOfPools: the goroutines of pools that each request opens and leaves behind follow from opening them.
func TestLeakOfPools(t *testing.T) {
	const entry, open = "database/sql.(*DB).connectionOpener", "shop/orders.open@orders.go:29"
	b := idle().Left(40, 1040, "runtime.gopark", entry).LeftBehind(entry, 300, "database/sql.OpenDB", open).
		Gauge(series.LoadInFlight, "", 12).
		Series("/sched/goroutines:goroutines", "", func(w int) float64 { return 100 + 10*float64(w) }).
		Wait(breakdown.StateNetwork, 60*ms, 1, "net.(*netFD).connect", "github.com/lib/pq.(*Connector).open",
			"database/sql.(*DB).conn", open)
	f := ExpectFirst(t, suite.All(), b, "db-pool-churn").Findings[0]
	if !strings.Contains(f.Title, ", so blocked goroutines pile up") {
		t.Error(f.Title)
	}
}

// TestQueueOfAQuota: requests that are ready while the quota stops them wait for the quota, and the
// queue is worth no more than lifting it.
func TestQueueOfAQuota(t *testing.T) {
	queue := func() *Builder {
		return idle().Wait(breakdown.StateRunnable, 30*ms, 3).CPU(2, 1.45, 0.43, 0.09, 0).Rate(1600)
	}
	free := Expect(t, wait.Sched, queue(), "sched-latency")
	quota := Expect(t, wait.Sched, queue().Gauge(series.CgroupQuota, "", 0.5), "sched-latency")
	if len(free) != 1 || len(quota) != 1 {
		t.Fatal("not found")
	}
	// 0.43 CPUs are used and 0.55 are free.
	if quota[0].GainCeiling > 2.3 || !(free[0].GainCeiling > 2.3) {
		t.Errorf("worth %.2fx, without a quota %.2fx; lifting it gives 2.28x", quota[0].GainCeiling, free[0].GainCeiling)
	}
}

// TestWorkForRequestsIsNoBackground: CPU of the goroutine that middleware runs the handler on is the
// requests' own, so that they queue for a CPU behind each other.
func TestWorkForRequestsIsNoBackground(t *testing.T) {
	const handler = "github.com/limits/rest.Timeout.func1.1.1"
	Expect(t, wait.Sched, busy().Wait(breakdown.StateRunnable, 20*ms, 1).
		Wait(breakdown.StateSelect, 10*ms, 1, "runtime.selectgo", "github.com/limits/rest.Timeout.func1.1").
		Behind(breakdown.Chain{Links: []breakdown.Link{{Goroutine: handler, State: breakdown.StateRunning}}}).
		Background(9*s, get, handler))
}

// TestSleepInKubernetesClient: its limit is a setting of the client, and low by default.
func TestSleepInKubernetesClient(t *testing.T) {
	const limiter = "golang.org/x/time/rate.(*Limiter)."
	b := New(8, 1600*ms).CPU(2, 0.2, 0.05, 0.05, 0).Wait(breakdown.StateRunning, ms, 3).Wait(breakdown.StateSelect, 1500*ms, 1,
		limiter+"wait", limiter+"WaitN", limiter+"Wait", "k8s.io/client-go/util/flowcontrol.(*tokenBucketRateLimiter).Wait",
		"k8s.io/client-go/rest.(*Request).tryThrottle", "k8s.io/client-go/rest.(*Request).Do", get).Timed(1)
	if found := Expect(t, wait.Sleep, b, "sleep at cache.go:41"); len(found) == 1 && !strings.Contains(found[0].Remedy, "QPS and Burst") {
		t.Error(found[0].Remedy)
	}
}
