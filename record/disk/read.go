package disk

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Open opens a regular file of the bundle, which must not be larger than bound. An
// untrusted bundle may hold links that lead out of it and named pipes that never
// answer; both are refused.
func Open(dir, name string, bound int64) (f *os.File, size int64, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, fmt.Errorf("open bundle %s: %w", dir, WithoutPath(err))
	}
	defer root.Close()
	path := filepath.Join(dir, name)
	info, err := root.Stat(name)
	if err != nil {
		return nil, 0, fmt.Errorf("open %s: %w", path, WithoutPath(err))
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("open %s: not a regular file", path)
	case info.Size() > bound:
		return nil, 0, fmt.Errorf("open %s: %d bytes, at most %d are allowed", path, info.Size(), bound)
	}
	lastOpened.Store(&path)
	if f, err = root.Open(name); err != nil {
		return nil, 0, fmt.Errorf("open %s: %w", path, WithoutPath(err))
	}
	return f, info.Size(), nil
}

// Read reads a whole file of the bundle.
func Read(dir, name string, bound int64) ([]byte, error) {
	f, size, err := Open(dir, name, bound)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := data.ReadFrom(io.LimitReader(bufio.NewReader(f), bound)); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, name), WithoutPath(err))
	}
	return data.Bytes(), nil
}
