package access

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OwnerOf returns a function that reports whether a process now runs as a user:
// real or effective, because services begin as root and drop their rights. It is
// for Options.Known. A pid of 0 has no owner.
//
// It does not use the owner of the /proc files: they belong to root if the process
// is not dumpable.
func OwnerOf(pid int) func(uid int) bool {
	return func(uid int) bool {
		if pid <= 0 {
			return false
		}
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err != nil {
			return false
		}
		for line := range strings.Lines(string(status)) {
			// https://docs.kernel.org/filesystems/proc.html: real, effective,
			// saved set and file system uid.
			if ids, ok := strings.CutPrefix(line, "Uid:"); ok {
				fields := strings.Fields(ids)
				return len(fields) >= 2 && (fields[0] == strconv.Itoa(uid) || fields[1] == strconv.Itoa(uid))
			}
		}
		return false
	}
}
