//go:build unix

package gctune

import "syscall"

// cpuSeconds returns the CPU that this process has used. The runtime's own classes count how long its Ps were busy,
// which on a crowded machine includes waiting for a CPU.
func cpuSeconds() (seconds float64, ok bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9, true
}
