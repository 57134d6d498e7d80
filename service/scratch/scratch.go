// Package scratch makes the temporary folders of a process and removes those of
// processes that died.
//
// A folder is redline's if it has redline's marker, and its owner lives as long as someone holds a
// lock (flock) on that marker: the process that made it, and the guardians of what that
// process started in it. The kernel releases the lock however they end, so no age is
// guessed and no pid can be mistaken for another. When a process makes its first
// folder, it sweeps those of dead processes.
//
// It refuses to touch anything that is not certainly redline's: a folder of another user, a
// link, a folder without the marker. Rejected: a list of folders in one file (a
// kill between the folder and its line loses it), and sweeping by age (a run may last a
// day, and the folder of one killed a second ago should go too).
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

const (
	prefix = "redline-"
	// newborn begins the name of a folder without a marker so far. Nothing else uses
	// this name, so any redline may remove an empty one.
	newborn = prefix + "new-"

	markerName = "REDLINE-SCRATCH"
	markerText = "redline: this folder is removed when its owner is gone\n"
)

// memory is where Linux mounts a memory file system for all.
const memory = "/dev/shm"

// Folder is a temporary folder of this process.
type Folder struct {
	// Path is absolute if the temporary directory's is. Only its owner may enter the
	// folder (mode 0700), which at first holds only the marker.
	Path string

	marker *os.File // locked
}

// live are the folders of this process, for its guardians to hold as well.
var live struct {
	sync.Mutex
	folders []*Folder
	swept   bool
}

// New makes a folder in the temporary directory; kind is in its name.
func New(kind string) (*Folder, error) {
	sweepOnce()
	return newFolder(os.TempDir(), kind)
}

// Shared makes a folder on a memory file system if there is one, else in the temporary
// directory.
//
// This matters to a target that maps files from there: a store into a page that the
// kernel is writing to a disk may wait for the disk, and a goroutine that waits in a
// page fault holds up its P and every stop of the world. Such file systems may be
// mounted noexec, so binaries do not belong there.
func Shared(kind string) (*Folder, error) {
	sweepOnce()
	if f, err := newFolder(memory, kind); err == nil {
		return f, nil
	}
	return newFolder(os.TempDir(), kind)
}

func sweepOnce() {
	live.Lock()
	first := !live.swept
	live.swept = true
	live.Unlock()
	if first {
		Sweep()
	}
}

// errSwept says that a sweep mistook a folder for that of a dead process, because it was
// made but not locked yet.
var errSwept = errors.New("swept while it was made")

func newFolder(parent, kind string) (*Folder, error) {
	const attempts = 20 // each fails only if a sweep comes within microseconds
	for try := 1; ; try++ {
		f, err := makeFolder(parent, kind)
		if err == nil {
			live.Lock()
			live.folders = append(live.folders, f)
			live.Unlock()
			return f, nil
		}
		if !errors.Is(err, errSwept) || try == attempts {
			return nil, fmt.Errorf("scratch directory: %w", err)
		}
	}
}

// makeFolder gives a folder its marker and lock under another name first: a
// folder with its proper name has both.
func makeFolder(parent, kind string) (*Folder, error) {
	young, err := os.MkdirTemp(parent, newborn)
	if err != nil {
		return nil, err
	}
	marker, err := mark(filepath.Join(young, markerName))
	if err == nil {
		f := &Folder{Path: filepath.Join(parent, prefix+kind+"-"+strings.TrimPrefix(filepath.Base(young), newborn)), marker: marker}
		if _, there := os.Lstat(f.Path); there == nil {
			err = fs.ErrExist
		} else if err = os.Rename(young, f.Path); err == nil {
			return f, nil
		}
		marker.Close()
	}
	_ = os.RemoveAll(young)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || errors.Is(err, syscall.EWOULDBLOCK) {
		err = errSwept
	}
	return nil, err
}

// mark writes and locks a marker.
func mark(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err = lock(f, syscall.LOCK_SH); err == nil {
		_, err = f.WriteString(markerText)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lock locks a file without waiting. On a file system without locks a shared lock
// succeeds and an exclusive one fails: folders there are not protected, and not swept.
func lock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case how == syscall.LOCK_SH && err != nil && !errors.Is(err, syscall.EWOULDBLOCK):
			return nil
		}
		return err
	}
}

// Remove removes the folder with all that is in it. It may be called more than
// once, and for nil.
func (f *Folder) Remove() error {
	if f == nil {
		return nil
	}
	live.Lock()
	live.folders = slices.DeleteFunc(live.folders, func(other *Folder) bool { return other == f })
	live.Unlock()
	forgetWorktrees(f.Path)
	err := empty(f.Path)
	f.marker.Close()
	return err
}

// empty removes a folder, its marker last: if that is cut short, the folder is still
// recognised as redline's.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != markerName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// Held returns the markers of the folders that this process has now, for Hold in
// a guardian of the processes in them.
func Held() []string {
	live.Lock()
	defer live.Unlock()
	var paths []string
	for _, f := range live.folders {
		paths = append(paths, filepath.Join(f.Path, markerName))
	}
	return paths
}

// Hold keeps folders from being swept until release is called or this process ends,
// whoever made them. It ignores markers that are gone.
func Hold(markers []string) (release func()) {
	var held []*os.File
	for _, path := range markers {
		f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if lock(f, syscall.LOCK_SH) != nil {
			f.Close()
			continue
		}
		held = append(held, f)
	}
	return func() {
		for _, f := range held {
			f.Close()
		}
	}
}
