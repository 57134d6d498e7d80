package probe

import (
	"bytes"
	"fmt"
	"go/version"
	"io/fs"
	"path"
	"strings"
)

// Dir is where the probe's packages land, relative to the root of the module
// that they are injected into. It is internal to the module, so that every
// main package of the module may import them and nothing outside it may.
const Dir = "internal/redlineprobe"

// AutoDir is the package below the module's root whose import starts the probe.
const AutoDir = Dir + "/auto"

// MainFile is the name of the file that Main returns the content of. It sorts
// last, so the target's own package documentation stays first.
const MainFile = "zz_redline_probe.go"

// importPrefix is how the probe's packages import each other here.
const importPrefix = `"github.com/redline-go/redline/probe/`

// Files returns the probe's source for injection into the module with the
// given path: file name relative to the module's root, with slashes, to
// content with the import paths rewritten. Tests are left out.
func Files(modulePath string) (map[string][]byte, error) {
	if err := checkModulePath(modulePath); err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	prefix := `"` + modulePath + "/" + Dir + "/"
	err := fs.WalkDir(Source, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		content, err := Source.ReadFile(name)
		if err != nil {
			return err
		}
		files[path.Join(Dir, name)] = bytes.ReplaceAll(content, []byte(importPrefix), []byte(prefix))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the probe's source: %w", err)
	}
	return files, nil
}

// language is the oldest language version that the probe is written in.
const language = "go1.17"

// ForOld returns a Go file for a module of an older language version, of which go.mod says go 1.12 or nothing: a build
// constraint raises the version of a file, and keeps its other conditions.
func ForOld(content []byte) []byte {
	const mark = "//go:build "
	if rest, found := bytes.CutPrefix(content, []byte(mark)); found {
		condition, after, _ := bytes.Cut(rest, []byte("\n"))
		return fmt.Appendf(nil, "%s(%s) && %s\n%s", mark, condition, language, after)
	}
	return fmt.Appendf(nil, "%s%s\n\n%s", mark, language, content)
}

// Old reports whether the go line of a go.mod, as in "1.12", asks for a language in which the probe does not compile.
// Without one it is that of Go 1.16.
func Old(goLine string) bool {
	return goLine == "" || version.Compare("go"+goLine, language) < 0
}

// Main returns the content of MainFile: a file of package main that imports
// the probe for its side effect. It belongs beside the main package's other files.
func Main(modulePath string) ([]byte, error) {
	if err := checkModulePath(modulePath); err != nil {
		return nil, err
	}
	return []byte("package main\n\nimport _ \"" + modulePath + "/" + AutoDir + "\"\n"), nil
}

// checkModulePath refuses what would not stay inside an import's quotes.
func checkModulePath(p string) error {
	if p == "" {
		return fmt.Errorf("inject the probe: the program belongs to no module (run `go mod init` in its directory)")
	}
	for _, r := range p {
		if r <= ' ' || r == '"' || r == '\\' || r == '`' || r == 0x7f {
			return fmt.Errorf("inject the probe: %q is not a module path", p)
		}
	}
	return nil
}
