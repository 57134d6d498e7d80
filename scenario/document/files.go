package document

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario/file"
	"github.com/redline-go/redline/scenario/mistake"
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
		d.fail(n, "", "%s: %q is not in the scenario's folder or below", where, name)
		return nil, ""
	}
	f, err := file.Open(d.fsys, clean)
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
	data, err := file.Read(f, limit)
	if err != nil {
		d.fail(n, "", "%s: %s: %v", where, name, err)
		return nil, ""
	}
	return data, name
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
	if hint := mistake.DidYouMean(name, known); strings.HasPrefix(hint, "did you mean") {
		return hint
	}
	return ""
}
