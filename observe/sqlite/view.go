package sqlite

import (
	"io"
	"io/fs"
	"time"
)

// name is the name of the one file in a view.
const name = "db"

// view shows pages as a file system, which SQLite reads through its read-only VFS.
type view struct{ pages *pages }

// Open implements fs.FS.
func (v view) Open(path string) (fs.File, error) {
	if path != name {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return &viewed{SectionReader: io.NewSectionReader(v.pages, 0, v.pages.size), size: v.pages.size}, nil
}

// viewed is the open file; its owner closes the underlying file.
type viewed struct {
	*io.SectionReader
	size int64
}

func (f *viewed) Stat() (fs.FileInfo, error) { return info(f.size), nil }
func (f *viewed) Close() error               { return nil }

// info describes the file by its size.
type info int64

func (info) Name() string       { return name }
func (i info) Size() int64      { return int64(i) }
func (info) Mode() fs.FileMode  { return 0o400 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }
