package run

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestThreadIsEagerOnlyMeanwhile runs a thread that has a niceness of its own ahead of
// others, and restores that niceness.
func TestThreadIsEagerOnlyMeanwhile(t *testing.T) {
	done := make(chan struct{})
	go func() { // its thread ends with it, and so does the niceness
		defer close(done)
		runtime.LockOSThread()
		nice := func() int {
			raw, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid())
			if err != nil {
				t.Error(err)
			}
			return 20 - raw
		}
		if err := unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), nice()+3); err != nil {
			t.Error(err)
		}
		before, within := nice(), 0
		threadCPU(func() { within = nice() })
		if unix.Geteuid() == 0 && within != eager {
			t.Errorf("niceness %d within, want %d", within, eager)
		}
		if after := nice(); after != before {
			t.Errorf("niceness %d afterwards, and %d before", after, before)
		}
	}()
	<-done
}
