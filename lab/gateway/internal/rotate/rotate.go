// Package rotate writes files that do not grow without bound: at its limit a
// file becomes NAME.1, in place of the last one, and a new one begins.
package rotate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// File is an append-only file with a limit. It is not safe for concurrent use:
// who writes to it has a lock or a goroutine of its own.
type File struct {
	path  string
	limit int64 // bytes
	f     *os.File
	size  int64
}

// Open appends to path, which turns over at limit bytes.
func Open(path string, limit int64) (*File, error) {
	r := &File{path: path, limit: limit}
	return r, r.open()
}

func (r *File) open() error {
	f, err := os.OpenFile(r.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	r.f, r.size = f, info.Size()
	return nil
}

// Write appends p. A file that cannot turn over goes on beyond its limit, because its lines are worth more: p is written
// then, and the error says why it did not turn.
func (r *File) Write(p []byte) (int, error) {
	var turned error
	if r.size > 0 && r.size+int64(len(p)) > r.limit {
		if turned = r.turn(); turned != nil {
			turned = fmt.Errorf("rotate %s: %w", r.path, turned)
		}
	}
	n, err := r.f.Write(p)
	r.size += int64(n)
	return n, errors.Join(turned, err)
}

func (r *File) turn() error {
	// Where there is none, it has been moved: by a turn that could not open the new one.
	if err := os.Rename(r.path, r.path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before := r.f
	if err := r.open(); err != nil {
		return err
	}
	return before.Close()
}

// Sync waits until what was written is on the disk.
func (r *File) Sync() error { return r.f.Sync() }

func (r *File) Close() error { return r.f.Close() }
