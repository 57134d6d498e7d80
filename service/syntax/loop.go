package syntax

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
)

// Generated reports whether a source file says that a program wrote it.
func Generated(file string, _ int) (bool, error) {
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		return false, fmt.Errorf("parse %s: %w", file, err)
	}
	return ast.IsGenerated(tree), nil
}

// InLoop reports whether a line of a source file is in the body of a loop of the innermost
// function around it.
func InLoop(file string, line int) (bool, error) { return inLoop(file, line, true) }

// Iterates reports the same of loops that end by themselves. One without a condition often serves a connection, or a queue.
func Iterates(file string, line int) (bool, error) { return inLoop(file, line, false) }

func inLoop(file string, line int, endless bool) (bool, error) {
	set, tree, err := parse(file)
	if err != nil {
		return false, err
	}
	at := func(p token.Pos) int { return set.Position(p).Line }
	in := false
	within := func(body *ast.BlockStmt) bool {
		from, to := at(body.Lbrace), at(body.Rbrace)
		return from == line && to == line || from < line && line < to // what a loop goes through is asked for once
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if n == nil || at(n.Pos()) > line || at(n.End()) < line {
			return false
		}
		switch f := n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			in = false
		case *ast.ForStmt:
			in = in || (endless || f.Cond != nil) && within(f.Body)
		case *ast.RangeStmt:
			in = in || within(f.Body)
		}
		return true
	})
	return in, nil
}
