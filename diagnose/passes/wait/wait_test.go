package wait_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record"
)

const (
	ms  = time.Millisecond
	us  = time.Microsecond
	get = "shop/cache.(*Cache).Get@cache.go:41"
	set = "shop/cache.(*Cache).Set@cache.go:60"
)

// idle leaves most CPUs idle; its requests take 8 ms besides what a test adds.
func idle() *Builder {
	return New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(record.StateRunning, 2*ms, 3).Wait(record.StateNetwork, 6*ms, 1, Query()...)
}

// busy saturates the CPUs.
func busy() *Builder { return idle().CPU(2, 1.97, 1.2, 0.3, 0.4) }

func mutex(at string) []string {
	return []string{"sync.runtime_SemacquireMutex", "internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", at}
}

func TestLock(t *testing.T) {
	found := Expect(t, wait.Lock, idle().Wait(record.StateLock, 30*ms, 1, mutex(get)...).Held(8*time.Second, "sync.(*Mutex).Unlock", set), "lock-contention at cache.go:41")
	if len(found) == 1 && !strings.Contains(found[0].Remedy, "(*Cache).Set") {
		t.Errorf("the holder is not named: %s", found[0].Remedy)
	}
	// Both methods wait for the same lock.
	Expect(t, wait.Lock, idle().Wait(record.StateLock, 1200*us, 1, mutex(get)...).Wait(record.StateLock, 1100*us, 1, mutex(set)...), "lock-contention at cache.go:41")
	Expect(t, wait.Lock, idle().Wait(record.StateLock, 1200*us, 1, mutex(get)...).Wait(record.StateLock, 1100*us, 1, mutex("shop/a.F@a.go:1")...))
	Expect(t, wait.Lock, busy().Wait(record.StateLock, 30*ms, 1, mutex(get)...), "lock-contention") // serial even so
	Expect(t, wait.Lock, busy().Wait(record.StateLock, 4*ms, 1, mutex(get)...))
	tiny := New(64, 40*ms).CPU(2, 0.6, 0.3, 0.1, 0.1).Wait(record.StateRunning, 50*us, 1).Wait(record.StateLock, 60*us, 1, mutex(get)...)
	Expect(t, wait.Lock, tiny)
	Expect(t, wait.Lock, idle().Wait(record.StateLock, 30*ms, 1, "sync.(*RWMutex).RLock", get), "rwlock-writer at cache.go:41")
	Expect(t, wait.Lock, idle().Wait(record.StateLock, 30*ms, 1, "sync.(*RWMutex).Lock", get), "lock-contention at cache.go:41")
	ExpectUnjudged(t, wait.Lock, New(64, 40*ms), "lock-contention", "rwlock-writer")
}

func TestChannel(t *testing.T) {
	send := func() *Builder { return idle().Wait(record.StateChannel, 30*ms, 1, "runtime.chansend1", get) }
	consumer := []string{"runtime.chanrecv2", "shop/cache.(*writer).loop@cache.go:90"}
	Expect(t, wait.Channel, send().Waker(consumer...), "channel-bottleneck at cache.go:41")
	Expect(t, wait.Channel, send().WakerRequest("runtime.chanrecv1", get), "concurrency-limit at cache.go:41")
	Expect(t, wait.Channel, send().Blocked(9*time.Second, consumer...), "channel-bottleneck") // who ends it was not seen
	Expect(t, wait.Channel, send().Blocked(9*time.Second, "runtime.selectgo", "net/http.(*persistConn).readLoop"), "concurrency-limit")
	receive := func() *Builder { return idle().Wait(record.StateChannel, 30*ms, 1, "runtime.chanrecv1", get) }
	Expect(t, wait.Channel, receive().Waker("runtime.chansend1", "shop/cache.(*worker).run@cache.go:99"), "channel-bottleneck at cache.go:41")
	Expect(t, wait.Channel, receive().Waker("runtime.chansend1", "shop/cache.(*Cache).Get.func1@cache.go:44")) // its own goroutine
	Expect(t, wait.Channel, receive().Spawned(4))
	Expect(t, wait.Channel, receive().Waker(record.WakerTimer)) // a timer is another cause
	semaphore := []string{"runtime.selectgo", "golang.org/x/sync/semaphore.(*Weighted).Acquire", get}
	Expect(t, wait.Channel, idle().Wait(record.StateSelect, 30*ms, 1, semaphore...), "concurrency-limit at cache.go:41")
	Expect(t, wait.Channel, busy().Wait(record.StateSelect, 8*ms, 1, semaphore...)) // admission control
}

