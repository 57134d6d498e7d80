//go:build !linux

package load

import (
	"time"

	"golang.org/x/sys/unix" // getrusage
)

// usageMeter reads the process's own CPU time. The time that threads stand in
// only Linux reports time in a run queue.
type usageMeter struct{}

func newUsageMeter() *usageMeter { return &usageMeter{} }

func (m *usageMeter) read() usage {
	var self unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &self) != nil {
		return usage{}
	}
	return usage{cpu: time.Duration(self.Utime.Nano() + self.Stime.Nano())}
}

func (m *usageMeter) close() {}

// threadCPU is not known here.
func threadCPU(int) (used time.Duration, ok bool) { return 0, false }
