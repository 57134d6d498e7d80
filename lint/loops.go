package lint

import (
	"path"
	"path/filepath"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/service/compiler"
)

// that returns those of the lines of which the sources say a thing. A line whose source is not at
// hand is left out.
func that(says func(file string, line int) (bool, error), lines []code.Frame, listed []compiler.Package, mainPkg string) []code.Frame {
	var do []code.Frame
	for _, f := range lines {
		pkg, _ := callstack.Split(f.Function)
		for _, p := range listed {
			if p.ImportPath != pkg && !mainOf(p, pkg, mainPkg) {
				continue
			}
			if yes, err := says(filepath.Join(p.Dir, path.Base(f.File)), f.Line); err == nil && yes {
				do = append(do, f)
			}
			break
		}
	}
	return do
}

// mainOf reports whether a listed package is the main one that a frame's package means.
func mainOf(p compiler.Package, pkg, mainPkg string) bool {
	return p.Name == "main" && pkg == "main" && (mainPkg == "" || mainPkg == p.ImportPath)
}
