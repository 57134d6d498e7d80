package drafts

import (
	"errors"
	"os"
	"path/filepath"
)

// Files is a store of files below a folder. A file is there as a whole or not at all.
type Files struct {
	Dir     string
	Durable bool
}

// Get reads a file.
func (f Files) Get(name string) ([]byte, error) { return os.ReadFile(filepath.Join(f.Dir, name)) }

// Put writes a file.
func (f Files) Put(name string, data []byte) error {
	path := filepath.Join(f.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".draft-*")
	if err != nil {
		return err
	}
	if err := f.fill(temp, data); err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return os.Rename(temp.Name(), path)
}

func (f Files) fill(file *os.File, data []byte) error {
	_, err := file.Write(data)
	if err == nil && f.Durable {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
