package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Bounds of a log of lines, which may be untrusted.
type Bounds struct {
	Lines   int // how many a log holds at most
	Longest int // of a line, in bytes with its end
}

// lineError is an error in a line of a log; the first line is 1.
type lineError struct {
	path string // "" if the log is not a file
	line int
	err  error
}

func (e *lineError) Error() string {
	if e.path == "" {
		return fmt.Sprintf("line %d: %v", e.line, e.err)
	}
	return fmt.Sprintf("%s:%d: %v", e.path, e.line, e.err)
}

func (e *lineError) Unwrap() error { return e.err }

// ScanLines passes each whole line of a log to take, with its end; the slice is valid until take
// returns. whole is how many bytes they have: a kill may have cut the line after them, which is
// left out. A damaged line is an error rather than an end, because those after it would be lost
// silently.
func ScanLines(r io.Reader, b Bounds, take func(line []byte) error) (whole int64, err error) {
	lines := bufio.NewReaderSize(r, b.Longest)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return whole, nil
		case errors.Is(err, bufio.ErrBufferFull):
			err = fmt.Errorf("a line of more than %d bytes is not of redline", b.Longest)
		case err == nil && n > b.Lines:
			err = fmt.Errorf("more than %d lines are not of redline", b.Lines)
		case err == nil:
			err = take(line)
		}
		if err != nil {
			return whole, &lineError{line: n, err: err}
		}
		whole += int64(len(line))
	}
}

// ReadLines is ScanLines of a file. An absent file has no lines.
func ReadLines(path string, b Bounds, take func(line []byte) error) (whole int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	whole, err = ScanLines(f, b, take)
	var at *lineError
	if errors.As(err, &at) {
		at.path = path
	}
	return whole, err
}

// ContinueLines opens a log to append to it after the first whole bytes, as counted by
// ReadLines: a line that a kill cut is overwritten. The file is created if there is none.
func ContinueLines(path string, whole int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	_, seekErr := f.Seek(whole, io.SeekStart)
	if err := errors.Join(f.Truncate(whole), seekErr); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
