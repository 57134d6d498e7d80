//go:build amd64 || arm64

package events

import (
	"os"
	"runtime"
	"testing"

	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

// BenchmarkSwitch is what the programs cost a round trip between two threads:
// two switches and more. Compare the three within one run.
func BenchmarkSwitch(b *testing.B) {
	b.Run("bare", roundTrips)
	for name, pid := range map[string]int{"others": 1, "target": os.Getpid()} {
		b.Run(name, func(b *testing.B) {
			o, failed := open(loadRunqueue, []set{{programs: []string{runqueueProgSchedSwitch}}}, btf.NewCache())
			if o == nil {
				b.Skip(failed)
			}
			defer o.close()
			if err := o.setTargets([maxTargets]uint32{uint32(pid)}); err != nil {
				b.Fatal(err)
			}
			roundTrips(b)
		})
	}
}

func roundTrips(b *testing.B) {
	var there, back [2]int
	if err := unix.Pipe2(there[:], unix.O_CLOEXEC); err != nil {
		b.Fatal(err)
	}
	if err := unix.Pipe2(back[:], unix.O_CLOEXEC); err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		buf := make([]byte, 1)
		for {
			if n, err := unix.Read(there[0], buf); n == 0 || err != nil {
				return
			}
			_, _ = unix.Write(back[1], buf)
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	buf := make([]byte, 1)
	for b.Loop() {
		_, _ = unix.Write(there[1], buf)
		_, _ = unix.Read(back[0], buf)
	}
	_ = unix.Close(there[1])
	<-done
	for _, fd := range []int{there[0], back[0], back[1]} {
		_ = unix.Close(fd)
	}
}
