package disk

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// WriteOutput writes a file that the user asked for by its path, whole or not at
// all. Its mode follows the umask, as that of a shell's redirection does: a CI system
// reads it as another user.
//
// Links are followed. What is not a regular file, such as /dev/stdout or a pipe, cannot be
// replaced and is written to as it is.
func WriteOutput(path string, write func(io.Writer) error) error {
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	var err error
	if info, e := os.Lstat(target); e == nil && !info.Mode().IsRegular() {
		err = writeInto(path, buffered(write))
	} else {
		err = replace(target, buffered(write))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeInto writes to what a path leads to.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return WithoutPath(err)
	}
	return errors.Join(write(f), f.Close())
}

// replace writes a temporary file beside a path and renames it.
func replace(path string, write func(io.Writer) error) error {
	temp := path + "." + rand.Text() + ".tmp"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return WithoutPath(err)
	}
	defer os.Remove(temp) // it is gone if it was renamed
	err = write(f)
	if err == nil {
		err = f.Sync() // some file systems report a full disk only here
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(temp, path); !errors.Is(err, syscall.EBUSY) {
		return err
	}
	// A file that is mounted into a container keeps its place.
	return writeInto(path, func(w io.Writer) error {
		whole, err := os.Open(temp)
		if err != nil {
			return err
		}
		defer whole.Close()
		_, err = io.Copy(w, whole)
		return err
	})
}

func buffered(write func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		b := bufio.NewWriter(w)
		if err := write(b); err != nil {
			return err
		}
		return b.Flush()
	}
}
