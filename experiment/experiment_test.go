package experiment

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSuiteIsValid(t *testing.T) {
	if err := validate(Suite(), Claims()); err != nil {
		t.Error(err)
	}
	if len(Claims()) < 70 || len(Suite()) < 20 {
		t.Errorf("%d claims, %d experiments", len(Claims()), len(Suite()))
	}
	for i, c := range Claims() {
		if !idForm.MatchString(c.ID) || c.Text == "" {
			t.Errorf("%+v", c)
		}
		if slices.ContainsFunc(Claims()[:i], func(o Claim) bool { return o.ID == c.ID }) {
			t.Errorf("%s comes twice", c.ID)
		}
	}
}

func TestValidate(t *testing.T) {
	good := Suite()[0]
	claims := []Claim{{ID: good.Claim, Text: "x"}, {ID: "B-gate", Text: "x", Elsewhere: "redline gate"}}
	for want, change := range map[string]func(*Experiment){
		"is no ID":                  func(e *Experiment) { e.ID = "json" },
		"is no ID of claim":         func(e *Experiment) { e.ID = e.Claim + "-2" },
		"is not listed":             func(e *Experiment) { e.ID, e.Claim = "E-other", "E-other" },
		"settled by redline gate":   func(e *Experiment) { e.ID, e.Claim = "B-gate", "B-gate" },
		"title, baseline":           func(e *Experiment) { e.Same = "" },
		"benchmark \"xs\"":          func(e *Experiment) { e.Benchmark = "xs" },
		"metric \"ns\"":             func(e *Experiment) { e.Metric = "ns" },
		"a claimed factor of 0.5":   func(e *Experiment) { e.Factor = 0.5 },
		"a claimed factor of 1e+06": func(e *Experiment) { e.Factor = 1e6 },
		"settles the claim":         func(e *Experiment) { e.ID, e.Claim = "B-gate", "B-gate" },
		"comes twice":               nil,
	} {
		suite := []Experiment{good}
		if change == nil {
			suite = append(suite, good)
		} else {
			change(&suite[0])
		}
		if err := validate(suite, claims); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, is %v", want, err)
		}
	}
}

// TestBenchmarksAreThere: each experiment has its benchmark in its folder of lab/, and
// each benchmark there its experiment.
func TestBenchmarksAreThere(t *testing.T) {
	used := map[string]bool{} // by folder and name
	for _, folder := range folders {
		for _, name := range benchmarksOf(t, folder) {
			used[folder+"/"+name] = false
		}
	}
	for _, e := range Suite() {
		if _, ok := used[e.Folder+"/"+e.Benchmark]; !ok {
			t.Errorf("%s: there is no benchmark %s in lab/%s", e.ID, e.Benchmark, e.Folder)
		}
		used[e.Folder+"/"+e.Benchmark] = true
	}
	for name, is := range used {
		if !is {
			t.Errorf("no experiment runs lab/%s", name)
		}
	}
}

// benchmarksOf lists the benchmarks of a folder of lab/, without "Benchmark"; none where
// there is no such folder.
func benchmarksOf(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "lab", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if name, is := strings.CutPrefix(f.Name.Name, "Benchmark"); is {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

func TestFind(t *testing.T) {
	all, err := Find(Suite(), nil)
	if err != nil || len(all) != len(Suite()) {
		t.Errorf("%d, %v", len(all), err)
	}
	some, err := Find(Suite(), []string{"E-atomic.sharded", "E-atomic", "C-fast-clock.random"})
	var ids []string
	for _, e := range some {
		ids = append(ids, e.ID)
	}
	if err != nil || strings.Join(ids, " ") != "E-atomic.sharded E-atomic C-fast-clock.random" {
		t.Errorf("%v, %v", ids, err)
	}
	var unknown *UnknownError
	if _, err := Find(Suite(), []string{"E-atomic", "E-atom"}); !errors.As(err, &unknown) || unknown.ID != "E-atom" {
		t.Error(err)
	}
}