func TestSleep(t *testing.T) {
	Expect(t, wait.Sleep, idle().Wait(record.StateSleep, 30*ms, 1, "time.Sleep", get), "sleep at cache.go:41")
	Expect(t, wait.Sleep, idle().Wait(record.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).Waker(record.WakerTimer), "sleep at cache.go:41")
	Expect(t, wait.Sleep, idle().Wait(record.StateChannel, 30*ms, 1, "runtime.chanrecv1", get).
		Waker("runtime.closechan", "context.(*cancelCtx).cancel", "context.(*timerCtx).cancel", "context.WithDeadlineCause.func2"), "sleep at cache.go:41")
	Expect(t, wait.Sleep, idle().Wait(record.StateSleep, ms, 1, "time.Sleep", get))
	// Others keep the host busy; the load itself would have room.
	Expect(t, wait.Sleep, idle().CPU(2, 1.99, 0.2, 0.05, 0.05).Wait(record.StateSleep, 30*ms, 1, "time.Sleep", get), "sleep")
	tail := New(64, 3*ms).Rate(500).CPU(2, 0.4, 0.2, 0.06, 0.1).Wait(record.StateRunning, ms, 3)
	found := Expect(t, wait.Sleep, tail.Slow(record.StateSleep, 20*ms, "time.Sleep", get), "sleep at cache.go:41")
	if len(found) == 1 && found[0].ShareOf != "tail latency" {
		t.Errorf("a tail is told as %s", found[0].ShareOf)
	}
	Expect(t, wait.Sleep, New(64, 3*ms).Rate(500).Wait(record.StateRunning, ms, 3).Slow(record.StateSleep, 2*ms, "time.Sleep", get))
}

func TestFlight(t *testing.T) {
	Expect(t, wait.Flight, idle().Wait(record.StateSync, 30*ms, 1, "sync.(*WaitGroup).Wait", "golang.org/x/sync/singleflight.(*Group).Do", get), "singleflight-convoy at cache.go:41")
	Expect(t, wait.Flight, idle().Wait(record.StateSync, 30*ms, 1, "sync.(*WaitGroup).Wait", get))
}

func TestDownstream(t *testing.T) {
	call := []string{"runtime.selectgo", "net/http.(*persistConn).roundTrip", "net/http.(*Client).Do", get}
	Expect(t, wait.Downstream, idle().Wait(record.StateSelect, 30*ms, 1, call...), "downstream-slow at cache.go:41")
	Expect(t, wait.Downstream, idle().Wait(record.StateNetwork, 30*ms, 2, "net.(*conn).Read", "shop/legacy.(*Client).ask@legacy.go:5"), "downstream-slow at legacy.go:5")
	Expect(t, wait.Downstream, idle().Wait(record.StateSelect, 30*ms, 100, call...)) // each call is fast
	Expect(t, wait.Downstream, idle().Wait(record.StateNetwork, 30*ms, 1, Query()...))
	Expect(t, wait.Downstream, idle().Wait(record.StateNetwork, 30*ms, 1, "net.(*conn).Read", "net/http.(*connReader).Read", "net/http.(*body).Read", get)) // a slow caller
}

func TestDial(t *testing.T) {
	connect := []string{"runtime.selectgo", "net/http.(*Transport).getConn", "net/http.(*Client).Do", get}
	Expect(t, wait.Dial, idle().Wait(record.StateSelect, 10*ms, 0.9, connect...), "http-client-churn at cache.go:41")
	Expect(t, wait.Dial, idle().Wait(record.StateSelect, 10*ms, 0.01, connect...)) // a few at the start
	Expect(t, wait.Dial, idle().Wait(record.StateSelect, 200*us, 0.9, connect...)) // cheap
}

func TestSched(t *testing.T) {
	queued := func(b *Builder) *Builder { return b.Wait(record.StateRunnable, 30*ms, 9) }
	Expect(t, wait.Sched, queued(idle()), "sched-latency")
	Expect(t, wait.Sched, queued(busy())) // the CPUs are used by the requests themselves
	hog := []string{"shop/stats.(*Ticker).aggregate@stats.go:55", "shop/stats.(*Ticker).run@stats.go:20"}
	Expect(t, wait.Sched, queued(busy()).Busy(6*time.Second).Background(6*time.Second, hog...), "sched-latency at stats.go:55")
	Expect(t, wait.Sched, idle().Wait(record.StateRunnable, 200*us, 9))
}

func TestSyscall(t *testing.T) {
	Expect(t, wait.Syscall, idle().Wait(record.StateSyscall, 30*ms, 1, "syscall.Fsync", "os.(*File).Sync", get), "disk-sync at cache.go:41")
	Expect(t, wait.Syscall, idle().Wait(record.StateSyscall, 30*ms, 1, "syscall.Pread", "os.(*File).Read", get), "blocking-syscall at cache.go:41")
	Expect(t, wait.Syscall, idle().Wait(record.StateSyscall, 30*ms, 1, "syscall.write", "net.(*conn).Write", "net/http.checkConnErrorWriter.Write"))
	Expect(t, wait.Syscall, idle().Wait(record.StateSyscall, 30*ms, 1, "syscall.write", "os.(*File).Write", "log/slog.Info", get)) // a logger's
}

func TestSpawn(t *testing.T) {
	start := []string{"runtime.malg", "runtime.newproc1", "runtime.newproc", "shop/orders.fan@orders.go:90"}
	Expect(t, wait.Spawn, busy().Busy(9*time.Second).Sample(3*time.Second, start...).Spawned(40), "goroutine-churn at orders.go:90")
	Expect(t, wait.Spawn, busy().Busy(9*time.Second).Spawned(40))
	Expect(t, wait.Spawn, busy().Busy(9*time.Second).Sample(3*time.Second, start...).Spawned(2))
}
