package syntax

import (
	"go/ast"
	"go/token"
	"slices"
)

// sameAgain are functions and methods that make the same of the same arguments, with which a client prepares each try.
var sameAgain = slices.Concat(bodies, []string{"NewRequest", "NewRequestWithContext", "Clone", "WithContext", "WithTimeout", "WithCancel",
	"WithDeadline", "WithValue"})

// asksAgain reports whether the loops around a line of the innermost function send something else each time. A loop that
// only sends the same again until it succeeds, as a client with retries does, asks for no more than its caller.
func asksAgain(set *token.FileSet, body *ast.BlockStmt, line int) bool {
	covers := func(n ast.Node) bool { return set.Position(n.Pos()).Line <= line && line <= set.Position(n.End()).Line }
	again := false
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil || !covers(n) {
			return false
		}
		switch loop := n.(type) {
		case *ast.FuncLit:
			return false // its calls are at its own lines
		case *ast.ForStmt:
			again = again || covers(loop.Body) && sendsOther(newTurns(loop.Body, loop.Init, asked(loop.Cond)), covers)
		case *ast.RangeStmt:
			again = again || covers(loop.Body) && sendsOther(newTurns(loop.Body, loop.Key, loop.Value), covers)
		}
		return true
	})
	return again
}

// turns are the turns of a loop, with the variables that differ from one to the next, as far as the source shows it.
type turns struct {
	body    *ast.BlockStmt
	changes map[string]bool
}

// newTurns returns the turns of a loop. Whatever its head names differs; parts that it does not have are nil.
func newTurns(body *ast.BlockStmt, head ...ast.Node) turns {
	t := turns{body, map[string]bool{}}
	for _, part := range head {
		if part == nil {
			continue
		}
		ast.Inspect(part, func(n ast.Node) bool {
			t.add(n)
			return true
		})
	}
	return t
}

// sendsOther reports whether a call at the nodes covered uses what differs, or what such a call returned the last time.
func sendsOther(t turns, covers func(ast.Node) bool) bool {
	for before := -1; before < len(t.changes); {
		before = len(t.changes)
		ast.Inspect(t.body, func(n ast.Node) bool {
			switch s := n.(type) {
			case *ast.AssignStmt:
				if slices.ContainsFunc(s.Rhs, func(r ast.Expr) bool { return covers(r) || t.differs(r) }) {
					for _, l := range s.Lhs {
						t.add(l)
					}
				}
			case *ast.UnaryExpr:
				if s.Op == token.AND {
					t.add(s.X) // something may be written to it
				}
			}
			return true
		})
	}
	other := false
	ast.Inspect(t.body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && covers(c) {
			other = other || t.names(c.Fun) || slices.ContainsFunc(c.Args, t.differs)
		}
		return true
	})
	return other
}

// asked returns the call that a loop's condition is, such as to a scanner, which then has something else; nil for any other condition.
func asked(condition ast.Expr) ast.Node {
	if c, ok := condition.(*ast.CallExpr); ok {
		return c
	}
	return nil
}

func (t turns) add(e ast.Node) {
	if name, ok := e.(*ast.Ident); ok && name.Name != "_" {
		t.changes[name.Name] = true
	}
}

// names reports whether an expression names what differs.
func (t turns) names(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		found = found || ok && t.changes[name.Name]
		return !found
	})
	return found
}

// differs reports whether an expression may be another in each turn: it uses what differs, receives from a channel, or calls what may
// return something else each time.
func (t turns) differs(e ast.Expr) (found bool) {
	if found = t.names(e); found {
		return true
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.UnaryExpr:
			found = found || x.Op == token.ARROW
		case *ast.CallExpr:
			found = found || !slices.Contains(sameAgain, called(x))
		}
		return !found
	})
	return found
}

// called returns the name of the function or method that a call calls; "" where it has none.
func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
