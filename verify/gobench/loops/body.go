package loops

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// unused returns the results that a loop computes and never uses: calls as
// statements, assignments to blanks, and to variables that are only assigned. The
// compiler may then remove inlined work altogether, and the loop measures nothing.
func (r *reader) unused(body *ast.BlockStmt) (all []Position) {
	ast.Inspect(body, func(s ast.Node) bool {
		switch s := s.(type) {
		// What another function does with its results is its own matter.
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.ExprStmt:
			if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok && r.hasResult(call) {
				if _, timer := r.method(call, "B"); !timer {
					all = append(all, r.position(s))
				}
			}
		case *ast.AssignStmt:
			for _, left := range s.Lhs {
				if !r.forgotten(left) {
					return true
				}
			}
			all = append(all, r.position(s))
		}
		return true
	})
	return all
}

// hasResult reports whether a call is of a function that returns something.
func (r *reader) hasResult(call *ast.CallExpr) bool {
	tv, ok := r.info.Types[call]
	return ok && !tv.IsVoid() && !r.info.Types[call.Fun].IsBuiltin()
}

// forgotten reports whether an assigned expression is never read.
func (r *reader) forgotten(left ast.Expr) bool {
	id, ok := ast.Unparen(left).(*ast.Ident)
	if !ok {
		return false
	}
	if id.Name == "_" {
		return true
	}
	object := r.info.ObjectOf(id)
	v, ok := object.(*types.Var)
	// A field or a package variable outlives the loop: the compiler must keep what
	// is stored there.
	if !ok || v.IsField() || v.Pkg() == nil || v.Parent() == v.Pkg().Scope() {
		return false
	}
	return !r.reads(object)
}

// reads reports whether a local variable is used other than as the target of an
// assignment, or to silence the compiler with _ = x.
func (r *reader) reads(object types.Object) (read bool) {
	for _, f := range r.declared {
		if object.Pos() < f.Pos() || object.Pos() > f.End() {
			continue
		}
		silent := map[*ast.Ident]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for i, left := range a.Lhs {
				id, ok := ast.Unparen(left).(*ast.Ident)
				if !ok {
					continue
				}
				silent[id] = true
				if right := a.Rhs[min(i, len(a.Rhs)-1)]; id.Name == "_" {
					if id, ok := ast.Unparen(right).(*ast.Ident); ok {
						silent[id] = true
					}
				}
			}
			return true
		})
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && r.info.Uses[id] == object && !silent[id] {
				read = true
			}
			return !read
		})
	}
	return read
}

// constructor matches the names of functions that make a benchmark's input. Names
// are a guess, so a trap also needs the profile's share (insideSetUp).
var constructor = regexp.MustCompile(
	`(?i)^(new|make|set_?up|prepare|generate|gen|build|create|random|rand|load|readfile|fixture|mock|sample)`)

// prepares returns the values that a loop makes anew in every iteration though they
// do not depend on it, and then works on: x := newThing(size); x.Do(). Benchmarks
// of the constructor itself are left alone.
func (r *reader) prepares(n ast.Node, body *ast.BlockStmt) (all []Position) {
	for i, s := range body.List {
		a, ok := s.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE || len(a.Rhs) != 1 {
			continue
		}
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		if !ok || !r.constructs(call) || r.dependsOn(call, n) {
			continue
		}
		for _, later := range body.List[i+1:] {
			if r.worksOn(later, a.Lhs) {
				all = append(all, r.position(a))
				break
			}
		}
	}
	return all
}

// constructs reports whether a call makes input, by its name; not if the benchmark
// is named after it.
func (r *reader) constructs(call *ast.CallExpr) bool {
	name := ""
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	// A conversion is a call by syntax only.
	if r.info.Types[call.Fun].IsType() || !constructor.MatchString(name) {
		return false
	}
	return !strings.Contains(strings.ToLower(r.function), strings.ToLower(name))
}

// dependsOn reports whether an expression uses a variable declared in the loop, and
// so differs from iteration to iteration.
func (r *reader) dependsOn(e ast.Expr, n ast.Node) (depends bool) {
	ast.Inspect(e, func(x ast.Node) bool {
		if id, ok := x.(*ast.Ident); ok {
			if v, ok := r.info.Uses[id].(*types.Var); ok && n.Pos() <= v.Pos() && v.Pos() < e.Pos() {
				depends = true
			}
		}
		return !depends
	})
	return depends
}

// worksOn reports whether a statement passes the made value to a call, other than
// to close it.
func (r *reader) worksOn(s ast.Stmt, made []ast.Expr) (works bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		// Closing what was made belongs to making it: it is no work.
		if f, ok := call.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Close" || f.Sel.Name == "Stop" || f.Sel.Name == "Free") {
			return true
		}
		if _, timer := r.method(call, "B"); timer {
			return false
		}
		ast.Inspect(call, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				for _, m := range made {
					if m, ok := m.(*ast.Ident); ok && m.Name != "_" && r.info.Uses[id] == r.info.Defs[m] &&
						r.info.Defs[m] != nil && m.Name != "err" {
						works = true
					}
				}
			}
			return !works
		})
		return !works
	})
	return works
}
