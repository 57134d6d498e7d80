package compiler_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/service/compiler"
)

const store = `package store

type Order struct{ lines [40]int }

func Load(id int) *Order {
	o := Order{}
	o.lines[0] = id
	return &o
}

func Sum(tax []int, at []int) (t int) {
	for _, i := range at {
		t += tax[i]
	}
	return t
}

func Guard(f func()) {
	defer func() { recover() }()
	f()
}
`

// module writes a module of two packages and returns its directory.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module shop\n\ngo 1.24\n",
		"store/store.go": store,
		"main.go":        "package main\n\nimport \"shop/store\"\n\nfunc main() { println(store.Load(1), store.Sum(nil, nil)) }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAsk(t *testing.T) {
	dir := module(t)
	for _, again := range []bool{false, true} { // the second time everything is in the build cache
		files, err := compiler.Ask(context.Background(), compiler.Build{Dir: dir}, "shop/store")
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(files, func(f compiler.File) bool { return filepath.Base(f.Path) == "store.go" })
		if i < 0 {
			t.Fatalf("again %v: no remarks of store.go among %d files", again, len(files))
		}
		f := files[i]
		at := func(line int, kind code.RemarkKind) code.Remark {
			t.Helper()
			for _, r := range f.Remarks {
				if r.Line == line && r.Kind == kind {
					return r.Remark
				}
			}
			t.Errorf("no remark of kind %s at line %d", kind, line)
			return code.Remark{}
		}
		if r := at(6, code.Escapes); r.Text != "o escapes to heap" || len(r.Flow) == 0 ||
			!strings.HasSuffix(r.Flow[len(r.Flow)-1], "store.go:8") {
			t.Errorf("the escape is reported as %+v", r)
		}
		at(13, code.BoundsCheck)
		if r := at(18, code.NotInlined); !strings.Contains(r.Text, "DEFER") {
			t.Errorf("Guard is not inlined because of %q", r.Text)
		}
		if f.Package != "shop/store" {
			t.Errorf("the package is %q", f.Package)
		}
	}
}

func TestAskTellsWhatDoesNotCompile(t *testing.T) {
	dir := module(t)
	if err := os.WriteFile(filepath.Join(dir, "store", "broken.go"), []byte("package store\n\nvar x int = \"text\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := compiler.Ask(context.Background(), compiler.Build{Dir: dir}, "shop/store")
	if err == nil || !strings.Contains(err.Error(), "broken.go:3") {
		t.Errorf("the error is %v", err)
	}
}

func TestList(t *testing.T) {
	list, err := compiler.List(context.Background(), compiler.Build{Dir: module(t)}, ".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range list {
		names = append(names, p.ImportPath)
	}
	if !slices.Equal(names, []string{"shop/store", "shop"}) {
		t.Errorf("listed %q, want the main module's packages and no others", names)
	}
	if _, err := compiler.List(context.Background(), compiler.Build{Dir: module(t)}, "./nothing"); err == nil ||
		!strings.Contains(err.Error(), "nothing") {
		t.Errorf("a folder that is not there gives %v", err)
	}
}

// TestListReplaced: what a replace line takes from a folder is the target's own, as it is being edited.
func TestListReplaced(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"svc/go.mod": "module svc\n\ngo 1.24\n\nrequire example.com/lib v1.0.0\n\n" +
			"replace example.com/lib => ../lib\n",
		"svc/main.go": "package main\n\nimport \"example.com/lib\"\n\nfunc main() { lib.Run() }\n",
		"lib/go.mod":  "module example.com/lib\n\ngo 1.24\n",
		"lib/lib.go":  "package lib\n\nfunc Run() {}\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := compiler.List(context.Background(), compiler.Build{Dir: filepath.Join(dir, "svc")}, ".")
	if err != nil || len(list) != 2 || list[0].ImportPath != "example.com/lib" || list[0].Dir != filepath.Join(dir, "lib") {
		t.Errorf("listed %+v, %v: want the replaced module's package too", list, err)
	}
}

// TestBuildFlags: a package behind a tag is listed with it, in either spelling; flags that choose no sources do not matter.
func TestBuildFlags(t *testing.T) {
	dir := module(t)
	text := "//go:build sqlite\n\npackage main\n\nimport _ \"shop/lite\"\n"
	for name, text := range map[string]string{"lite/lite.go": "package lite\n", "lite.go": text} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for flags, want := range map[string]int{"": 2, "-tags=sqlite": 3, "--tags sqlite -ldflags=-s": 3, "-v": 2} {
		list, err := compiler.List(context.Background(), compiler.Build{Dir: dir, Flags: strings.Fields(flags)}, ".")
		if err != nil || len(list) != want {
			t.Errorf("%q lists %+v, %v: want %d packages", flags, list, err, want)
		}
	}
	files, err := compiler.Ask(context.Background(), compiler.Build{Dir: dir, Flags: []string{"-tags", "sqlite"}}, "shop/store")
	if err != nil || len(files) == 0 {
		t.Errorf("%d files have remarks with a tag: %v", len(files), err)
	}
}

func TestReadRefuses(t *testing.T) {
	const header = `{"version":0,"package":"main","file":"/x.go"}` + "\n"
	for name, text := range map[string]string{
		"nothing":       "",
		"not JSON":      "compiled\n",
		"other version": `{"version":1,"package":"main","file":"/x.go"}`,
		"broken line":   header + `{"range":`,
		"long line":     header + strings.Repeat(" ", 2<<20),
	} {
		if f, err := compiler.Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: read as %+v", name, f)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"version":0,"package":"main","file":"/x.go"}
{"range":{"start":{"line":4,"character":6}},"code":"escape","message":"b escapes to heap","relatedInformation":[{"location":{"uri":"file:///x.go","range":{"start":{"line":4}}},"message":"escflow:      from &b (address-of)"}]}
{"range":{"start":{"line":5,"character":6}},"code":"isInBounds","message":""}
`)
	f.Fuzz(func(t *testing.T, text string) {
		file, err := compiler.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, r := range file.Remarks {
			if r.Kind == "" || r.Text == "" {
				t.Errorf("remark %+v says nothing", r)
			}
		}
	})
}
