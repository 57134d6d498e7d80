package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/redline-go/redline/record/disk"
)

// TestReserveNewAtOnce reserves one name from many goroutines: each gets a directory of
// its own, which did not exist before.
func TestReserveNewAtOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "runs", "20260102-150405-shop")
	const runs = 32
	places := make([]*disk.Reservation, runs)
	var all sync.WaitGroup
	for i := range places {
		all.Go(func() {
			var err error
			if places[i], err = disk.ReserveNew(name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	seen := map[string]bool{}
	for _, p := range places {
		info, err := os.Stat(p.Dir())
		must(t, err)
		if seen[p.Dir()] || info.Mode() != os.ModeDir|disk.DirMode {
			t.Errorf("%s has mode %v, and was given out before: %v", p.Dir(), info.Mode(), seen[p.Dir()])
		}
		seen[p.Dir()] = true
	}
	if !seen[name] || !seen[name+"-2"] {
		t.Errorf("the names are %v", seen)
	}
	for _, p := range places {
		must(t, p.Release())
	}
	if left, _ := filepath.Glob(name + "*"); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// TestReserveAndReleaseAtOnce reserves one directory again and again from many goroutines
// that give it back immediately: two never hold it at once.
func TestReserveAndReleaseAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	var all sync.WaitGroup
	var mu sync.Mutex
	held, times := false, 0
	for range 8 {
		all.Go(func() {
			for range 200 {
				p, err := disk.Reserve(dir)
				var taken *disk.TakenError
				if errors.As(err, &taken) {
					continue
				}
				if err != nil {
					// The directory was given back between two calls.
					if !errors.Is(err, os.ErrNotExist) {
						t.Error(err)
					}
					continue
				}
				mu.Lock()
				if held {
					t.Error("two hold it")
				}
				held = true
				times++
				mu.Unlock()
				_, statErr := os.Stat(dir)
				mu.Lock()
				held = false
				mu.Unlock()
				if statErr != nil {
					t.Errorf("reserved and not there: %v", statErr)
				}
				if err := p.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if times == 0 {
		t.Error("nobody ever got it")
	}
}

func TestReserve(t *testing.T) {
	dir := t.TempDir()
	given := filepath.Join(dir, "given")
	must(t, os.Mkdir(given, 0o755))
	p, err := disk.Reserve(given)
	must(t, err)
	var taken *disk.TakenError
	if _, err := disk.Reserve(given); !errors.As(err, &taken) || !strings.Contains(err.Error(), "is being written by another run") {
		t.Errorf("reserved twice: %v", err)
	}
	must(t, p.Release())
	must(t, p.Release())
	if _, err := os.Stat(given); err != nil {
		t.Errorf("a directory that was there is gone: %v", err)
	}
	p, err = disk.Reserve(given)
	must(t, err)
	w, err := Create(given, testRun(t))
	must(t, err)
	must(t, w.Close(Complete, ""))
	must(t, p.Release())
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for path, why := range map[string]string{given: "holds the bundle of another run", dir: "is not empty", file: "is a file"} {
		if _, err := disk.Reserve(path); !errors.As(err, &taken) || !strings.Contains(err.Error(), why) ||
			!strings.Contains(err.Error(), "hint: ") {
			t.Errorf("%s: %v, want that it %s", path, err, why)
		}
	}
	if _, err := disk.Reserve(filepath.Join(file, "below")); err == nil || errors.As(err, &taken) ||
		!strings.Contains(err.Error(), "nothing can be written in") {
		t.Errorf("below a file: %v", err)
	}
}

// TestFullDiskAtTheStart begins a bundle with no room on the disk, then with one page
// more each time, until there is enough: before that it is an error, and nothing is left
// of the bundle.
func TestFullDiskAtTheStart(t *testing.T) {
	const page = 4096
	failed := 0
	for room := 0; ; room += page {
		small := smallDisk(t, 96<<10)
		dir := filepath.Join(small, "bundle")
		must(t, os.Mkdir(dir, 0o700))
		fillBut(t, small, room)
		w, err := Create(dir, testRun(t))
		if err == nil {
			_ = w.Close(Complete, "") // for which the room left may not be enough
			break
		}
		failed++
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("with %d bytes: %v", room, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("with %d bytes, left are %v %v", room, left, err)
		}
		if room > 64<<10 {
			t.Fatal("no room was enough")
		}
	}
	if failed == 0 {
		t.Error("no disk was full")
	}
	small := smallDisk(t, 64<<10)
	fillBut(t, small, page)
	if _, err := disk.Reserve(filepath.Join(small, "bundle")); !errors.Is(err, syscall.ENOSPC) ||
		!strings.Contains(fmt.Sprint(err), "hint: free space") {
		t.Errorf("reserved on a full disk: %v", err)
	}
	if left, err := os.ReadDir(small); err != nil || len(left) != 1 {
		t.Errorf("left are %v %v", left, err)
	}
}

// fillBut fills a disk page by page and then frees room bytes.
func fillBut(t *testing.T, small string, room int) {
	t.Helper()
	f, err := os.Create(filepath.Join(small, "filler"))
	must(t, err)
	defer f.Close()
	size := int64(0)
	for err == nil {
		var n int
		n, err = f.Write(make([]byte, 4096))
		size += int64(n)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	must(t, f.Truncate(max(0, size-int64(room))))
}
