package redline_test

import (
	"go/ast"
	"strings"
	"testing"
)

// TestEvidenceMakesNoFindings: what is derived from a record states figures; whether
// they are a cause is for the analyzers, which alone name findings.
func TestEvidenceMakesNoFindings(t *testing.T) {
	seen := 0
	for _, s := range sources(t) {
		if s.test() || !strings.HasPrefix(s.path, "diagnose/evidence/") {
			continue
		}
		seen++
		ast.Inspect(s.file, func(n ast.Node) bool {
			x, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := x.X.(*ast.Ident); ok && pkg.Name == "record" && strings.HasPrefix(x.Sel.Name, "Finding") {
				t.Errorf("%s names record.%s", s.set.Position(n.Pos()), x.Sel.Name)
			}
			return true
		})
	}
	if seen == 0 {
		t.Error("diagnose/evidence has no sources")
	}
}
