package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Everything that redline creates for itself is readable only by its user: a record may
// hold the requests to a service and its answers. An output at a path of the user's
// choice (WriteOutput) follows the umask.
const (
	DirMode  = 0o700
	fileMode = 0o600
)

// trialBytes are written and removed to learn whether a directory can hold a bundle:
// as much as a run of a few seconds leaves.
const trialBytes = 64 << 10

// Reservation is a directory reserved for one result, before anything is built or
// started for it. Only Reserve and ReserveNew make one.
//
// The reservation of an existing directory is a lock that ends with the process, so a
// killed run leaves nothing that blocks the next.
type Reservation struct {
	dir  string
	lock *os.File
	made []string // directories that were made for it, outermost first
}

// TakenError says that a directory belongs to something else.
type TakenError struct {
	Dir string
	Why string // "holds the bundle of a run"
}

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s %s (hint: -o another directory; this one stays as it is)", e.Dir, e.Why)
}

// Reserve reserves dir, which is created if it is absent and must be empty otherwise. A
// *TakenError says that it belongs to something else; another error, that nothing can
// be written there. The caller must call Release.
func Reserve(dir string) (*Reservation, error) {
	made, err := makeDirs(dir)
	if err != nil {
		return nil, unwritable(dir, err)
	}
	return reserve(dir, made)
}

// ReserveNew reserves a directory that does not exist yet: dir, or dir with a number if
// another run of the same second has it.
func ReserveNew(dir string) (*Reservation, error) {
	for n := 1; ; n++ {
		free := dir
		if n > 1 {
			free = fmt.Sprintf("%s-%d", dir, n)
		}
		made, err := makeDirs(free)
		if err != nil {
			return nil, unwritable(free, err)
		}
		if !slices.Contains(made, free) {
			continue
		}
		p, err := reserve(free, made)
		var taken *TakenError
		if errors.As(err, &taken) {
			continue // Reserve of the same name came between
		}
		return p, err
	}
}

// reserve locks a directory and checks that it is empty and can be written.
func reserve(dir string, made []string) (*Reservation, error) {
	p := &Reservation{dir: dir, made: made}
	err := p.take()
	if err == nil {
		err = p.try()
	}
	if err != nil {
		return nil, errors.Join(err, p.Release())
	}
	return p, nil
}

func (p *Reservation) take() error {
	info, err := os.Stat(p.dir)
	if err != nil {
		return unwritable(p.dir, err)
	}
	if !info.IsDir() {
		return &TakenError{p.dir, "is a file"}
	}
	f, err := os.Open(p.dir)
	if err != nil {
		return unwritable(p.dir, err)
	}
	free, err := lock(f)
	if err == nil && free {
		// Subtle: between the two calls another run may have removed it, and the lock is
		// on a directory that has no name any more.
		if held, statErr := f.Stat(); statErr != nil || !os.SameFile(info, held) || gone(p.dir, held) {
			free = false
		}
	}
	if err != nil || !free {
		f.Close()
		p.made = nil // another's now
		if err != nil {
			return unwritable(p.dir, err)
		}
		return &TakenError{p.dir, "is being written by another run"}
	}
	p.lock = f
	entries, err := f.Readdirnames(-1)
	if err != nil {
		return unwritable(p.dir, err)
	}
	switch {
	case slices.Contains(entries, RunFile):
		return &TakenError{p.dir, "holds the bundle of another run"}
	case len(entries) > 0:
		return &TakenError{p.dir, "is not empty"}
	}
	return nil
}

// gone reports whether a path no longer names the directory that was opened there.
func gone(path string, held fs.FileInfo) bool {
	now, err := os.Stat(path)
	return err != nil || !os.SameFile(now, held)
}

// try writes a file without a name, so that nothing of it stays in any case.
func (p *Reservation) try() error {
	f, err := os.CreateTemp(p.dir, ".trial-*.tmp")
	if err != nil {
		return unwritable(p.dir, err)
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return unwritable(p.dir, err)
	}
	if _, err := f.Write(make([]byte, trialBytes)); err != nil {
		return unwritable(p.dir, err)
	}
	// Some file systems report a full disk only here.
	if err := f.Sync(); err != nil {
		return unwritable(p.dir, err)
	}
	return nil
}

// Dir returns the reserved directory.
func (p *Reservation) Dir() string { return p.dir }

// Release ends the reservation. Directories that were made for it and hold nothing
// are removed. A second Release, and one of a nil Reservation, does nothing.
func (p *Reservation) Release() error {
	if p == nil {
		return nil
	}
	removeEmpty(p.made)
	p.made = nil
	if p.lock == nil {
		return nil
	}
	f := p.lock
	p.lock = nil
	return f.Close() // and the lock with it
}

// makeDirs makes a directory and the missing ones above it, and returns those that it
// made, outermost first.
func makeDirs(dir string) (made []string, err error) {
	defer func() {
		if err != nil {
			removeEmpty(made)
			made = nil
		}
	}()
	const attempts = 100
	for range attempts {
		err = os.Mkdir(dir, DirMode)
		switch {
		case err == nil:
			return append(made, dir), nil
		case errors.Is(err, fs.ErrExist):
			return made, nil
		case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
			return made, err
		}
		// A run that ends may remove the empty parent again: try once more.
		above, aboveErr := makeDirs(filepath.Dir(dir))
		if aboveErr != nil {
			return made, aboveErr
		}
		made = append(made, above...)
	}
	return made, err
}

// removeEmpty removes directories, innermost first; one that is not empty stays.
func removeEmpty(made []string) {
	for _, dir := range slices.Backward(made) {
		if os.Remove(dir) != nil {
			return
		}
	}
}

// unwritable says why a directory takes no result, and the remedy.
func unwritable(dir string, err error) error {
	hint := "-o a directory that you may write"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = "free space, or -o a directory on a disk that has some"
	case errors.Is(err, syscall.EROFS):
		hint = "the disk is read-only: -o a directory on another"
	}
	return fmt.Errorf("nothing can be written in %s: %w (hint: %s)", dir, WithoutPath(err), hint)
}
