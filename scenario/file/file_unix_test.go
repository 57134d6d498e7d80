//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOpenOnlyFiles: a folder and a named pipe are refused; the pipe's writer is not waited for.
func TestOpenOnlyFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	regular := filepath.Join(dir, "regular")
	if err := os.WriteFile(regular, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		for _, c := range []struct {
			fsys fs.FS
			name string
		}{{Anywhere{}, pipe}, {os.DirFS(dir), "pipe"}, {Anywhere{}, dir}, {os.DirFS(dir), "."}} {
			if f, err := Open(c.fsys, c.name); f != nil || err == nil || !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("%s: %v, %v", c.name, f, err)
			}
		}
	}()
	select {
	case <-opened:
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for a writer")
	}
	f, err := Open(Anywhere{}, regular)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if f, err := Open(Anywhere{}, filepath.Join(dir, "none")); f != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v, %v", f, err)
	}
}
