package syntax

import (
	"fmt"
	"go/ast"
	"go/token"
)

// Function is where a function is declared, at the position that the compiler's remarks
// use: its name, or a literal's keyword.
type Function struct {
	Name         string // of the declaration; "function literal" for a literal
	Line, Column int
}

// Enclosing returns the innermost function around a line of a source file.
func Enclosing(file string, line int) (Function, error) {
	set, tree, err := parse(file)
	if err != nil {
		return Function{}, err
	}
	var found Function
	ast.Inspect(tree, func(n ast.Node) bool {
		if n == nil || set.Position(n.Pos()).Line > line || set.Position(n.End()).Line < line {
			return false
		}
		var at token.Position
		switch f := n.(type) {
		case *ast.FuncDecl:
			at, found.Name = set.Position(f.Name.Pos()), f.Name.Name
		case *ast.FuncLit:
			at, found.Name = set.Position(f.Pos()), "function literal"
		default:
			return true
		}
		found.Line, found.Column = at.Line, at.Column
		return true
	})
	if found.Line == 0 {
		return Function{}, fmt.Errorf("%s:%d is in no function", file, line)
	}
	return found, nil
}
