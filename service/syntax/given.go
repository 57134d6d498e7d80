package syntax

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// names are what identifiers mean within nested functions. Shadowing is not followed.
type names struct {
	parameters map[string]ast.Expr   // their types
	generic    map[string]bool       // type parameters
	assigned   map[string][]ast.Expr // what local variables are set to
	origins    map[string]origin     // of variables, as far as they were looked for
	following  map[string]bool       // the variables whose origin is being looked for
	sends      Sends
}

func newNames(around []ast.Node, sends Sends) names {
	n := names{map[string]ast.Expr{}, map[string]bool{}, map[string][]ast.Expr{}, map[string]origin{}, map[string]bool{}, sends}
	for _, f := range around {
		switch f := f.(type) {
		case *ast.FuncDecl:
			n.declare(f.Type)
			n.declareReceiver(f.Recv)
		case *ast.FuncLit:
			n.declare(f.Type)
		}
	}
	if len(around) > 0 {
		ast.Inspect(around[0], n.assign)
	}
	return n
}

func (n names) declare(f *ast.FuncType) {
	for _, field := range f.Params.List {
		for _, name := range field.Names {
			n.parameters[name.Name] = field.Type
		}
	}
	if f.TypeParams != nil {
		for _, field := range f.TypeParams.List {
			for _, name := range field.Names {
				n.generic[name.Name] = true
			}
		}
	}
}

// declareReceiver notes the type parameters of a method: T of "(r *Repository[T])".
func (n names) declareReceiver(list *ast.FieldList) {
	if list == nil {
		return
	}
	ast.Inspect(list, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.IndexExpr:
			n.declareGeneric(x.Index)
		case *ast.IndexListExpr:
			for _, index := range x.Indices {
				n.declareGeneric(index)
			}
		}
		return true
	})
}

func (n names) declareGeneric(index ast.Expr) {
	if name, ok := index.(*ast.Ident); ok {
		n.generic[name.Name] = true
	}
}

// assign notes what a node sets local variables to.
func (n names) assign(node ast.Node) bool {
	var left, right []ast.Expr
	switch s := node.(type) {
	case *ast.AssignStmt:
		left, right = s.Lhs, s.Rhs
	case *ast.ValueSpec:
		for _, name := range s.Names {
			left = append(left, name)
		}
		right = s.Values
	}
	for i, l := range left {
		if name, ok := l.(*ast.Ident); ok && len(right) > 0 {
			n.assigned[name.Name] = append(n.assigned[name.Name], right[min(i, len(right)-1)])
		}
	}
	return true
}

// relays reports whether a call passes on what the function was given.
func (n names) relays(c *ast.CallExpr) bool {
	for _, e := range append([]ast.Expr{c.Fun}, c.Args...) {
		if name, ok := e.(*ast.Ident); ok && n.function(name) {
			return true
		}
	}
	switch n.sends {
	case SendsMapped:
		return n.ofUnknownType(c) || n.prepared(c)
	case SendsRequest:
		return n.together(c.Args...) == given
	}
	// The text is the first argument that can be one. Its constants follow, which may be texts too.
	for _, arg := range c.Args {
		if o := n.origin(arg); o != neither {
			return o == given
		}
	}
	return n.preparedHere(c)
}

// preparedHere reports whether a call is a method of what the function made of a text that it was given: a prepared statement.
func (n names) preparedHere(c *ast.CallExpr) bool {
	method, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := method.X.(*ast.Ident)
	return ok && n.parameters[of.Name] == nil && len(n.assigned[of.Name]) > 0 && n.originOfName(of.Name) == given
}

// statesPath reports whether a call has a path or an address of its own among its arguments, to which nothing given is added: what it
// sends there may be given, but not where.
func (n names) statesPath(c *ast.CallExpr) bool {
	return slices.ContainsFunc(c.Args, func(arg ast.Expr) bool {
		states, adds := false, false
		ast.Inspect(arg, func(node ast.Node) bool {
			switch x := node.(type) {
			case *ast.Ident:
				adds = adds || n.parameters[x.Name] != nil
			case *ast.BasicLit:
				states = states || x.Kind == token.STRING && isPath(strings.Trim(x.Value, "\"`"))
			}
			return true
		})
		return states && !adds
	})
}

// isPath reports whether a text begins with a path, or with an address that has one.
func isPath(text string) bool {
	if _, after, scheme := strings.Cut(text, "://"); scheme {
		_, after, _ = strings.Cut(after, "/") // behind the host
		text = "/" + after
	}
	return len(text) > 1 && text[0] == '/' && text[1] != '%'
}

// function reports whether an identifier is a parameter that can be called.
func (n names) function(name *ast.Ident) bool {
	_, ok := n.parameters[name.Name].(*ast.FuncType)
	return ok
}

// ofUnknownType reports whether a call passes on a value whose type the function does not know, and
// states nothing itself.
func (n names) ofUnknownType(c *ast.CallExpr) bool {
	passes, states := false, false
	for _, arg := range c.Args {
		if name, ok := arg.(*ast.Ident); ok && n.unknown(n.parameters[name.Name]) {
			passes = true
		}
	}
	ast.Inspect(c, func(node ast.Node) bool {
		if lit, ok := node.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			states = true
		}
		return true
	})
	return passes && !states
}

// prepared reports whether an expression uses a prepared statement that the function was given.
func (n names) prepared(e ast.Expr) (given bool) {
	ast.Inspect(e, func(node ast.Node) bool {
		if field, ok := node.(*ast.SelectorExpr); ok {
			given = given || n.prepared(field.X)
			return false
		}
		if name, ok := node.(*ast.Ident); ok {
			if pointer, ok := n.parameters[name.Name].(*ast.StarExpr); ok {
				t, ok := pointer.X.(*ast.SelectorExpr)
				given = given || ok && t.Sel.Name == "Stmt"
			}
		}
		return true
	})
	return given
}

// unknown reports whether a type is any, or a type parameter.
func (n names) unknown(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.Ident:
		return t.Name == "any" || n.generic[t.Name]
	case *ast.StarExpr:
		return n.unknown(t.X)
	case *ast.ArrayType:
		return n.unknown(t.Elt)
	case *ast.InterfaceType:
		return len(t.Methods.List) == 0
	}
	return false
}
