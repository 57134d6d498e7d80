package syntax

import (
	"go/ast"
	"slices"
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
// function's own. Whoever states a path of its own, or calls in a loop, asks for the answer. Nor does a method state
// anything that only calls the one of its own name on a field of its receiver, as decorators do.
func Relays(file string, line int, sends Sends) (bool, error) {
	set, tree, err := parse(file)
	if err != nil {
		return false, err
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
	if sends != SendsRequest && delegates(around[len(around)-1]) { // a handler receives its request, and asks for what it sends
		return true, nil
	}
	if sends == SendsRequest && asksAgain(set, body, line) { // what is asked for again and again is asked for by who has the loop
		return false, nil
	}
	n := newNames(around, sends)
	relayed, own := false, false
	ast.Inspect(body, func(node ast.Node) bool {
		if node == nil || !covers(node) {
			return false
		}
		switch c := node.(type) {
		case *ast.FuncLit:
			return false // what it calls is at its own lines
		case *ast.CallExpr:
			relayed = relayed || n.relays(c)
			own = own || sends == SendsRequest && n.statesPath(c)
		}
		return true
	})
	return relayed && !own, nil
}

// delegates reports whether all that a method does is to call the method of its own name on a field of its receiver, with nothing
// but its parameters.
func delegates(function ast.Node) bool {
	m, ok := function.(*ast.FuncDecl)
	if !ok || m.Recv == nil || len(m.Body.List) != 1 {
		return false
	}
	var call ast.Expr
	switch s := m.Body.List[0].(type) {
	case *ast.ReturnStmt:
		if len(s.Results) == 1 {
			call = s.Results[0]
		}
	case *ast.ExprStmt:
		call = s.X
	}
	c, ok := call.(*ast.CallExpr)
	if !ok || slices.ContainsFunc(c.Args, isNoName) {
		return false
	}
	method, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != m.Name.Name {
		return false
	}
	field, ok := method.X.(*ast.SelectorExpr)
	if !ok || len(m.Recv.List[0].Names) != 1 {
		return false
	}
	receiver, ok := field.X.(*ast.Ident)
	return ok && receiver.Name == m.Recv.List[0].Names[0].Name
}

func isNoName(e ast.Expr) bool {
	_, name := e.(*ast.Ident)
	return !name
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
