package compiler

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
)

// Sends is what a line calls.
type Sends int

// What a line may call.
const (
	SendsText    Sends = iota // a database handle's method that takes a statement's text, or another relay of it
	SendsMapped               // a library that makes the statement itself, such as an object mapper
	SendsRequest              // an HTTP client, or another relay of a request
)

// Relays reports whether a line of a source file only passes on what its function was given: the text of
// a statement or what it was prepared to, the function that sends it, or, in an object mapper's call, a
// value whose type the function does not know; or a request or its path. Who called it asks for the
// statement or the answer. Generated code states no more than it was given either, except for texts of
// statements, such as sqlc's. It reads the source without types, so what it cannot follow counts as the
// function's own.
func Relays(file string, line int, sends Sends) (bool, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return false, fmt.Errorf("parse %s: %w", file, err)
	}
	covers := func(n ast.Node) bool {
		return set.Position(n.Pos()).Line <= line && line <= set.Position(n.End()).Line
	}
	around, body := functionsAround(tree, covers)
	if body == nil {
		return false, nil
	}
	if sends != SendsText && ast.IsGenerated(tree) {
		return true, nil
	}
	n := newNames(around, sends)
	relayed := false
	ast.Inspect(body, func(node ast.Node) bool {
		if node == nil || !covers(node) {
			return false
		}
		switch c := node.(type) {
		case *ast.FuncLit:
			return false // what it calls is at its own lines
		case *ast.CallExpr:
			relayed = relayed || n.relays(c)
		}
		return true
	})
	return relayed, nil
}

// functionsAround returns the functions around a line, outermost first, and the body of the innermost.
func functionsAround(tree *ast.File, covers func(ast.Node) bool) (around []ast.Node, body *ast.BlockStmt) {
	ast.Inspect(tree, func(n ast.Node) bool {
		if n == nil || !covers(n) {
			return false
		}
		switch f := n.(type) {
		case *ast.FuncDecl:
			around, body = append(around, f), f.Body
		case *ast.FuncLit:
			around, body = append(around, f), f.Body
		}
		return true
	})
	return around, body
}
