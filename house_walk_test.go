package redline_test

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// walks are the sections of docs/house.md that follow a value, a text and a verdict through the tree.
var walks = []string{"## One value, ", "## One statement's text, ", "## One verdict, "}

// TestWalksNameWhatExists: each name in the walks is that of a file, of a declaration, or a text that
// the product writes. A function that was renamed fails here.
func TestWalksNameWhatExists(t *testing.T) {
	text, err := os.ReadFile("docs/house.md")
	if err != nil {
		t.Fatal(err)
	}
	known := landmarksOf(sources(t))
	for _, title := range walks {
		_, section, found := strings.Cut(string(text), "\n"+title)
		if !found {
			t.Errorf("docs/house.md has no section %q", title)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		names := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(section, -1)
		if len(names) < 10 {
			t.Errorf("%s names only %d places", title, len(names))
		}
		for _, name := range names {
			if !known.holds(name[1]) {
				t.Errorf("%s`%s` is no file, declaration or text of the product", title, name[1])
			}
		}
	}
}

func TestLandmarks(t *testing.T) {
	known := landmarksOf(sources(t))
	for name, want := range map[string]bool{
		"load/pace": true, "load/pacing": false, "cmd/redline/measure/run.go": true, "plans.go": true, "plains.go": false,
		"verify.Decide": true, "verify.Decided": false, "session.Session": true, "scenario/scalar.ParseRate": true,
		"Plan.Apply": true, "Plan.Applied": false, "findings.Where.SQL": true, "findings.Where.Text": false,
		"summary.json": true, "summaries.json": false, "redline ab --nothing": true,
	} {
		if known.holds(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}

// landmarks are what a walk may name.
type landmarks struct {
	declared map[string]bool // scenario.Plan.Apply, by the package's last word; also Plan.Apply, and Apply
	folders  map[string]bool
	texts    map[string]bool // string literals, and the keys of JSON
}

func landmarksOf(all []source) landmarks {
	l, key := landmarks{map[string]bool{}, map[string]bool{}, map[string]bool{}}, regexp.MustCompile(`json:"\w+`)
	for _, s := range all {
		if s.test() || s.foreign() {
			continue
		}
		l.folders[s.dir()], l.folders[path.Base(s.dir())] = true, true
		add := func(name string) { l.declared[name], l.declared[path.Base(s.dir())+"."+name] = true, true }
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				add(f.Name.Name)
				if f.Recv != nil {
					add(receiver(f.Recv.List[0].Type) + "." + f.Name.Name)
				}
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				add(n.Name.Name)
				if fields, ok := n.Type.(*ast.StructType); ok {
					for _, f := range fields.Fields.List {
						for _, id := range f.Names {
							add(n.Name.Name + "." + id.Name)
						}
					}
				}
			case *ast.BasicLit:
				l.texts[strings.Trim(n.Value, "`\"")] = true
			case *ast.Field:
				if n.Tag != nil {
					l.texts[key.FindString(n.Tag.Value)] = true
				}
			}
			return true
		})
	}
	return l
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func (l landmarks) holds(name string) bool {
	if !regexp.MustCompile(`^[\w./]+$`).MatchString(name) {
		return true // something typed, or a value
	}
	if _, err := os.Stat(name); err == nil || l.declared[name] || l.folders[name] {
		return true
	}
	if folder, _, member := strings.Cut(path.Base(name), "."); member && l.folders[path.Join(path.Dir(name), folder)] &&
		l.declared[path.Base(name)] {
		return true // scenario/scalar.ParseRate
	}
	if strings.HasSuffix(name, ".go") {
		for folder := range l.folders {
			if _, err := os.Stat(folder + "/" + name); err == nil {
				return true
			}
		}
		return false
	}
	keys := strings.Split(name, ".") // of a JSON file, from the outside in
	return l.texts[name] || !slices.ContainsFunc(keys, func(k string) bool { return !l.texts[`json:"`+k] })
}
