package gctune

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/redline-go/redline/kit/gctune/cgroup"
)

// Memory that is not Go's takes from a limit on the process, as C libraries and mapped files do.
func TestLimitCountsOthersMemory(t *testing.T) {
	const size = 64 << 20
	f, err := os.Create(filepath.Join(t.TempDir(), "mapped"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	budget := func() int64 {
		s, _ := newRuntime(cgroup.Group{}, errors.New("none"), Options{MemoryShare: 0.5, Limit: 1 << 40}).read()
		return s.budget
	}
	before := budget()
	mapped, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(mapped) }()
	if less := before - budget(); less < size/2 {
		t.Errorf("the budget is %d bytes less with %d mapped", less, size)
	}
}
