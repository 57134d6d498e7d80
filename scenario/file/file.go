// Package file opens what a scenario or a flag names: regular files only, and of
// bounded size.
package file

import (
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

func Open(fsys fs.FS, name string) (fs.File, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%q is not a regular file", name)
	}
	return f, nil
}

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
