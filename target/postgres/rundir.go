package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	runPrefix  = "redline-postgres-"
	markerName = "REDLINE-THROWAWAY"
	markerText = "redline target/postgres: this folder is removed when its owner is gone\n"
)

// runDir is the folder of one cluster: the marker, and data/ below it. An
// exclusive flock on the marker says that the owner lives; the kernel drops it
// with the process, however that ends, and no pid can be mistaken for another.
type runDir struct {
	path   string
	marker *os.File
}

// newRunDir makes a folder below parent for a server of the given identity.
func newRunDir(parent string, id identity) (*runDir, error) {
	path, err := os.MkdirTemp(parent, runPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a run directory: %w", err)
	}
	d := &runDir{path: path}
	if err := d.mark(); err != nil {
		d.remove()
		return nil, err
	}
	if id.foreign() {
		// The server passes through this folder to its data, and reads nothing
		// in it.
		err = os.Chmod(path, 0o711)
	}
	if err == nil {
		err = os.Mkdir(d.data(), 0o700)
	}
	if err == nil {
		err = id.own(d.data())
	}
	if err != nil {
		d.remove()
		return nil, fmt.Errorf("prepare the run directory: %w", err)
	}
	return d, nil
}

// mark writes and locks the marker under another name first: a marker that is
// visible is locked, or its owner is dead.
func (d *runDir) mark() error {
	name := filepath.Join(d.path, markerName)
	f, err := os.OpenFile(name+".new", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("mark the run directory: %w", err)
	}
	d.marker = f
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("lock the run directory's marker: %w", err)
	}
	if _, err := f.WriteString(markerText); err != nil {
		return fmt.Errorf("mark the run directory: %w", err)
	}
	return os.Rename(name+".new", name)
}

func (d *runDir) data() string { return filepath.Join(d.path, "data") }

func (d *runDir) remove() error {
	err := os.RemoveAll(d.path)
	if d.marker != nil {
		d.marker.Close()
	}
	return err
}

// removeStale removes run directories below parent whose owners are gone. It is
// best effort: what it cannot judge or remove stays.
func removeStale(parent string) {
	dirs, _ := filepath.Glob(filepath.Join(parent, runPrefix+"*"))
	for _, dir := range dirs {
		if stale(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

// stale reports whether dir carries our marker, of this user, which nobody
// holds, and no server lives in it.
func stale(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	// Hazard: a temporary directory is shared, and a link planted as the
	// marker could name anything.
	f, err := os.OpenFile(filepath.Join(dir, markerName), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err = f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(len(markerText))+1))
	if err != nil || !bytes.Equal(text, []byte(markerText)) {
		return false
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	return !serverLives(filepath.Join(dir, "data", "postmaster.pid"))
}

// serverLives reports whether the process that a postmaster.pid names exists.
// A pid that was taken over by another process keeps the directory: an error on
// the safe side.
func serverLives(pidFile string) bool {
	f, err := os.Open(pidFile)
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return true
	}
	first, _, _ := strings.Cut(string(head), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 0 {
		return false
	}
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
