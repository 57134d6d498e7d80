package syntax

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Searches reports whether a line of a source file decides which element of a collection is wanted, in a range loop of the
// innermost function around it that returns or keeps an element where a condition holds. The
// line is in the condition, or in a statement before it that sets what the condition uses. A loop that ends at an error, or at the
// first element that fails a check, searches for none. So does a loop within another one that looks for elements which equal an
// element of that, whatever it does with them. Searches reads the source without types.
func Searches(file string, line int) (bool, error) {
	return decides(file, line, func(loop *ast.RangeStmt, around []*ast.RangeStmt) []ast.Node {
		return append(deciding(loop, takes), joining(loop, around)...)
	})
}

// Filters is Searches for loops that add each element for which the condition holds to others.
func Filters(file string, line int) (bool, error) {
	return decides(file, line, func(loop *ast.RangeStmt, _ []*ast.RangeStmt) []ast.Node { return deciding(loop, adds) })
}

// wants reports whether statements do what a loop does only for elements that are wanted.
type wants func(list []ast.Stmt, element func(string) bool) bool

// decides reports whether a line is in what decides, in a loop within those around it in the same function.
func decides(file string, line int, by func(loop *ast.RangeStmt, around []*ast.RangeStmt) []ast.Node) (bool, error) {
	set, tree, err := parse(file)
	if err != nil {
		return false, err
	}
	covers := func(n ast.Node) bool {
		return set.Position(n.Pos()).Line <= line && line <= set.Position(n.End()).Line
	}
	var around []*ast.RangeStmt
	found := false
	ast.Inspect(tree, func(n ast.Node) bool {
		if n == nil || !covers(n) {
			return false
		}
		switch f := n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			found, around = false, nil
		case *ast.RangeStmt:
			found = found || slices.ContainsFunc(by(f, around), covers)
			around = append(around, f)
		}
		return true
	})
	return found, nil
}

// deciding returns what in a loop's body decides whether an element is the one that is searched for.
func deciding(loop *ast.RangeStmt, wanted wants) (list []ast.Node) {
	element := madeOf(loop)
	for i, s := range loop.Body.List {
		test, ok := s.(*ast.IfStmt)
		switch {
		case !ok:
			continue
		case skips(test): // what follows is done for the elements that are wanted
			if !wanted(loop.Body.List[i+1:], element) {
				continue
			}
		case fails(test) || !wanted(test.Body.List, element):
			continue
		}
		if test.Init != nil {
			list = append(list, test.Init)
		}
		list = append(list, test.Cond)
		used := []ast.Node{test.Cond}
		for _, before := range slices.Backward(loop.Body.List[:i]) {
			set := among(assigned(before)...)
			if slices.ContainsFunc(used, func(n ast.Node) bool { return mentions(n, set) }) {
				list, used = append(list, before), append(used, before)
			}
		}
	}
	return list
}

// joining returns the conditions in a loop's body that hold for elements which equal one of a loop around it, in whose elements it does
// not look itself. Passing over the equal one joins nothing.
func joining(loop *ast.RangeStmt, around []*ast.RangeStmt) (list []ast.Node) {
	element := madeOf(loop)
	for _, s := range loop.Body.List {
		test, ok := s.(*ast.IfStmt)
		if !ok || aboutErrors(test) || !mentions(test.Cond, element) || !compares(test.Cond, !skips(test)) {
			continue
		}
		if slices.ContainsFunc(around, func(o *ast.RangeStmt) bool {
			other := madeOf(o)
			return mentions(test.Cond, other) && !mentions(loop.X, other)
		}) {
			list = append(list, test.Cond)
		}
	}
	return list
}

// compares reports whether a condition asks if two values are equal, or if they are not: by an operator, or by a function such as
// bytes.Equal.
func compares(cond ast.Expr, equal bool) (found bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				found = found || compares(n.X, !equal)
				return false
			}
		case *ast.BinaryExpr:
			found = found || n.Op == map[bool]token.Token{true: token.EQL, false: token.NEQ}[equal]
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			found = found || equal && ok && strings.HasPrefix(f.Sel.Name, "Equal")
		}
		return !found
	})
	return found
}

// madeOf returns whether a name is of a loop's element, or of something that its body makes of one.
func madeOf(loop *ast.RangeStmt) func(string) bool {
	list := []ast.Expr{loop.Key, loop.Value}
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if ok && a.Tok == token.DEFINE && slices.ContainsFunc(a.Rhs, func(e ast.Expr) bool { return mentions(e, among(list...)) }) {
			list = append(list, a.Lhs...)
		}
		return true
	})
	return among(list...)
}

// skips reports whether a test passes over an element, and is not about an error.
func skips(test *ast.IfStmt) bool {
	if len(test.Body.List) != 1 || test.Else != nil || aboutErrors(test) {
		return false
	}
	branch, ok := test.Body.List[0].(*ast.BranchStmt)
	return ok && branch.Tok == token.CONTINUE
}

// assigned returns what a statement sets, or others within it.
func assigned(s ast.Stmt) (set []ast.Expr) {
	ast.Inspect(s, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			set = append(set, a.Lhs...)
		}
		return true
	})
	return set
}

// among returns whether a name is one of those in a list.
func among(list ...ast.Expr) func(string) bool {
	var names []string
	for _, e := range list {
		if name, ok := e.(*ast.Ident); ok && name.Name != "_" {
			names = append(names, name.Name)
		}
	}
	return func(name string) bool { return slices.Contains(names, name) }
}

// fails reports whether a test is a check that an element failed: it is negated, or about an error.
func fails(test *ast.IfStmt) bool {
	not, ok := test.Cond.(*ast.UnaryExpr)
	return ok && not.Op == token.NOT || aboutErrors(test)
}

func aboutErrors(test *ast.IfStmt) bool {
	return mentions(test, func(name string) bool { return strings.Contains(strings.ToLower(name), "err") })
}

// mentions reports whether a node contains an identifier of the given kind.
func mentions(n ast.Node, kind func(string) bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		found = found || ok && kind(name.Name)
		return !found
	})
	return found
}

// takes reports whether statements return an element, or true, or keep it in a variable and end the loop.
func takes(list []ast.Stmt, element func(string) bool) bool {
	keeps := false
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ReturnStmt:
			return slices.ContainsFunc(s.Results, func(e ast.Expr) bool {
				name, ok := e.(*ast.Ident)
				return ok && name.Name == "true" || mentions(e, element)
			})
		case *ast.AssignStmt:
			keeps = keeps || slices.ContainsFunc(s.Rhs, func(e ast.Expr) bool { return mentions(e, element) })
		case *ast.BranchStmt:
			return keeps && s.Tok == token.BREAK
		}
	}
	return false
}

// adds reports whether statements, or some of them, add an element to a list.
func adds(list []ast.Stmt, element func(string) bool) (added bool) {
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			added = added || ok && slices.ContainsFunc(a.Rhs, func(e ast.Expr) bool {
				c, ok := e.(*ast.CallExpr)
				return ok && mentions(c.Fun, func(name string) bool { return name == "append" }) && mentions(c, element)
			})
			return !added
		})
	}
	return added
}
