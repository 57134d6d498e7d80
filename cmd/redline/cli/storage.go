package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/redline-go/redline/notation/inert"
)

// storage are the errors of a disk that accepts no more writes, and their remedies.
var storage = []struct {
	errno      syscall.Errno
	what, hint string
}{
	{syscall.ENOSPC, "the disk is full", "free space, or -o to a larger disk"},
	{syscall.EDQUOT, "the disk quota is exceeded", "free space, or -o to another disk"},
	{syscall.EFBIG, "a file reached the size limit", "raise the file size limit (ulimit -f), or shorten the run"},
	{syscall.EROFS, "the disk is read-only", "mount it for writing, or -o to another disk"},
	{syscall.EIO, "the disk reports I/O errors", "see the kernel's log, and -o to another disk"},
}

// unwritten returns in one sentence why the record of a run in dir is not whole
// when the disk is to blame; nil when it is not.
func unwritten(err error, dir string) error {
	for _, s := range storage {
		if errors.Is(err, s.errno) {
			return fmt.Errorf("%s (%w): everything written before is kept in %s (hint: %s)", s.what, s.errno, dir, s.hint)
		}
	}
	return nil
}

// Unstored prints on stderr that a judgement could not be written alongside its
// measurements. The judgement itself stands.
func Unstored(stderr io.Writer, dir string, err error) {
	if err == nil {
		return
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	inert.Fprintf(stderr, "redline: the result is printed but could not be stored in %s: %s\n", dir, first)
}
