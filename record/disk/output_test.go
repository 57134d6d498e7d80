package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// hello writes five bytes.
func hello(w io.Writer) error {
	_, err := io.WriteString(w, "hello")
	return err
}

// expectFile compares what a file holds.
func expectFile(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, want %q (%v)", filepath.Base(path), got, want, err)
	}
}

func TestOutputReplacesWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := WriteOutput(path, hello); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	err := WriteOutput(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "torn")
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	expectFile(t, path, "hello")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// TestOutputFollowsLinks: the link stays, and the file that it leads to is written, also
// where there is none yet.
func TestOutputFollowsLinks(t *testing.T) {
	for _, there := range []bool{true, false} {
		dir := t.TempDir()
		link, file := filepath.Join(dir, "link"), filepath.Join(t.TempDir(), "file")
		if there {
			if err := os.WriteFile(file, []byte("old and longer"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(file, link); err != nil {
			t.Skip(err)
		}
		if err := WriteOutput(link, hello); err != nil {
			t.Fatal(err)
		}
		if to, err := os.Readlink(link); err != nil || to != file {
			t.Errorf("the link leads to %q (%v)", to, err)
		}
		expectFile(t, file, "hello")
	}
}

// TestOutputIntoAPipe writes to a descriptor, as a shell's >(...) and /dev/stdout have it.
func TestOutputIntoAPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no /dev/fd")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := WriteOutput(fmt.Sprintf("/dev/fd/%d", w.Fd()), hello); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}
