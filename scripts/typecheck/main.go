// Command typecheck type-checks packages and their tests from their sources. It finds what the compiler would refuse
// without compiling what they import: for another system, or for programs that only a bench builds, that takes minutes of
// CPU on a machine that has built nothing yet.
//
//	GOOS=darwin GOARCH=arm64 typecheck ./...
package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/tools/go/packages" // sources with their types, by the go command's own rules
)

func main() {
	os.Exit(check(os.Stderr, "", os.Args[1:]))
}

// check reports to w what is wrong with the packages that match the patterns, as the go command sees them from dir, and
// returns the exit code. What they import is taken to be right. Without cgo, so that no C compiler runs.
func check(w io.Writer, dir string, patterns []string) int {
	found, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedCompiledGoFiles |
			packages.NeedTypes | packages.NeedSyntax,
		Dir:   dir,
		Env:   append(os.Environ(), "CGO_ENABLED=0"),
		Tests: true,
	}, patterns...)
	if err != nil {
		fmt.Fprintln(w, "typecheck:", err)
		return 2
	}
	code := 0
	printed := map[string]bool{} // a file belongs to its package and to the package with its tests
	for _, p := range found {
		for _, err := range p.Errors {
			code = 1
			if text := err.Error(); !printed[text] {
				printed[text] = true
				fmt.Fprintln(w, text)
			}
		}
	}
	if len(found) == 0 {
		fmt.Fprintln(w, "typecheck: no packages match", patterns)
		code = 2
	}
	return code
}
