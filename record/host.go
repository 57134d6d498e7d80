package record

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// HostInfo returns the fingerprint of this machine. What the platform does not provide
// is left empty or zero: a fingerprint is for comparing runs, and a run does not
// depend on it.
func HostInfo() Host {
	h := Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	var u unix.Utsname
	if err := unix.Uname(&u); err == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	h.CPUModel, h.Memory = hardware()
	return h
}
