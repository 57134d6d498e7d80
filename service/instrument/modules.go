package instrument

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/redline-go/redline/service/private"
)

// Module is a package's module, as `go list` reports it.
type Module struct {
	Path, Version, Dir string
	Replace            *Module
}

// Layout says where a build's files lie.
type Layout struct {
	ModCache string // GOMODCACHE
	GoMod    string // of the main module; the file of -modfile if GOFLAGS names one
	GoWork   string // "" outside of a workspace
	Scratch  string // a folder for files of this build alone
}

// Setup is a build that uses a Result.
type Setup struct {
	Files map[string][]byte // for the overlay, by absolute path
	Flags []string          // for go build
	Env   []string
}

// Setup returns how to build with r. The go command refuses to replace files of its
// module cache, on whose content others rely: modules from there are copied, with the
// rewritten files, and substituted by a go.mod or go.work for this build only. A copy
// keeps its folder's name from build to build, so that the build cache recognises it.
func (r *Result) Setup(ctx context.Context, deps []Package, p Layout) (*Setup, error) {
	s := &Setup{Files: map[string][]byte{}}
	cached := map[*Module]map[string][]byte{}
	byDir := map[string]*Module{}
	for _, dep := range deps {
		if m := dep.Module; m != nil && slices.Contains(r.Done, dep.ImportPath) && within(p.ModCache, dep.Dir) {
			if byDir[m.Dir] == nil {
				byDir[m.Dir], cached[m] = m, map[string][]byte{}
			}
		}
	}
	for path, content := range r.Files {
		m := moduleOf(byDir, path)
		if m == nil {
			s.Files[path] = content
			continue
		}
		name, err := filepath.Rel(m.Dir, path)
		if err != nil {
			return nil, err
		}
		cached[m][name] = content
	}
	if len(cached) == 0 {
		return s, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	copies := filepath.Join(cache, "redline", "instrumented")
	replace := map[string]string{} // module to the folder of its copy
	for m, files := range cached {
		dir, err := copyModule(ctx, copies, m, files)
		if err != nil {
			return nil, fmt.Errorf("copy module %s: %w", m.Path, err)
		}
		replace[m.Path] = dir
	}
	return s, s.replace(p, replace)
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return dir != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// moduleOf returns the innermost of the modules that a file lies in.
func moduleOf(byDir map[string]*Module, path string) *Module {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if m := byDir[dir]; m != nil || dir == filepath.Dir(dir) {
			return m
		}
	}
}

// replace writes a go.mod or go.work like the user's that replaces modules by copies.
func (s *Setup) replace(p Layout, copies map[string]string) error {
	if p.GoWork != "" {
		return s.replaceInWork(p, copies)
	}
	data, err := os.ReadFile(p.GoMod)
	if err != nil {
		return err
	}
	file, err := modfile.Parse(p.GoMod, data, nil)
	if err != nil {
		return err
	}
	for path, dir := range copies {
		for _, old := range slices.Clone(file.Replace) { // one for a certain version takes precedence over one for all
			if old.Old.Path == path {
				if err := file.DropReplace(path, old.Old.Version); err != nil {
					return err
				}
			}
		}
		if err := file.AddReplace(path, "", dir, ""); err != nil {
			return err
		}
	}
	file.Cleanup()
	if data, err = file.Format(); err != nil {
		return err
	}
	own := filepath.Join(p.Scratch, "go.mod")
	s.Flags = append(s.Flags, "-modfile="+own)
	return errors.Join(os.WriteFile(own, data, 0o600),
		copySums(strings.TrimSuffix(p.GoMod, ".mod")+".sum", filepath.Join(p.Scratch, "go.sum")))
}

// replaceInWork is replace in a workspace, where -modfile is refused.
func (s *Setup) replaceInWork(p Layout, copies map[string]string) error {
	data, err := os.ReadFile(p.GoWork)
	if err != nil {
		return err
	}
	file, err := modfile.ParseWork(p.GoWork, data, nil)
	if err != nil {
		return err
	}
	base := filepath.Dir(p.GoWork)
	for _, use := range slices.Clone(file.Use) {
		path := use.Path // DropUse empties use
		if !filepath.IsAbs(path) {
			if err := errors.Join(file.DropUse(path), file.AddUse(filepath.Join(base, path), "")); err != nil {
				return err
			}
		}
	}
	for _, old := range slices.Clone(file.Replace) {
		dir := old.New.Path
		switch _, replaced := copies[old.Old.Path]; {
		case replaced:
			err = file.DropReplace(old.Old.Path, old.Old.Version)
		case old.New.Version == "" && !filepath.IsAbs(dir):
			err = file.AddReplace(old.Old.Path, old.Old.Version, filepath.Join(base, dir), "")
		}
		if err != nil {
			return err
		}
	}
	for path, dir := range copies {
		if err := file.AddReplace(path, "", dir, ""); err != nil {
			return err
		}
	}
	file.Cleanup()
	own := filepath.Join(p.Scratch, "go.work")
	s.Env = append(s.Env, "GOWORK="+own)
	return errors.Join(os.WriteFile(own, modfile.Format(file.Syntax), 0o600), copySums(p.GoWork+".sum", own+".sum"))
}

// copySums copies a file of checksums, if there is one.
func copySums(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// copyModule returns the folder of a module's copy below parent with some files exchanged, and makes
// it if it does not exist. The name follows from the content, so an existing copy is the
// right one; a copy appears under its name once it is whole.
func copyModule(ctx context.Context, parent string, m *Module, files map[string][]byte) (string, error) {
	if err := private.Folder(parent); err != nil {
		return "", err
	}
	name, err := copyName(m, files)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(parent, name)
	if info, err := os.Lstat(dir); err == nil {
		// One that was made while others could write here may be theirs.
		if why := private.Shared(info); why != "" {
			return "", fmt.Errorf("%s %s (hint: remove it)", dir, why)
		}
		if !info.IsDir() {
			return "", fmt.Errorf("%s is no folder (hint: remove it)", dir)
		}
		now := time.Now()
		_ = os.Chtimes(dir, now, now) // the time of its last use, for forget
		return dir, nil
	}
	forget(parent)
	fresh, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := copyTree(ctx, m, fresh, files); err != nil {
		return "", err
	}
	if err := os.Rename(fresh, dir); err != nil {
		if _, there := os.Lstat(dir); there != nil { // another redline has not made it meanwhile
			return "", err
		}
	}
	return dir, nil
}

func copyName(m *Module, files map[string][]byte) (string, error) {
	actual := m
	if m.Replace != nil {
		actual = m.Replace
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q %q\n", m.Path, actual.Path, actual.Version)
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(hash, "%q %q\n", name, files[name])
	}
	escaped, err := module.EscapePath(actual.Path)
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(escaped, "/", "_") + "@" + actual.Version + "-" + hex.EncodeToString(hash.Sum(nil)[:8]), nil
}

// copyTree copies a module's files except its tests.
func copyTree(ctx context.Context, m *Module, to string, files map[string][]byte) error {
	err := filepath.WalkDir(m.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(m.Dir, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case !entry.Type().IsRegular() || strings.HasSuffix(name, "_test.go") || files[name] != nil:
			return nil
		}
		return copyFile(path, target)
	})
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(to, name), content, 0o600); err != nil {
			return err
		}
	}
	own := filepath.Join(to, "go.mod") // a module from before modules has none
	if _, err := os.Lstat(own); errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(own, []byte("module "+modfile.AutoQuote(m.Path)+"\n"), 0o600)
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// keep is how long an unused copy stays.
const keep = 30 * 24 * time.Hour

// forget removes copies that no build has used for long, and leftovers of killed builds.
func forget(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		most := keep
		if strings.HasPrefix(e.Name(), ".new-") {
			most = 24 * time.Hour
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > most {
			_ = os.RemoveAll(filepath.Join(parent, e.Name()))
		}
	}
}
