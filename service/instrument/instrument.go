// Package instrument puts hooks into the packages through which a service talks to
// its databases and to other services, while redline builds it: database/sql, pgx and
// its pool, net/http's transport, gRPC's client, go-redis; and into net/http's server and
// Hertz's router, which mark requests. With them each operation is
// known with its call site, its duration, its rows, its wait for a connection; without
// them redline has to infer which statement a wait belongs to, and has been wrong.
//
// The user's files do not change: the rewritten files reach the compiler through `go
// build -overlay`, or in a copy of their module. A function keeps its body and its lines
// under another name (redline_queryDC); a wrapper with its old name and signature, at the
// end of the same file, calls it between two hooks. The hooks are variables of the
// rewritten package and stay nil until the probe sets them, by linkname: the standard
// library cannot import the probe. Only values of basic types, and functions of those,
// cross that bridge.
//
// A package whose source lacks the expected functions, because it is an older or a newer
// version or a fork, is left as it is, with the reason.
//
// Rejected: a toolchain wrapper (-toolexec) recompiles everything whenever it changes
// and fights with other wrappers; uprobes cost 23 us per hit and cannot read Go maps;
// an OpenTelemetry SDK changes the measurement and must be configured by the user.
package instrument

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// Package is one dependency of the program to build, as reported by `go list -deps -json`.
type Package struct {
	ImportPath string
	Dir        string
	GoFiles    []string // names within Dir
	CgoFiles   []string
	Standard   bool
	Module     *Module // nil for the standard library
}

// Result holds the additions to the overlay of a build.
type Result struct {
	// Files holds the content of each virtual file by its absolute path.
	Files map[string][]byte
	// Done holds the import paths that are instrumented, sorted.
	Done []string
	// Left holds the packages that are known and could not be instrumented.
	Left []Left
}

// Left is a package that stays as it is, and why.
type Left struct{ ImportPath, Why string }

// AddedFile is the name of the file with the hooks in each instrumented package.
const AddedFile = "zz_redline_hooks.go"

// Overlay rewrites those of the packages that are known here. read returns a file's
// content by its absolute path. It returns an error only when a file that the go
// command listed cannot be read.
func Overlay(deps []Package, read func(path string) ([]byte, error)) (*Result, error) {
	r := &Result{Files: map[string][]byte{}}
	for _, dep := range deps {
		rule, known := rules[dep.ImportPath]
		if !known {
			continue
		}
		files, why, err := rewrite(dep, rule, read)
		if err != nil {
			return nil, fmt.Errorf("instrument %s: %w", dep.ImportPath, err)
		}
		if why != "" {
			r.Left = append(r.Left, Left{dep.ImportPath, why})
			continue
		}
		maps.Copy(r.Files, files)
		r.Done = append(r.Done, dep.ImportPath)
	}
	slices.Sort(r.Done)
	return r, nil
}

// rewrite returns the files of one package, or why there are none.
func rewrite(dep Package, rule rule, read func(string) ([]byte, error)) (files map[string][]byte, why string, err error) {
	if rule.name == "" {
		return nil, "", fmt.Errorf("the rule has no package name")
	}
	sources := map[string]*source{}
	for _, name := range dep.GoFiles {
		path := filepath.Join(dep.Dir, name)
		content, err := read(path)
		if err != nil {
			return nil, "", err
		}
		s, err := parse(path, content)
		if err != nil {
			return nil, fmt.Sprintf("%s cannot be parsed: %v", name, err), nil
		}
		sources[path] = s
	}
	if why := rule.apply(sources); why != "" {
		return nil, why, nil
	}
	files = map[string][]byte{filepath.Join(dep.Dir, AddedFile): []byte(rule.hooks())}
	for path, s := range sources {
		if s.changed() {
			files[path] = s.bytes()
		}
	}
	return files, "", nil
}
