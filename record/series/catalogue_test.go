package series

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// Every name of names.go is in the catalogue, with the kind and unit that its
// comment tells readers.
func TestCatalogueHoldsEveryName(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		found++
		name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		info, ok := Known(name)
		if !ok {
			t.Errorf("%s is not in the catalogue", name)
			return true
		}
		comment := spec.Comment.Text()
		if comment == "" {
			return true // as the line above it
		}
		kind := "gauge, "
		if info.Counter {
			kind = "counter, "
		}
		if !strings.HasPrefix(comment, kind+info.Unit) {
			t.Errorf("%s: the catalogue has %s%s, names.go says %q", name, kind, info.Unit, strings.TrimSpace(comment))
		}
		return true
	})
	if names := len(catalogue()); found != names {
		t.Errorf("%d names in names.go, %d in the catalogue", found, names)
	}
}

func TestKnownRuntimeNames(t *testing.T) {
	for name, unit := range map[string]string{
		"/sched/goroutines:goroutines":      "1",
		"/cpu/classes/gc/total:cpu-seconds": "ns",
		"/sched/latencies:seconds":          "ns",
		"/gc/heap/allocs:bytes":             "bytes",
	} {
		if info, ok := Known(name); !ok || info.Unit != unit {
			t.Errorf("Known(%q) = %+v, %v; want unit %s", name, info, ok, unit)
		}
	}
	for _, name := range []string{"", "/no/unit", "made.up"} {
		if _, ok := Known(name); ok {
			t.Errorf("%q is known", name)
		}
	}
}
