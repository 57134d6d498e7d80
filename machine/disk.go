package machine

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// scratch is how the name of the file begins that a process writes to the measured disk.
func scratch(pid int) string { return fmt.Sprintf(".redline-%d-", pid) }

// removeScratch removes the file of a process that was killed.
func removeScratch(disk string, pid int) {
	entries, _ := os.ReadDir(disk)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), scratch(pid)) {
			_ = os.Remove(filepath.Join(disk, e.Name()))
		}
	}
}

// syncing writes 4 KiB at a file's end and waits until the disk has it. The file keeps its name until then: btrfs does not log
// one without (btrfs_log_inode_parent), so that syncing it would cost nothing.
func syncing(_ context.Context, in *input, d time.Duration) (float64, error) {
	f, err := os.CreateTemp(in.Disk, scratch(os.Getpid())+"*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	page := make([]byte, 4096)
	rand.Read(page) // never fails, by its documentation
	return medianOf(d, 2, func() error {
		if _, err := f.Write(page); err != nil {
			return err
		}
		return f.Sync()
	})
}
