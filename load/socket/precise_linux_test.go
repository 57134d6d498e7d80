package socket

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPrecise: only the calling thread has short slices, and it keeps its niceness.
func TestPrecise(t *testing.T) {
	before, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		was, is *unix.SchedAttr
		err     error
	}
	done := make(chan answer)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends
		var a answer
		if before.Policy != unix.SCHED_NORMAL { // the tests were started by chrt
			_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: before.Size, Policy: unix.SCHED_NORMAL}, 0)
		}
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), 3)
		a.was, _ = unix.SchedGetAttr(0, 0)
		Precise()
		a.is, a.err = unix.SchedGetAttr(0, 0)
		done <- a
	}()
	a := <-done
	if a.err != nil {
		t.Fatal(a.err)
	}
	if a.was.Runtime == 0 {
		t.Log("this kernel has no slices of one's own (before Linux 6.12)")
	} else if a.is.Runtime != uint64(slice) {
		t.Errorf("slices of %d ns", a.is.Runtime)
	}
	if a.is.Nice != 3 || a.is.Policy != a.was.Policy {
		t.Errorf("%+v, was %+v", a.is, a.was)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if after, err := unix.SchedGetAttr(0, 0); err != nil || after.Runtime != before.Runtime {
		t.Errorf("%+v, %v; was %+v", after, err, before)
	}
}
