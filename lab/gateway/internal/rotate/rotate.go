// Package rotate writes files that do not grow without bound: at its limit a
// file becomes NAME.1, in place of the last one, and a new one begins.
package rotate

import (
	"fmt"
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

func (r *File) Write(p []byte) (int, error) {
	if r.size > 0 && r.size+int64(len(p)) > r.limit {
		if err := r.turn(); err != nil {
			return 0, fmt.Errorf("rotate %s: %w", r.path, err)
		}
	}
	n, err := r.f.Write(p)
	r.size += int64(n)
	return n, err
}

func (r *File) turn() error {
	if err := r.f.Close(); err != nil {
		return err
	}
	if err := os.Rename(r.path, r.path+".1"); err != nil {
		return err
	}
	return r.open()
}

// Sync waits until what was written is on the disk.
func (r *File) Sync() error { return r.f.Sync() }

func (r *File) Close() error { return r.f.Close() }
