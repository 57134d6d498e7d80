package instrument

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// source is one Go file with the edits to make in it. Edits only insert bytes, so every
// line keeps its number.
type source struct {
	content []byte
	set     *token.FileSet
	file    *ast.File
	inserts []insert
	tail    bytes.Buffer // wrappers, after the file's last line
}

type insert struct {
	at   int // offset
	text string
}

func parse(path string, content []byte) (*source, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, content, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &source{content: content, set: set, file: file}, nil
}

func (s *source) changed() bool { return len(s.inserts) > 0 || s.tail.Len() > 0 }

func (s *source) insert(at token.Pos, text string) {
	s.inserts = append(s.inserts, insert{s.set.Position(at).Offset, text})
}

// bytes returns the content with its edits.
func (s *source) bytes() []byte {
	slices.SortStableFunc(s.inserts, func(a, b insert) int { return cmp.Compare(a.at, b.at) })
	var out bytes.Buffer
	from := 0
	for _, i := range s.inserts {
		out.Write(s.content[from:i.at])
		out.WriteString(i.text)
		from = i.at
	}
	out.Write(s.content[from:])
	out.WriteByte('\n')
	out.Write(s.tail.Bytes())
	return out.Bytes()
}

// function returns the declaration of a function or, with a receiver ("*DB", "DB"),
// of a method; nil when the file has none.
func (s *source) function(receiver, name string) *ast.FuncDecl {
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Name.Name == name && f.Body != nil && receiverOf(f) == receiver {
			return f
		}
	}
	return nil
}

func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) != 1 {
		return ""
	}
	switch t := f.Recv.List[0].Type.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.StarExpr:
		if id, ok := t.X.(*ast.Ident); ok {
			return "*" + id.Name
		}
	}
	return "?" // generic: no rule names one
}

// structure returns the fields of a struct type; nil when the file has none of that
// name.
func (s *source) structure(name string) *ast.FieldList {
	for _, d := range s.file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			t, ok := spec.(*ast.TypeSpec)
			if !ok || t.Name.Name != name {
				continue
			}
			if st, ok := t.Type.(*ast.StructType); ok {
				return st.Fields
			}
		}
	}
	return nil
}

// prefix begins a wrapped function's new name. Readers of stacks remove it.
const prefix = "redline_"

// wrap renames f and adds a wrapper with its name whose body is made from a template:
//
//	$call      calls f with the wrapper's own arguments and sets the results
//	$recv      the receiver
//	$1 ... $9  the parameters by position
//	$r1 ... $r9 the results by position
//
// If the function lacks a name of the template it stays unwrapped, and why says so.
func (s *source) wrap(f *ast.FuncDecl, body string) (why string) {
	var sig signature
	if f.Recv != nil {
		sig.receiver = "redlineRecv"
	}
	if why := sig.read(s, f); why != "" {
		return why
	}
	text, why := sig.fill(f.Name.Name, body)
	if why != "" {
		return why
	}
	s.insert(f.Name.Pos(), prefix)
	recv := ""
	if f.Recv != nil {
		recv = "(" + sig.receiver + " " + s.text(f.Recv.List[0].Type) + ") "
	}
	wrapper := fmt.Sprintf("\nfunc %s%s(%s) (%s) {\n%s\n}\n", recv, f.Name.Name, sig.parameters(), sig.outcomes(), text)
	if formatted, err := format.Source([]byte(wrapper)); err == nil {
		wrapper = string(formatted)
	}
	s.tail.WriteString(wrapper)
	return ""
}

// text returns the source of a node.
func (s *source) text(n ast.Node) string {
	return string(s.content[s.set.Position(n.Pos()).Offset:s.set.Position(n.End()).Offset])
}

// signature is a function's, with a name for everything.
type signature struct {
	receiver string
	in, out  []value
}

type value struct {
	name, typ string
	variadic  bool
}

func (g *signature) read(s *source, f *ast.FuncDecl) (why string) {
	if f.Type.TypeParams != nil {
		return "is generic"
	}
	g.in = s.values(f.Type.Params, "redlineIn")
	g.out = s.values(f.Type.Results, "redlineOut")
	return ""
}

// values gives new names to all values of a list: a parameter must not shadow a
// package-level name that the wrapper uses.
func (s *source) values(list *ast.FieldList, name string) []value {
	var all []value
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		v := value{typ: s.text(field.Type)}
		if e, ok := field.Type.(*ast.Ellipsis); ok {
			v.variadic, v.typ = true, "..."+s.text(e.Elt)
		}
		for range max(1, len(field.Names)) {
			v.name = fmt.Sprintf("%s%d", name, len(all)+1)
			all = append(all, v)
		}
	}
	return all
}

func (g *signature) parameters() string { return declared(g.in) }
func (g *signature) outcomes() string   { return declared(g.out) }

func declared(values []value) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, v.name+" "+v.typ)
	}
	return strings.Join(parts, ", ")
}

// fill returns the body of a wrapper for the function of the given name.
func (g *signature) fill(name, body string) (text, why string) {
	var args, results []string
	for _, v := range g.in {
		arg := v.name
		if v.variadic {
			arg += "..."
		}
		args = append(args, arg)
	}
	for _, v := range g.out {
		results = append(results, v.name)
	}
	call := prefix + name + "(" + strings.Join(args, ", ") + ")"
	if g.receiver != "" {
		call = g.receiver + "." + call
	}
	if len(results) > 0 {
		call = strings.Join(results, ", ") + " = " + call
	}
	for i := 9; i >= 1; i-- {
		for mark, list := range map[string][]value{fmt.Sprintf("$r%d", i): g.out, fmt.Sprintf("$%d", i): g.in} {
			if !strings.Contains(body, mark) {
				continue
			}
			if i > len(list) {
				return "", fmt.Sprintf("has another signature: there is no %s", mark)
			}
			body = strings.ReplaceAll(body, mark, list[i-1].name)
		}
	}
	body = strings.ReplaceAll(body, "$call", call)
	body = strings.ReplaceAll(body, "$recv", g.receiver)
	if len(results) > 0 {
		body += "\nreturn"
	}
	return body, ""
}
