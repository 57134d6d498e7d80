package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneSessionAtATime resumes a session that another process runs, one begun
// twice, and one whose process has ended.
func TestOneSessionAtATime(t *testing.T) {
	dir, h := sessionWith(t, wholeLine)
	first, _, err := Resume(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	holder := fmt.Sprintf("process %d", os.Getpid())
	if second, _, err := Resume(dir, h); err == nil || !strings.Contains(err.Error(), holder) {
		t.Errorf("a second resume of a session under way: %v, %v", second, err)
	}
	if second, err := Create(dir, h); err == nil || !strings.Contains(err.Error(), holder) {
		t.Errorf("a session begun where one is under way: %v, %v", second, err)
	}
	if kept, _ := os.ReadFile(filepath.Join(dir, blocksFile)); string(kept) != wholeLine {
		t.Error("the session under way was changed")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, _, err := Resume(dir, h)
	if err != nil || third.count(compared) != 1 {
		t.Fatalf("after its end: %v", err)
	}
	third.Close()
}

// TestLockOfAnother plants a link as the lock: nothing is written through it.
func TestLockOfAnother(t *testing.T) {
	dir, h := sessionWith(t, "")
	precious := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(precious, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(dir, lockFile))
	if err := os.Symlink(precious, filepath.Join(dir, lockFile)); err != nil {
		t.Fatal(err)
	}
	if log, _, err := Resume(dir, h); err == nil {
		log.Close()
		t.Error("a link is taken for the lock")
	}
	if text, _ := os.ReadFile(precious); string(text) != "kept" {
		t.Errorf("what the link leads to holds %q now", text)
	}
}
