package syntax

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// origin is where a statement's text, or a request, comes from. Of several together the largest counts.
type origin int

const (
	neither origin = iota // a context, a destination, a number
	part                  // text that does not say what it is about
	given
	own
)

const (
	quotes = "[\\\\\"`\\[\\]]*" // of a name in a statement, or of the literal
	hole   = "%[sqv]" + quotes  // for a name in a format
)

var (
	// ofTable matches text that says which table it is about.
	ofTable = regexp.MustCompile("(?i)\\b(from|into|update|join|table)\\s+[\"`\\[]?[a-z_]")
	// ofGivenTable matches a statement of which only the table's name is left open: whoever states it could add a
	// condition, and who gives the name cannot.
	ofGivenTable = regexp.MustCompile("(?is)^[\"`]\\s*(?:(?:select|insert|delete|replace|with)\\b[^%]*\\b(?:from|into|join)|update)\\s+" +
		"(?:" + quotes + "$|" + quotes + hole + "(?:\\." + quotes + hole + ")?(?:[^%]|%d)*$)")
	// ofPath matches text that says which path a request is for.
	ofPath = regexp.MustCompile("^[\"`](%[sv])*(/[^%\"`]|[a-z]+://[^%\"`]|\\?[^%\"`])")
)

// origin returns where an expression comes from, as far as it may be a statement's text or a request.
func (n names) origin(e ast.Expr) origin {
	switch e := e.(type) {
	case *ast.BasicLit:
		return n.originOfLiteral(e)
	case *ast.ParenExpr:
		return n.origin(e.X)
	case *ast.BinaryExpr:
		return n.together(e.X, e.Y)
	case *ast.SelectorExpr:
		return n.originOfField(e)
	case *ast.Ident:
		return n.originOfName(e.Name)
	case *ast.CallExpr:
		return n.originOfResult(e)
	}
	return neither
}

// together is own if any of the expressions is. A text with given columns or conditions of a given table is given.
func (n names) together(list ...ast.Expr) (all origin) {
	for _, e := range list {
		all = max(all, n.origin(e))
	}
	return all
}

func (n names) originOfLiteral(lit *ast.BasicLit) origin {
	about := ofTable
	if n.sends == SendsRequest {
		about = ofPath
	}
	switch {
	case lit.Kind != token.STRING:
		return neither
	case about.MatchString(lit.Value), n.sends != SendsRequest && ofGivenTable.MatchString(lit.Value):
		return own
	}
	return part
}

func (n names) originOfName(name string) origin {
	if t, ok := n.parameters[name]; ok {
		return n.originOfParameter(t)
	}
	if values := n.assigned[name]; len(values) > 0 {
		if n.following[name] {
			return neither // "q = q + order" says nothing more of q
		}
		if known, ok := n.origins[name]; ok {
			return known
		}
		n.following[name] = true
		n.origins[name] = n.together(values...)
		delete(n.following, name)
		return n.origins[name]
	}
	if name == "nil" || name == "true" || name == "false" || isContext(name) || isHandle(name) {
		return neither
	}
	return n.originOfMember(name)
}

// originOfParameter is given for a text, and for a request or an address where one is sent.
func (n names) originOfParameter(t ast.Expr) origin {
	if pointer, ok := t.(*ast.StarExpr); ok {
		t = pointer.X
	}
	switch t := t.(type) {
	case *ast.Ident:
		if t.Name == "string" {
			return given
		}
	case *ast.SelectorExpr:
		// What a handler receives is its input: it decides whom it asks.
		if n.sends == SendsRequest && (t.Sel.Name == "Request" && !n.handles() || t.Sel.Name == "URL") {
			return given
		}
	}
	return neither
}

// handles reports whether the function answers requests: it has an http.ResponseWriter.
func (n names) handles() bool {
	for _, t := range n.parameters {
		if t, ok := t.(*ast.SelectorExpr); ok && t.Sel.Name == "ResponseWriter" {
			return true
		}
	}
	return false
}

// originOfMember is own for what a package or a receiver holds, but not for the address of a server.
func (n names) originOfMember(name string) origin {
	if n.sends == SendsRequest && isAddress(name) {
		return part
	}
	return own
}

// originOfField is given for a field of a parameter: a query with its text and arguments.
func (n names) originOfField(e *ast.SelectorExpr) origin {
	if isContext(e.Sel.Name) || isHandle(e.Sel.Name) {
		return neither
	}
	if root, ok := e.X.(*ast.Ident); ok {
		if n.parameters[root.Name] != nil {
			return given
		}
		if root.Name == "http" && strings.HasPrefix(e.Sel.Name, "Method") {
			return part
		}
	}
	return n.originOfMember(e.Sel.Name)
}

// originOfResult is given for what changes a given text or request, and for what a given builder returns.
func (n names) originOfResult(c *ast.CallExpr) origin {
	o := n.together(c.Args...)
	switch f := c.Fun.(type) {
	case *ast.Ident:
		if slices.Contains([]string{"new", "make", "len"}, f.Name) || isHandle(f.Name) {
			return neither
		}
	case *ast.SelectorExpr:
		root, _ := f.X.(*ast.Ident)
		if isContext(f.Sel.Name) || isHandle(f.Sel.Name) || root != nil && root.Name == "context" {
			return neither
		}
		if n.sends == SendsRequest && slices.Contains(bodies, f.Sel.Name) {
			return part // what is sent, not where
		}
		if root != nil && n.parameters[root.Name] != nil && len(c.Args) == 0 {
			return given
		}
		if root != nil && n.following[root.Name] {
			return o
		}
		if root != nil && len(n.assigned[root.Name]) > 0 {
			o = max(o, n.originOfName(root.Name))
		}
	}
	if o == given {
		return given
	}
	return own
}

// bodies are the functions that make a request's body.
var bodies = []string{"NewReader", "NewBuffer", "NewBufferString", "NopCloser"}

func isContext(name string) bool {
	name = strings.ToLower(name)
	return name == "ctx" || name == "context" || strings.HasSuffix(name, "ctx") || name == "background" || name == "todo"
}

// handles are the words with which names of what sends statements and requests end.
var handles = []string{"db", "tx", "conn", "pool", "client", "session", "database"}

// isHandle reports whether a name is that of what sends: "r.db" says nothing of what is sent.
func isHandle(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc(handles, func(word string) bool {
		at := len(name) - len(word)
		return strings.HasSuffix(lower, word) && (at == 0 || unicode.IsUpper(rune(name[at])))
	})
}

// isAddress reports whether a name is that of a server's address, without a path.
func isAddress(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"base", "host", "addr", "url", "endpoint", "server", "root"},
		func(word string) bool { return strings.Contains(name, word) })
}
