package loops

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages" // sources with their types, by the go command's own rules
)

// Loop is a benchmark's measuring loop, as its source has it. Read makes them.
type Loop struct {
	function string // of the declaration it is reached from: "BenchmarkEncode"
	// name matches the benchmarks that the loop may be of. The argument of b.Run may
	// be computed, and then any name fits.
	name *regexp.Regexp
	Kind Kind
	File string
	Line int
	// Dropped are results that the loop computes and never uses; of Counted only.
	Dropped []Position
	// Before is timed work before the loop, not of Kept; Inside prepares each
	// iteration.
	Before, Inside []Position
}

// Of reports whether the loop may be that of a benchmark: of a declared function
// ("BenchmarkEncode") and with a name as benchfmt has it ("Encode/big"). Several
// loops may be, where names are computed.
func (l Loop) Of(function, name string) bool {
	return l.function == function && l.name.MatchString(name)
}

// Where is the loop's place in words: "codec_test.go:12".
func (l Loop) Where() string { return Position{File: l.File, From: l.Line}.String() }

// Position is a piece of source: File as the compiler names it, lines from From to To,
// and the call in it as Text ("codec.Encode"); empty if there is none.
type Position struct {
	File     string
	From, To int
	Text     string
}

func (p Position) String() string { return fmt.Sprintf("%s:%d", filepath.Base(p.File), p.From) }

// Kind is what counts a loop's iterations.
type Kind int

// Kinds of loops.
const (
	Counted  Kind = iota // up to b.N
	Kept                 // b.Loop: keeps results alive and times the loop alone
	Parallel             // pb.Next in b.RunParallel
)

// Read finds the measuring loops in packages' tests, by the import path of
// the package under test. Packages that cannot be read are left out; the error is
// for none at all. Types are needed, not only syntax: what a *testing.B is, and
// what a call returns, is not in the text.
func Read(ctx context.Context, dir, tags string, patterns []string) (loops map[string][]Loop, err error) {
	config := &packages.Config{
		Context: ctx, Dir: dir, Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedForTest |
			packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedTypesSizes,
	}
	if tags != "" {
		config.BuildFlags = []string{"-tags=" + tags}
	}
	list, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, fmt.Errorf("read the sources: %w", err)
	}
	loops = map[string][]Loop{}
	for _, p := range list {
		// Only packages as compiled for their tests have the _test.go files.
		if p.ForTest == "" || p.TypesInfo == nil {
			continue
		}
		r := &reader{set: p.Fset, info: p.TypesInfo, declared: map[types.Object]*ast.FuncDecl{}}
		for _, file := range p.Syntax {
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
					r.declared[p.TypesInfo.Defs[f.Name]] = f
				}
			}
		}
		for _, f := range r.declared {
			if f.Recv == nil && strings.HasPrefix(f.Name.Name, "Benchmark") && strings.HasSuffix(r.file(f), "_test.go") {
				r.function = f.Name.Name
				var pending []Position
				r.block(f.Body, strings.TrimPrefix(f.Name.Name, "Benchmark"), &pending, 0)
			}
		}
		loops[p.ForTest] = append(loops[p.ForTest], r.found...)
	}
	return loops, nil
}

// reader walks the benchmarks of a package and collects their loops in found.
type reader struct {
	set      *token.FileSet
	info     *types.Info
	declared map[types.Object]*ast.FuncDecl
	function string
	found    []Loop
}

func (r *reader) file(n ast.Node) string { return r.set.Position(n.Pos()).Filename }

func (r *reader) position(n ast.Node) Position {
	from, to := r.set.Position(n.Pos()), r.set.Position(n.End())
	return Position{from.Filename, from.Line, to.Line, r.words(n)}
}

// words names the first call in a piece of source; "" if there is none.
func (r *reader) words(n ast.Node) string {
	text := ""
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && text == "" {
			if tv := r.info.Types[call.Fun]; !tv.IsType() {
				text = types.ExprString(call.Fun)
			}
		}
		return text == ""
	})
	return text
}

// deepest bounds how far helpers are followed; a recursive helper would be followed
// for ever.
const deepest = 8

// block walks statements in the order in which they run; pending is what has been
// timed so far and would be in the loop's figure. Branches are all walked, as if
// all ran.
func (r *reader) block(n ast.Node, name string, pending *[]Position, depth int) {
	if depth > deepest {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			if kind, ok := r.counts(n.Cond); ok {
				r.loop(n, n.Body, kind, name, *pending)
				return false
			}
			if !r.mentionsB(n.Body) {
				*pending = append(*pending, r.position(n))
			}
		case *ast.RangeStmt:
			if r.isN(n.X) {
				r.loop(n, n.Body, Counted, name, *pending)
				return false
			}
			if !r.mentionsB(n.Body) {
				*pending = append(*pending, r.position(n))
			}
		case *ast.FuncLit:
			return false // it runs when it is called
		case *ast.DeferStmt, *ast.GoStmt:
			return false
		case *ast.CallExpr:
			return r.call(n, name, pending, depth)
		}
		return true
	})
}

