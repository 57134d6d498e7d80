package postgres

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

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/observe/postgres/planlog"
)

const (
	// maxLog bounds the bytes read of a server's log, and logChunk those
	// asked for at once.
	maxLog   = 16 << 20
	logChunk = 1 << 20
	// maxLogFiles bounds the files that a log was rotated to meanwhile.
	maxLogFiles = 64
)

// logFiles are a way to the server's log.
type logFiles interface {
	// current names the file that is written to now, and its size in bytes.
	current(ctx context.Context) (name string, size int64, err error)
	// list names the files of a folder.
	list(ctx context.Context, dir string) ([]string, error)
	// read returns at most n bytes from an offset; less at the end.
	read(ctx context.Context, name string, offset int64, n int) ([]byte, error)
}

// served are the files that the server itself reads out, with the rights of
// redline's role.
type served struct {
	session *session
	format  planlog.Format
}

func (f served) current(ctx context.Context) (name string, size int64, err error) {
	var found *string
	err = f.session.ask(ctx, query{"SELECT " + marker + " pg_current_logfile($1)", []any{string(f.format)}, one(&found)})
	if err == nil && found == nil {
		err = fmt.Errorf("the server names no file of %s", f.format)
	}
	if err != nil {
		return "", 0, err
	}
	err = f.session.ask(ctx, query{"SELECT " + marker + " (pg_stat_file($1)).size", []any{*found}, one(&size)})
	return *found, size, err
}

func (f served) list(ctx context.Context, dir string) (names []string, err error) {
	err = f.session.ask(ctx, query{"SELECT " + marker + " pg_ls_dir($1)", []any{dir}, func(rows pgx.Rows) (err error) {
		names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}})
	return names, err
}

func (f served) read(ctx context.Context, name string, offset int64, n int) (data []byte, err error) {
	err = f.session.ask(ctx, query{"SELECT " + marker + " pg_read_binary_file($1, $2, $3)", []any{name, offset, int64(n)}, one(&data)})
	return data, err
}

// local are the files of a server on this host, by its processes' view of them.
type localFiles struct {
	pid    int
	format planlog.Format
	// collected: the server's collector writes them; else they are the standard error.
	collected bool
}

// of is the path of a name as the server has it.
func (f localFiles) of(name string) string {
	proc := "/proc/" + strconv.Itoa(f.pid)
	if !f.collected {
		return proc + "/fd/2"
	}
	if path.IsAbs(name) {
		return proc + "/root" + name
	}
	return proc + "/cwd/" + name
}

func (f localFiles) current(context.Context) (name string, size int64, err error) {
	if f.collected {
		list, err := os.ReadFile(f.of("current_logfiles"))
		if err != nil {
			return "", 0, err
		}
		for line := range strings.Lines(string(list[:min(len(list), 64<<10)])) {
			if rest, found := strings.CutPrefix(line, string(f.format)+" "); found {
				name = strings.TrimSpace(rest)
			}
		}
		if name == "" {
			return "", 0, fmt.Errorf("the server names no file of %s", f.format)
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

func (f localFiles) list(_ context.Context, dir string) (names []string, err error) {
	entries, err := os.ReadDir(f.of(dir))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (f localFiles) read(_ context.Context, name string, offset int64, n int) ([]byte, error) {
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

// mark is a place in a log.
type mark struct {
	name   string
	offset int64
}

// since reads the log after a mark, in the files that the log was rotated
// to as well: those whose names, which hold the time, lie between. more means that
// the bound was reached.
func since(ctx context.Context, files logFiles, from mark) (pieces [][]byte, more bool, err error) {
	name, size, err := files.current(ctx)
	if err != nil {
		return nil, false, err
	}
	marks := []mark{from}
	switch {
	case name == from.name && size < from.offset: // truncated in its place
		marks[0].offset = 0
	case name != from.name:
		if names, err := files.list(ctx, filepath.Dir(from.name)); err == nil {
			slices.Sort(names)
			for _, between := range names {
				between = path.Join(path.Dir(from.name), between)
				if between > from.name && between < name && path.Ext(between) == path.Ext(name) && len(marks) < maxLogFiles {
					marks = append(marks, mark{name: between})
				}
			}
		}
		marks = append(marks, mark{name: name})
	}
	left := maxLog
	for _, m := range marks {
		var piece []byte
		for left > 0 {
			data, err := files.read(ctx, m.name, m.offset, min(left, logChunk))
			if err != nil && m.name != name {
				break // a file that was removed costs its own plans
			} else if err != nil {
				return pieces, false, err
			}
			if len(data) == 0 {
				break
			}
			piece = append(piece, data...)
			m.offset += int64(len(data))
			left -= len(data)
		}
		pieces = append(pieces, piece)
	}
	return pieces, left == 0, nil
}
