// Package syntax reads a service's source for what stacks do not say about a line: that it lies in a loop,
// only passes on what its function was given, searches, filters, or computes what a logger gets. It sees
// one file at a time and no types, so it builds nothing and needs no dependency of the service; what it
// cannot follow, it does not claim.
package syntax

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
)

// parse reads a source file with its comments.
func parse(file string) (*token.FileSet, *ast.File, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, nil, fmt.Errorf("parse %s: %w", file, err)
	}
	return set, tree, nil
}
