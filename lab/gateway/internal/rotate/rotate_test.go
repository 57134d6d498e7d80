package rotate

import (
	"os"
	"path/filepath"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func opened(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path, 10)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func write(t *testing.T, f *File, text string) {
	t.Helper()
	if n, err := f.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("%q: %d, %v", text, n, err)
	}
}

func TestTurnsOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f := opened(t, path)
	for _, text := range []string{"first\n", "second\n", "third\n"} {
		write(t, f, text)
	}
	if now, last := read(t, path), read(t, path+".1"); now != "third\n" || last != "second\n" {
		t.Errorf("%q after %q", now, last)
	}
}

// TestCannotTurnOver: what is written is in the file though it cannot turn over, which is said, and done once it can.
func TestCannotTurnOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f := opened(t, path)
	inTheWay := filepath.Join(path+".1", "in the way")
	if err := os.MkdirAll(inTheWay, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, f, "first\n")
	for range 2 {
		if n, err := f.Write([]byte("second\n")); n != 7 || err == nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if got := read(t, path); got != "first\nsecond\nsecond\n" {
		t.Errorf("%q", got)
	}
	if err := os.RemoveAll(path + ".1"); err != nil {
		t.Fatal(err)
	}
	write(t, f, "third\n")
	if now, last := read(t, path), read(t, path+".1"); now != "third\n" || last != "first\nsecond\nsecond\n" {
		t.Errorf("%q after %q", now, last)
	}
}

// TestMovedAway: a file that somebody else has moved, or a turn that could not open the new one, begins anew.
func TestMovedAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f := opened(t, path)
	write(t, f, "first\n")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write(t, f, "second\n")
	if now, last := read(t, path), read(t, path+".1"); now != "second\n" || last != "first\n" {
		t.Errorf("%q after %q", now, last)
	}
}
