// Package file opens what a scenario or a flag names: regular files only, and of
// bounded size.
package file

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Bounds of the small files that a scenario names, in bytes.
const (
	MaxPEM        = 1 << 20
	MaxDescriptor = 16 << 20
)

// Open opens a regular file; the error of anything else says so.
func Open(fsys fs.FS, name string) (fs.File, error) {
	// Asked before: opening a named pipe waits for someone who writes to it.
	if info, err := fs.Stat(fsys, name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", name)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err // a file that is nil may be no nil of the interface
	}
	return f, nil
}

// Text reads text without the byte order mark that spreadsheets begin a file with.
func Text(r io.Reader) *bufio.Reader {
	const mark = "\ufeff"
	text := bufio.NewReader(r)
	if begins, _ := text.Peek(len(mark)); string(begins) == mark {
		_, _ = text.Discard(len(mark)) // it is buffered
	}
	return text
}

// Read reads all; more than limit bytes are an error.
func Read(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the file is over %d bytes", limit)
	}
	return data, err
}

// Anywhere opens the files of flags: a person's own paths, which may lie
// outside the working directory.
type Anywhere struct{}

func (Anywhere) Open(name string) (fs.File, error) { return os.Open(name) }

// Stat describes a file without opening it.
func (Anywhere) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// ReadFlag reads the small file that a flag names.
func ReadFlag(flag, name string, limit int64) ([]byte, error) {
	f, err := Open(Anywhere{}, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	defer f.Close()
	data, err := Read(f, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", flag, name, err)
	}
	return data, nil
}
