package instrument

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
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
// rewritten files, and substituted by a go.mod or go.work for this build only; a Go
// toolchain that lies there is copied too, and runs from the copy. A copy
// keeps its folder's name from build to build, so that the build cache recognises it.
func (r *Result) Setup(ctx context.Context, deps []Package, p Layout) (*Setup, error) {
	s := &Setup{Files: map[string][]byte{}}
	cached := map[*Module]map[string][]byte{}
	byDir := map[string]*Module{}
	for _, dep := range deps {
		m := dep.Module
		if dep.Standard {
			m = toolchainOf(p.ModCache, dep.Dir)
		}
		if m != nil && slices.Contains(r.Done, dep.ImportPath) && within(p.ModCache, dep.Dir) {
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
		if m.Path == toolchain {
			if err := s.runFrom(dir, m.Version); err != nil {
				return nil, fmt.Errorf("copy the Go toolchain: %w", err)
			}
			continue
		}
		replace[m.Path] = dir
	}
	if len(replace) == 0 {
		return s, nil
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
