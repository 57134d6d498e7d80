package scratch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Sweep removes the folders of this user, in the temporary directory and in shared
// memory, whose owners are gone, and removes the git worktrees in them from their
// repositories' lists. It is best effort: what it cannot assess or remove stays for the
// next sweep.
func Sweep() {
	sweep(os.TempDir())
	sweep(memory)
}

func sweep(parent string) {
	// Hazard: everybody can write to a temporary directory. All is done relative to open
	// folders, so that a link planted under one of redline's names leads nowhere.
	root, err := os.OpenRoot(parent)
	if err != nil {
		return
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			sweepFolder(root, parent, name)
		}
	}
}

func sweepFolder(root *os.Root, parent, name string) {
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() || !own(info) {
		return
	}
	folder, err := root.OpenRoot(name)
	if err != nil {
		return
	}
	defer folder.Close()
	// It may have been replaced by a link between the two.
	if opened, err := folder.Stat("."); err != nil || !os.SameFile(info, opened) {
		return
	}
	marker, err := ownerless(folder)
	if marker != nil {
		defer marker.Close() // holds the lock until the folder is gone
	}
	switch {
	case err == nil:
		forgetWorktrees(filepath.Join(parent, name))
		if clear(folder) == nil {
			_ = root.Remove(name)
		}
	case errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, newborn):
		_ = root.Remove(name) // succeeds only if the folder is empty
	}
}

// clear empties a folder, its marker last.
func clear(folder *os.Root) error {
	dir, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if name != markerName {
			err = errors.Join(err, folder.RemoveAll(name))
		}
	}
	if err != nil {
		return err
	}
	return folder.Remove(markerName)
}

// own reports whether a file is this user's.
func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

var errOwned = errors.New("it has an owner, or is not redline's")

// ownerless returns the marker of a folder, locked exclusively, if it is redline's and nobody
// holds it. The error is fs.ErrNotExist if there is none.
func ownerless(folder *os.Root) (*os.File, error) {
	f, err := folder.OpenFile(markerName, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || !own(info) {
		f.Close()
		return nil, errOwned
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(len(markerText))+1))
	// Only the beginning of it is the marker of a process that was killed while writing.
	if err != nil || !strings.HasPrefix(markerText, string(text)) || lock(f, syscall.LOCK_EX) != nil {
		f.Close()
		return nil, errOwned
	}
	return f, nil
}
