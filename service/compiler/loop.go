package compiler

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
// function around it. A loop that ends at its first success is none: it tries one after another, and mostly once.
func InLoop(file string, line int) (bool, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return false, fmt.Errorf("parse %s: %w", file, err)
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
			in = in || within(f.Body) && !tries(f.Body)
		case *ast.RangeStmt:
			in = in || within(f.Body) && !tries(f.Body)
		}
		return true
	})
	return in, nil
}

// tries reports whether a loop's body leaves the loop without a condition, or where something (an error) is nil.
func tries(body *ast.BlockStmt) bool {
	if leaves(body) {
		return true
	}
	for _, s := range body.List {
		test, ok := s.(*ast.IfStmt)
		if !ok || !leaves(test.Body) {
			continue
		}
		if is, ok := test.Cond.(*ast.BinaryExpr); ok && is.Op == token.EQL && isNil(is.Y) {
			return true
		}
	}
	return false
}

// leaves reports whether statements end by leaving the loop around them.
func leaves(body *ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	switch last := body.List[len(body.List)-1].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.BranchStmt:
		return last.Tok == token.BREAK && last.Label == nil
	}
	return false
}

func isNil(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && name.Name == "nil"
}
