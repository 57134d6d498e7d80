package lint

import (
	"path"
	"path/filepath"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/service/compiler"
)

// loops returns those of the lines that lie in a loop of their function. A line whose source
// is not at hand is left out.
func loops(lines []code.Frame, listed []compiler.Package, mainPkg string) []code.Frame {
	var in []code.Frame
	for _, f := range lines {
		pkg, _ := callstack.Split(f.Function)
		for _, p := range listed {
			if p.ImportPath != pkg && !mainOf(p, pkg, mainPkg) {
				continue
			}
			if loop, err := compiler.InLoop(filepath.Join(p.Dir, path.Base(f.File)), f.Line); err == nil && loop {
				in = append(in, f)
			}
			break
		}
	}
	return in
}

// mainOf reports whether a listed package is the main one that a frame's package means.
func mainOf(p compiler.Package, pkg, mainPkg string) bool {
	return p.Name == "main" && pkg == "main" && (mainPkg == "" || mainPkg == p.ImportPath)
}
