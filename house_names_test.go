package redline_test

import (
	"go/ast"
	"testing"
)

// retired names stood for up to four things each; these are the words that took their
// places.
var retired = map[string]string{
	"tale": "slowest.Request", "tales": "slowest.Request", "told": "reported", "tell": "describe", "teller": "describer",
}

// TestRetiredNames: a name that was retired does not come back.
func TestRetiredNames(t *testing.T) {
	for _, s := range sources(t) {
		if s.foreign() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && retired[id.Name] != "" {
				t.Errorf("%s: %s is retired: take %s (docs/glossary.md)", s.set.Position(id.Pos()), id.Name, retired[id.Name])
			}
			return true
		})
	}
}
