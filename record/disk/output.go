package disk

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
)

// WriteOutput writes a file that the user asked for by its path, whole or not at
// all. Its mode follows the umask, as that of a shell's redirection does: a CI system
// reads it as another user.
func WriteOutput(path string, write func(io.Writer) error) (err error) {
	temp := path + "." + rand.Text() + ".tmp"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, WithoutPath(err))
	}
	err = errors.Join(buffered(write)(f), f.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
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
