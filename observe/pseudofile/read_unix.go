//go:build unix

package pseudofile

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix" // plain open, read, close: os.Open also asks the poller, which files of /proc refuse
)

// maxFile bounds the bytes read of one file. /proc/stat is the largest: some
// 10 KB with a hundred CPUs and as many interrupts.
const maxFile = 256 << 10

// Reader reads small files into one buffer, which the next read overwrites. The
// zero Reader is ready. It is not safe for concurrent use.
type Reader struct{ buf []byte }

// Read returns a whole file, valid until the next call. Files above 256 KB are
// refused. An error is an *fs.PathError.
func (r *Reader) Read(path string) ([]byte, error) {
	if r.buf == nil {
		r.buf = make([]byte, 8<<10)
	}
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	for n := 0; ; {
		more, err := retry(func() (int, error) { return unix.Read(fd, r.buf[n:]) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		n += more
		if more == 0 {
			return r.buf[:n], nil
		}
		if n == len(r.buf) {
			if n >= maxFile {
				return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("file too large")}
			}
			r.buf = append(r.buf, make([]byte, n)...)
		}
	}
}

// retry repeats a system call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// Numbered returns the entries of a directory whose names are numbers: the
// processes of /proc, the threads of a task directory. Order is the kernel's.
func Numbered(dir string) ([]int, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	ids := make([]int, 0, len(names))
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil && id > 0 {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Gone reports whether err says that the process or thread has ended.
func Gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
}
