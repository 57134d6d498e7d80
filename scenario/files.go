package scenario

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Bounds of the files that a scenario names, in bytes.
const (
	MaxData       = 64 << 20  // of one feeder
	MaxLog        = 256 << 20 // of a log to replay
	maxPEM        = 1 << 20
	maxDescriptor = 16 << 20
)

// open opens the file that a node names; it lies in the scenario's folder or
// below. A mistake is noted and the file then nil.
func (d *decoder) open(n ast.Node, where string) (fs.File, string) {
	name, ok := d.text(n, where)
	if !ok {
		return nil, ""
	}
	clean := path.Clean(filepath.ToSlash(name))
	if !fs.ValidPath(clean) || d.fsys == nil {
		d.fail(n, "", "%s: %q does not lie in the scenario's folder or below", where, name)
		return nil, ""
	}
	f, err := openRegular(d.fsys, clean)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.fail(n, d.nearFile(clean), "%s: there is no file %q in the scenario's folder", where, name)
	case err != nil:
		d.fail(n, "", "%s: %v", where, err)
	}
	return f, name
}

// read reads the small file that a node names as a whole.
func (d *decoder) read(n ast.Node, where string, limit int64) (data []byte, name string) {
	f, name := d.open(n, where)
	if f == nil {
		return nil, ""
	}
	defer f.Close()
	data, err := readBounded(f, limit)
	if err != nil {
		d.fail(n, "", "%s: %s: %v", where, name, err)
		return nil, ""
	}
	return data, name
}

func openRegular(fsys fs.FS, name string) (fs.File, error) {
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

func readBounded(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the file is over %d bytes", limit)
	}
	return data, err
}

// anywhere opens the files of flags: a person's own paths, which may lie
// outside the working directory.
type anywhere struct{}

func (anywhere) Open(name string) (fs.File, error) { return os.Open(name) }

// readFlag reads the small file that a flag names.
func readFlag(flag, name string, limit int64) ([]byte, error) {
	f, err := openRegular(anywhere{}, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	defer f.Close()
	data, err := readBounded(f, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", flag, name, err)
	}
	return data, nil
}

// nearFile proposes a file of the same folder.
func (d *decoder) nearFile(name string) string {
	entries, err := fs.ReadDir(d.fsys, path.Dir(name))
	if err != nil || len(entries) > 1000 {
		return ""
	}
	var known []string
	for _, e := range entries {
		known = append(known, path.Join(path.Dir(name), e.Name()))
	}
	if hint := didYouMean(name, known); strings.HasPrefix(hint, "did you mean") {
		return hint
	}
	return ""
}
