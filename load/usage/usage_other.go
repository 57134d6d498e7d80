//go:build !linux

package usage

import (
	"time"

	"golang.org/x/sys/unix" // getrusage
)

// Meter reads the process's own CPU time. Only Linux reports the time that threads
// stand in a run queue.
type Meter struct{}

// NewMeter makes a meter.
func NewMeter() *Meter { return &Meter{} }

// Read returns the total of CPU time since the process began.
func (m *Meter) Read() Usage {
	var self unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &self) != nil {
		return Usage{}
	}
	return Usage{CPU: time.Duration(self.Utime.Nano() + self.Stime.Nano())}
}

// Close does nothing: the meter has no files.
func (m *Meter) Close() {}

// ThreadCPU is not available on this system.
func ThreadCPU(int) (used time.Duration, ok bool) { return 0, false }

// Idle stands for the Linux meter of idle CPUs; this system has none.
type Idle struct{}

// CPUs returns false: the figure is not available.
func (*Idle) CPUs() (cpus float64, ok bool) { return 0, false }
