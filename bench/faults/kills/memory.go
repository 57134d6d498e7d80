package kills

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// sharedMemory returns redline's folders in shared memory.
func sharedMemory() map[string]bool {
	all := map[string]bool{}
	paths, _ := filepath.Glob("/dev/shm/redline-*")
	for _, path := range paths {
		all[path] = true
	}
	return all
}

// newIn returns the folders in shared memory that did not exist before and have
// no owner: another redline may run on this machine meanwhile.
func newIn(before map[string]bool) (left []string) {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		left = nil
		for path := range sharedMemory() {
			if !before[path] && !owned(path) {
				left = append(left, path)
			}
		}
		// Another redline's folder may be between its creation and its first use.
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// owned reports whether a process locks a folder's marker, or maps a file in it.
func owned(path string) bool {
	if f, err := os.Open(filepath.Join(path, "REDLINE-SCRATCH")); err == nil {
		defer f.Close()
		return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
	}
	maps, _ := filepath.Glob("/proc/[0-9]*/maps")
	for _, m := range maps {
		if text, err := os.ReadFile(m); err == nil && bytes.Contains(text, []byte(path+"/")) {
			return true
		}
	}
	return false
}
