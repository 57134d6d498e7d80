package wait_test

import (
	"math"
	"strings"
	"testing"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/passes/wait"
	"github.com/redline-go/redline/record/breakdown"
)

// TestCallsOfC: Go's trace counts them as system calls, but they may compute.
func TestCallsOfC(t *testing.T) {
	const worker = "shop/cache.(*worker).run"
	c := []string{"runtime.cgocall", "shop/cache._Cfunc_scale", get}
	for name, b := range map[string]*Builder{
		"itself": idle().Wait(breakdown.StateSyscall, 30*ms, 1, c...),
		"worker": idle().Wait(breakdown.StateChannel, 30*ms, 1, "runtime.chanrecv1", set).Waker("runtime.chansend1", worker).
			Behind(chain(breakdown.Link{Goroutine: worker, State: breakdown.StateSyscall, Stack: Stack(c...)})),
	} {
		found := Expect(t, wait.Syscall, b, "blocking-syscall at cache.go:41")
		if len(found) == 1 && !strings.HasSuffix(found[0].Title, "of their time in calls of C at cache.go:41") {
			t.Errorf("%s: %s", name, found[0].Title)
		}
	}
}

// TestCallsOfOwnGoroutines: what goroutines do that a request starts and waits for counts once.
func TestCallsOfOwnGoroutines(t *testing.T) {
	const own = "shop/cache.(*Cache).Get.func1@cache.go:44"
	reads := chain(breakdown.Link{Goroutine: "shop/cache.(*Cache).Get.func1", State: breakdown.StateSyscall, Times: 1,
		Stack: Stack("syscall.Pread", "os.(*File).ReadAt", "os.(*File).Read", own)})
	b := idle().Wait(breakdown.StateSync, 8*ms, 1, "sync.runtime_SemacquireWaitGroup", "sync.(*WaitGroup).Wait", get).
		Waker("sync.(*WaitGroup).Done", own).Spawned(2).Behind(reads)
	found := Expect(t, wait.Syscall, b, "blocking-syscall at cache.go:44")
	if len(found) == 1 && math.Abs(found[0].Share-0.5) > 0.01 {
		t.Errorf("%.2f of request time, want a half: %s", found[0].Share, found[0].Title)
	}
}
