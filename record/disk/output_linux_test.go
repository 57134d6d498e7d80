package disk

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOutputIntoAMountedFile writes a file that is mounted by itself, as containers have
// it: no other can take its place.
func TestOutputIntoAMountedFile(t *testing.T) {
	dir := t.TempDir()
	path, outside := filepath.Join(dir, "out"), filepath.Join(dir, "outside")
	for _, file := range []string{path, outside} {
		if err := os.WriteFile(file, []byte("old and longer"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mount(outside, path, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("a file cannot be mounted here: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(path, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	if err := WriteOutput(path, hello); err != nil {
		t.Fatal(err)
	}
	expectFile(t, outside, "hello")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v is left (%v)", left, err)
	}
}
