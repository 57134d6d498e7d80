package instrument

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// toolchain is the module as which the go command downloads toolchains that a go.mod or GOTOOLCHAIN asks for
// (go.dev/doc/toolchain).
const toolchain = "golang.org/toolchain"

// toolchainOf returns the toolchain in the module cache whose standard library a folder belongs to; nil for one that lies elsewhere,
// whose files an overlay may replace.
func toolchainOf(modCache, dir string) *Module {
	rel, err := filepath.Rel(modCache, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	rest, ok := strings.CutPrefix(filepath.ToSlash(rel), toolchain+"@")
	version, _, below := strings.Cut(rest, "/")
	if !ok || !below {
		return nil
	}
	return &Module{Path: toolchain, Version: version, Dir: filepath.Join(modCache, filepath.FromSlash(toolchain)+"@"+version)}
}

// runFrom makes the build run the toolchain of a version from a copy: the go command looks for the toolchain that GOTOOLCHAIN names in
// PATH before it downloads one.
func (s *Setup) runFrom(dir, version string) error {
	name, ok := strings.CutPrefix(version, "v0.0.1-") // v0.0.1-go1.22.12.linux-amd64
	i := strings.LastIndexByte(name, '.')
	if !ok || i < 0 {
		return fmt.Errorf("unknown version %s", version)
	}
	name = name[:i]
	bin := filepath.Join(dir, "bin")
	if err := os.Symlink("go", filepath.Join(bin, name)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	s.Env = append(s.Env, "GOTOOLCHAIN="+name, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return nil
}