// call handles a call outside of the loop, and reports whether to look into its
// arguments. Timers reset what is pending; what takes the *testing.B is followed.
func (r *reader) call(call *ast.CallExpr, name string, pending *[]Position, depth int) bool {
	if method, ok := r.method(call, "B"); ok {
		switch method {
		// What came before is not in the figure any more.
		case "ResetTimer", "StopTimer":
			*pending = nil
		case "Run":
			r.sub(call, name, depth)
			return false
		case "RunParallel":
			if f, ok := ast.Unparen(call.Args[0]).(*ast.FuncLit); ok {
				r.block(f.Body, name, pending, depth+1)
			}
			return false
		}
		return false
	}
	if f := r.helper(call); f != nil {
		r.block(f.Body, name, pending, depth+1)
		return false
	}
	if f, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		r.block(f.Body, name, pending, depth+1)
		return false
	}
	if tv := r.info.Types[call.Fun]; tv.IsType() || tv.IsBuiltin() {
		return true
	}
	*pending = append(*pending, r.position(call))
	return true
}

// sub follows b.Run into a literal or a function of the package.
func (r *reader) sub(call *ast.CallExpr, name string, depth int) {
	if len(call.Args) != 2 {
		return
	}
	part := "[^/]+(/[^/]+)*" // computed: any
	if tv := r.info.Types[call.Args[0]]; tv.Value != nil {
		if text, err := strconv.Unquote(tv.Value.ExactString()); err == nil {
			// As package testing rewrites names: spaces become underscores,
			// repeated names get #01.
			part = regexp.QuoteMeta(strings.ReplaceAll(text, " ", "_")) + `(#\d+)?`
		}
	}
	if !strings.HasPrefix(name, "^") {
		name = "^" + regexp.QuoteMeta(name)
	}
	var body ast.Node
	switch f := ast.Unparen(call.Args[1]).(type) {
	case *ast.FuncLit:
		body = f.Body
	case *ast.Ident:
		if d := r.declared[r.info.Uses[f]]; d != nil {
			body = d.Body
		}
	}
	if body != nil {
		r.block(body, name+"/"+part, new([]Position), depth+1)
	}
}

// helper returns the function of this package that a call hands the *testing.B to.
func (r *reader) helper(call *ast.CallExpr) *ast.FuncDecl {
	id, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if !ok {
		return nil
	}
	f := r.declared[r.info.Uses[id]]
	if f == nil {
		return nil
	}
	for _, arg := range call.Args {
		if r.is(arg, "B") {
			return f
		}
	}
	return nil
}

// is reports whether an expression is a pointer to a type of package testing, such
// as B.
func (r *reader) is(e ast.Expr, name string) bool {
	p, ok := r.info.TypeOf(e).(*types.Pointer)
	if !ok {
		return false
	}
	named, ok := p.Elem().(*types.Named)
	return ok && named.Obj().Name() == name && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "testing"
}

// method names the method of testing's B or PB that a call is of.
func (r *reader) method(e ast.Expr, typ string) (string, bool) {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || !r.is(s.X, typ) {
		return "", false
	}
	return s.Sel.Name, true
}

func (r *reader) isN(e ast.Expr) bool {
	s, ok := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && s.Sel.Name == "N" && r.is(s.X, "B")
}

// counts reports whether a condition is that of a measuring loop.
func (r *reader) counts(cond ast.Expr) (Kind, bool) {
	switch c := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		return Counted, r.isN(c.X) || r.isN(c.Y)
	case *ast.CallExpr:
		if m, ok := r.method(c, "B"); ok && m == "Loop" {
			return Kept, true
		}
		if m, ok := r.method(c, "PB"); ok && m == "Next" {
			return Parallel, true
		}
	}
	return 0, false
}

// mentionsB reports whether a loop uses the *testing.B: it may then contain the
// measuring loop, and is not set-up.
func (r *reader) mentionsB(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if e, ok := n.(*ast.Ident); ok && r.info.TypeOf(e) != nil && r.is(e, "B") {
			found = true
		}
		return !found
	})
	return found
}

// loop records a measuring loop with its traps. b.Loop needs neither check: it
// keeps results alive and starts the timer itself (package testing, Go 1.24).
func (r *reader) loop(n ast.Node, body *ast.BlockStmt, kind Kind, name string, pending []Position) {
	if !strings.HasPrefix(name, "^") {
		name = "^" + regexp.QuoteMeta(name)
	}
	at := r.position(n)
	l := Loop{function: r.function, name: regexp.MustCompile(name + "$"), Kind: kind, File: at.File, Line: at.From}
	// b.Loop keeps results alive by itself, and pb.Next hands the body to goroutines
	// whose time an empty loop's does not resemble.
	if kind == Counted {
		l.Dropped = r.unused(body)
	}
	if kind != Kept {
		l.Before = append([]Position(nil), pending...)
	}
	l.Inside = r.prepares(n, body)
	r.found = append(r.found, l)
}
