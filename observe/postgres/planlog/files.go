package planlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	// MaxLog is the maximum number of bytes read of a server's log, logChunk that of one
	// request.
	MaxLog   = 16 << 20
	logChunk = 1 << 20
	// maxLogFiles bounds the files to which a log was rotated meanwhile.
	maxLogFiles = 64
)

// Files give access to the server's log files.
type Files interface {
	// Current returns the name of the current file, and its size in bytes.
	Current(ctx context.Context) (name string, size int64, err error)
	// List names the files of a folder.
	List(ctx context.Context, dir string) ([]string, error)
	// Read returns at most n bytes from an offset; fewer at the end.
	Read(ctx context.Context, name string, offset int64, n int) ([]byte, error)
}

// LocalFiles are the files of a server on this host, as its processes see them.
//
// A server in a container has other paths than this host: /proc/PID/root and /proc/PID/cwd
// lead to them (proc_pid_root(5)), for users who may ptrace the process.
type LocalFiles struct {
	PID    int // of one of its backends, which lives as long as the session
	Format Format
	// Collected means that the logging collector writes the files, named in
	// current_logfiles; else the log is the server's standard error, if that is a file.
	Collected bool
}

// of returns the path on this host of a name as the server uses it.
func (f LocalFiles) of(name string) string {
	proc := "/proc/" + strconv.Itoa(f.PID)
	if !f.Collected {
		return proc + "/fd/2"
	}
	if path.IsAbs(name) {
		return proc + "/root" + name
	}
	return proc + "/cwd/" + name
}

// Current implements Files.
func (f LocalFiles) Current(context.Context) (name string, size int64, err error) {
	if f.Collected {
		list, err := os.ReadFile(f.of("current_logfiles"))
		if err != nil {
			return "", 0, err
		}
		for line := range strings.Lines(string(list[:min(len(list), 64<<10)])) {
			if rest, found := strings.CutPrefix(line, string(f.Format)+" "); found {
				name = strings.TrimSpace(rest)
			}
		}
		if name == "" {
			return "", 0, fmt.Errorf("the server names no file of %s", f.Format)
		}
	}
	info, err := os.Stat(f.of(name))
	switch {
	case err != nil:
		return "", 0, err
	case !info.Mode().IsRegular():
		return "", 0, errors.New("the server's standard error is no file: set logging_collector = on")
	}
	return name, info.Size(), nil
}

// List implements Files.
func (f LocalFiles) List(_ context.Context, dir string) (names []string, err error) {
	entries, err := os.ReadDir(f.of(dir))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// Read implements Files. Fewer than n bytes are not an error.
func (f LocalFiles) Read(_ context.Context, name string, offset int64, n int) ([]byte, error) {
	file, err := os.Open(f.of(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data := make([]byte, n)
	n, err = file.ReadAt(data, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data[:n], err
}

// Mark is the end of the log at an instant.
type Mark struct {
	Name   string // of its file: absolute, or relative to the data directory
	Offset int64  // bytes from the start of the file
}

// Since reads the log after a mark, including the files to which it was rotated since:
// their names, which contain the time, lie in between. more means that it stopped at
// MaxLog.
func Since(ctx context.Context, files Files, from Mark) (pieces [][]byte, more bool, err error) {
	name, size, err := files.Current(ctx)
	if err != nil {
		return nil, false, err
	}
	marks := []Mark{from}
	switch {
	case name == from.Name && size < from.Offset: // truncated in place
		marks[0].Offset = 0
	case name != from.Name:
		if names, err := files.List(ctx, filepath.Dir(from.Name)); err == nil {
			slices.Sort(names)
			for _, between := range names {
				between = path.Join(path.Dir(from.Name), between)
				if between > from.Name && between < name && path.Ext(between) == path.Ext(name) && len(marks) < maxLogFiles {
					marks = append(marks, Mark{Name: between})
				}
			}
		}
		marks = append(marks, Mark{Name: name})
	}
	left := MaxLog
	for _, m := range marks {
		var piece []byte
		for left > 0 {
			data, err := files.Read(ctx, m.Name, m.Offset, min(left, logChunk))
			if err != nil && m.Name != name {
				break // only the plans in a removed file are lost
			} else if err != nil {
				return pieces, false, err
			}
			if len(data) == 0 {
				break
			}
			piece = append(piece, data...)
			m.Offset += int64(len(data))
			left -= len(data)
		}
		pieces = append(pieces, piece)
	}
	return pieces, left == 0, nil
}
