package syntax

import (
	"go/ast"
)

// CallSite is a call of a package's function in a source file.
type CallSite struct {
	In   string // the function around it as in stacks, without its package: "main", "(*Server).Start"; "init" outside of functions
	Line int
}

// Calls returns the calls of a function by its usual name, such as debug.SetGCPercent, in the order of their lines.
func Calls(file, pkg, function string) ([]CallSite, error) {
	set, tree, err := parse(file)
	if err != nil {
		return nil, err
	}
	var calls []CallSite
	for _, d := range tree.Decls {
		in := "init"
		if f, ok := d.(*ast.FuncDecl); ok {
			in = inStacks(f)
		}
		ast.Inspect(d, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s, ok := c.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == function {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
					calls = append(calls, CallSite{in, set.Position(c.Pos()).Line})
				}
			}
			return true
		})
	}
	return calls, nil
}

// inStacks returns a function's name as stacks have it, without its package.
func inStacks(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	t, pointer := f.Recv.List[0].Type, false
	if star, ok := t.(*ast.StarExpr); ok {
		t, pointer = star.X, true
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	name, ok := t.(*ast.Ident)
	switch {
	case !ok:
		return f.Name.Name
	case pointer:
		return "(*" + name.Name + ")." + f.Name.Name
	}
	return name.Name + "." + f.Name.Name
}
