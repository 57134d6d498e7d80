package compiler

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
)

// HandsOn reports whether the call at a line of a source file is given the caller's own words: the
// function around it passes on a parameter of type string and, behind it, one with the values that
// belong to it ("f(query, args...)"). Such a function stands for what it calls.
func HandsOn(file string, line int) (bool, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return false, fmt.Errorf("parse %s: %w", file, err)
	}
	at := func(p token.Pos) int { return set.Position(p).Line }
	var texts, lists []string // parameters of the function around the line, and of those around that
	on := false
	ast.Inspect(tree, func(n ast.Node) bool {
		if n == nil || at(n.Pos()) > line || at(n.End()) < line {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			texts, lists = parameters(n.Type)
		case *ast.FuncLit:
			text, list := parameters(n.Type)
			texts, lists = append(texts, text...), append(lists, list...)
		case *ast.CallExpr:
			on = on || passes(n, texts, lists)
		}
		return true
	})
	return on, nil
}

// parameters returns the names of a function's parameters that are strings, and of those that are lists.
func parameters(f *ast.FuncType) (texts, lists []string) {
	for _, field := range f.Params.List {
		for _, name := range field.Names {
			switch t := field.Type.(type) {
			case *ast.Ident:
				if t.Name == "string" {
					texts = append(texts, name.Name)
				}
			case *ast.Ellipsis, *ast.ArrayType:
				lists = append(lists, name.Name)
			}
		}
	}
	return texts, lists
}

// passes reports whether a call spreads one of the lists behind one of the texts, or behind what
// another function makes of the text.
func passes(call *ast.CallExpr, texts, lists []string) bool {
	last := len(call.Args) - 1
	if last < 1 || call.Ellipsis == token.NoPos || !among(call.Args[last], lists) {
		return false
	}
	text := call.Args[last-1]
	if made, ok := text.(*ast.CallExpr); ok {
		return slices.ContainsFunc(made.Args, func(a ast.Expr) bool { return among(a, texts) })
	}
	return among(text, texts)
}

func among(e ast.Expr, names []string) bool {
	name, ok := e.(*ast.Ident)
	return ok && slices.Contains(names, name.Name)
}
