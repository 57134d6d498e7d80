package ring

import (
	"fmt"
	"os"
)

// sharedMemory is where Linux mounts a memory file system for all.
const sharedMemory = "/dev/shm"

// TempDir makes a directory for a ring, for its owner alone, on a memory file
// system where there is one. pattern is as for os.MkdirTemp.
//
// It matters to the target, not to us: a store into a page that the kernel is
// writing to a disk may wait for the disk, and a goroutine that waits in a page
// fault holds its P and every stop of the world.
//
// Programs may not be executable there, so it is no place for a binary.
func TempDir(pattern string) (string, error) {
	if dir, err := os.MkdirTemp(sharedMemory, pattern); err == nil {
		return dir, nil
	}
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", fmt.Errorf("make directory for the ring: %w", err)
	}
	return dir, nil
}
