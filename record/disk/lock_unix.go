//go:build linux || darwin

package disk

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the lock of a directory (flock(2)), which ends with the process. A file
// system without locks leaves the directory to whoever creates it first.
func lock(dir *os.File) (free bool, err error) {
	for {
		err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	return !errors.Is(err, syscall.EWOULDBLOCK), nil
}
