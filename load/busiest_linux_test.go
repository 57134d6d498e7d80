package load

import (
	"runtime"
	"testing"
	"time"

	"github.com/redline-go/redline/load/account"
	"github.com/redline-go/redline/load/socket"
	"github.com/redline-go/redline/load/usage"
)

// A loop's thread ends with its load, before the last edge of a run: its CPU time until
// then must not be lost, or a generator that is the limit passes.
func TestLoopIsFullToItsEnd(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := &run{loops: []*loop{{Feed: &account.Feed{}}, {Feed: &account.Feed{}}}}
	for _, l := range r.loops {
		l.Thread.Store(int64(socket.Thread()))
	}
	r.markLoops(0)
	used := func() time.Duration { d, _ := usage.ThreadCPU(socket.Thread()); return d - r.loopsUsed[0] }
	for used() < 10*time.Millisecond {
	}
	if got := r.busiest(10 * time.Millisecond); got < 1 {
		t.Fatalf("a loop that was on CPU all the while was so for %v of the time", got)
	}
	const none = 1 << 23 // above the kernel's largest pid
	r.loops[0].Thread.Store(none)
	if got := r.busiest(time.Hour); got < 1 {
		t.Errorf("one of two threads has ended, and the loops were busy for %v of the time", got)
	}
	r.loops[1].Thread.Store(none)
	if got := r.busiest(time.Hour); got == 0 {
		t.Error("all threads have ended, and nothing is known of them")
	}
}
