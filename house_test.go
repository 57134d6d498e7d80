package redline_test

// The rules of the house, as tests: which way imports run, that packages and
// exported names are documented, and that no file outgrows a reader.

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/redline-go/redline/"

// floors gives each room its floor. A room imports only from lower floors;
// folders inside a room may import the room and each other.
var floors = map[string]int{
	"record": 1, "scenario": 1, "stat": 1, "benchmark": 1, "notation": 1,
	// access is who may connect to a listener, wherever one is opened.
	"access": 1,
	// export shows a run to the outside as it goes: it touches the world, and run
	// puts it beside the record.
	"load": 2, "observe": 2, "anatomy": 2, "service": 2, "export": 2,
	"run": 3, "diagnose": 3,
	"assess": 4, "lint": 4, "report": 4, "verify": 4,
	"demo": 5, "history": 5, "compare": 5, "experiment": 5, "knee": 5, "tune": 5, "forecast": 5, "machine": 5,
	"web": 6,
	"cmd": 7,
	// The benches of the project itself drive the built command from outside.
	"bench": 7,
	// What builds, checks and releases the project.
	"scripts": 7,
	// The probe is what a service may link: below all.
	"probe": 0,
	// What hides secrets serves every floor.
	"redact": 0,
}

// bans are imports that the floors alone would allow, each with its reason. A room
// and an import stand for the package and everything below it, with a "/" at the end
// or without; one that ends in "/." stands for the package alone.
var bans = []struct{ room, imports, reason string }{
	{"redact/", module, "what hides secrets knows nothing of where they stand"},
	{"redact/", "os", "hiding is pure: what is secret is handed to it"},
	{"redact/", "net", "hiding is pure: it talks to nobody"},
	{"redact/", "net/http", "hiding is pure: it talks to nobody"},
	{"record/", module + "scenario", "the artefact imports no sibling: a bundle opens anywhere"},
	{"record/", module + "stat", "the artefact does not interpret"},
	{"record/", "net/", "the artefact is files, not the network"},
	{"scenario/", module + "record", "what to do does not depend on what was done"},
	{"scenario/", "net/http", "a plan is pure: it talks to nobody"},
	{"scenario/", "os/exec", "a plan is pure: it starts nothing"},
	{"stat/", "os", "statistics are pure"},
	{"stat/", module, "statistics know nothing of redline"},
	{"notation/", module + "redact", "figures have no secrets"},
	{"notation/", "net", "writing a figure talks to nobody"},
	{"access/", module, "who comes in is the kernel's to say, whatever is behind"},
	{"benchmark/", module, "what benches leave knows nothing of what was measured"},
	{"anatomy/", "net/http", "anatomy replays from a trace"},
	{"anatomy/", "os", "anatomy takes readers, not paths"},
	{"anatomy/goroutines/", module + "anatomy/bands", "what goroutines did is known before it is summed up"},
	{"anatomy/site/", "golang.org/x/exp/trace", "a frame means the same in a trace and in a profile"},
	{"anatomy/server/", "golang.org/x/exp/trace", "a frame means the same in a trace and in a profile"},
	{"diagnose/", "net/", "diagnosis replays from a record"},
	{"diagnose/", "os/exec", "diagnosis replays from a record"},
	{"diagnose/", module + "load", "diagnosis replays from a record"},
	{"diagnose/", module + "observe/", "diagnosis replays from a record"},
	{"diagnose/", module + "service/", "diagnosis replays from a record"},
	{"diagnose/evidence/", module + "diagnose/.", "evidence knows no analyzer and makes no finding"},
	{"diagnose/evidence/", module + "diagnose/passes", "evidence knows no analyzer and makes no finding"},
	{"diagnose/evidence/", module + "record/findings", "evidence knows no analyzer and makes no finding"},
	{"diagnose/evidence/waits/", module + "diagnose/evidence/usage", "what requests wait for is read without the profiles"},
	{"diagnose/evidence/usage/", module + "diagnose/evidence/waits", "the profiles are read without what requests wait for"},
	{"assess/", module + "load", "assessing needs the bundle alone"},
	{"assess/", module + "observe/", "assessing needs the bundle alone"},
	{"assess/", module + "service/", "assessing needs the bundle alone"},
	{"report/", module + "run", "reports are drawn from the record, the live view from its own events"},
	{"report/", module + "load", "reports are drawn from the record"},
	{"report/", "os/exec", "reports start nothing"},
	{"web/", module + "run", "pages are drawn from the record"},
	{"web/", module + "load", "pages are drawn from the record"},
	{"web/", "os/exec", "pages start nothing"},
	{"verify/.", "os", "the decision is pure: what was measured is handed to it"},
	{"verify/.", module + "run", "the decision measures nothing: verify/session does"},
	{"verify/.", module + "service", "the decision knows no process and no revision"},
	{"verify/.", module + "record", "the decision rests on blocks, wherever they lie"},
	{"verify/.", "net", "the decision talks to nobody"},
	{"verify/baseline/", module + "run", "a stored result is compared without measuring"},
	{"verify/baseline/", "os/exec", "a stored result is compared without starting anything"},
	{"verify/render/", module + "run", "a result is written from what was decided"},
	{"verify/render/", "os", "what is written goes to a writer"},
	{"verify/", module + "diagnose", "a verdict does not rest on a diagnosis"},
	{"compare/", module + "diagnose", "two runs are set beside each other without a diagnosis"},
	{"compare/", module + "run", "two recorded runs are read, and nothing is measured"},
	{"compare/", module + "service", "two recorded runs are read, and nothing is started"},
	{"compare/", "os", "two recorded runs are handed over open"},
	{"forecast/", module + "run", "a forecast continues what was measured, and measures nothing"},
	{"forecast/", "os", "a history is handed over open"},
	{"history/", module + "run", "a history keeps what was measured, and measures nothing"},
	{"history/", module + "load", "a history keeps what was measured, and measures nothing"},
	{"history/", module + "service/", "a history keeps what was measured, and measures nothing"},
	{"history/", "os/exec", "a history keeps what was measured, and starts nothing"},
	{"knee/.", "os", "the decision is pure: what was measured is handed to it"},
	{"knee/.", "net", "the decision talks to nobody"},
	{"knee/.", module + "run", "the decision measures nothing: knee/session does"},
	{"knee/.", module + "service", "the decision knows no process"},
	{"knee/.", module + "record", "the decision rests on steps, wherever they lie"},
	{"knee/render/", "os", "what is written goes to a writer"},
	{"knee/render/", module + "run", "an answer is written from what was decided"},
	{"knee/", module + "diagnose", "a knee does not rest on a diagnosis: it carries the first finding along"},
	{"tune/.", "os", "the search is pure: outcomes are handed to it"},
	{"tune/.", "net", "the search talks to nobody"},
	{"tune/.", module + "run", "the search measures nothing: tune/measure does"},
	{"tune/.", module + "service", "the search knows no process"},
	{"tune/.", module + "verify/session", "the search knows no launch"},
	{"tune/render/", module + "run", "a result is written from what was found"},
	{"tune/render/", "os", "what is written goes to a writer"},
	{"cmd/", module + "load", "verbs speak to run, assess, report and demo"},
	{"cmd/", module + "observe/", "verbs speak to run, assess, report and demo"},
	{"cmd/", module + "anatomy", "verbs speak to run, assess, report and demo"},
	{"cmd/", module + "diagnose/", "verbs speak to assess"},
	{"cmd/", module + "lab/", "heavy dependencies of the lab stay in its module"},
	{"corpus/sick/", module, "a specimen knows nothing of redline"},
	{"corpus/pair/", module, "a specimen knows nothing of redline"},
	{"corpus/healthy/", module, "a specimen knows nothing of redline"},
	{"corpus/backend/", module, "a specimen knows nothing of redline"},
	{"diagnose/diagnosetest/corpus/", "testing", "the bench that runs the corpus is no test"},
	{"load/", module + "observe/", "the two halves meet in the record"},
	{"export/", "os", "exporters speak HTTP; what is kept is the record's"},
	{"export/", "os/exec", "exporters start nothing"},
	{"observe/", module + "load", "the two halves meet in the record"},
	{floored, module + "kit", "kit is for the services that redline measures: what measures does not share its parts"},
	{"kit/", module, "a service that imports a part takes nothing of redline along"},
}

// floored is, in place of a room, every room that has a floor.
const floored = "*"

// spared are imports that a ban reaches and that are right all the same, each with
// its reason.
var spared = []struct{ room, imports, reason string }{
	{"redact/", "net/url", "secrets are found by the parts of a URL"},
	{"history/", module + "service/revision", "a result names the commit that it is of"},
	{"verify/gobench/", module + "diagnose/callstack", "functions are named as everywhere"},
	{"kit/", module + "kit", "its parts may rest on each other"},
}

// source is one parsed file of the repository.
type source struct {
	path string // relative, with slashes
	file *ast.File
	set  *token.FileSet
}

func (s source) dir() string { return filepath.ToSlash(filepath.Dir(s.path)) }

// foreign reports whether a file is a specimen's of the corpus: those are written as
// strangers write, with as many comments as strangers make.
func (s source) foreign() bool {
	for _, kind := range []string{"sick", "pair", "healthy"} {
		if strings.HasPrefix(s.path, "corpus/"+kind+"/") {
			return true
		}
	}
	return false
}

func (s source) test() bool   { return strings.HasSuffix(s.path, "_test.go") }
func (s source) room() string { room, _, _ := strings.Cut(s.path, "/"); return room }

// sources are all Go files, parsed once for all tests.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var parsed = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", "bin", "runs", "node_modules", "testdata":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, source{filepath.ToSlash(path), file, set})
		return nil
	})
	return all, err
})

func (s source) imports() []string {
	var paths []string
	for _, i := range s.file.Imports {
		paths = append(paths, strings.Trim(i.Path.Value, `"`))
	}
	return paths
}

func TestImportsRunDownwards(t *testing.T) {
	for _, s := range sources(t) {
		from, known := floors[s.room()]
		if s.room() == "lab" || s.room() == "corpus" || s.room() == "kit" || !strings.Contains(s.path, "/") {
			continue // lab, corpus and kit are modules of their own, beside the house
		}
		if !known {
			t.Errorf("%s: room %q has no floor: add it to floors", s.path, s.room())
			continue
		}
		for _, path := range s.imports() {
			rest, ours := strings.CutPrefix(path, module)
			room, _, _ := strings.Cut(rest, "/")
			if !ours || room == s.room() {
				continue
			}
			to, known := floors[room]
			// A test may reach across its own floor for a real counterpart.
			if !known || to > from || to == from && !s.test() {
				t.Errorf("%s (floor %d) imports %s (floor %d): imports run downwards", s.path, from, path, to)
			}
		}
	}
}

// ofSpecimen reports whether the file and the package lie in the folder of one
// service of the corpus: such a service may have packages of its own, and must
// not import those of another.
func (s source) ofSpecimen(path string) bool {
	parts := strings.SplitN(s.path, "/", 4) // corpus, kind, service, rest
	return len(parts) == 4 && parts[0] == "corpus" && strings.HasPrefix(path, module+strings.Join(parts[:3], "/")+"/")
}

func TestBans(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || strings.HasSuffix(s.dir(), "test") {
			continue
		}
		for _, path := range s.imports() {
			if reason := banned(s.dir(), path); reason != "" && !s.ofSpecimen(path) {
				t.Errorf("%s imports %s: %s", s.path, path, reason)
			}
		}
	}
}

// banned returns why the package in dir must not import path; empty if it may.
func banned(dir, path string) string {
	for _, s := range spared {
		if within(dir, s.room) && within(path, s.imports) {
			return ""
		}
	}
	for _, ban := range bans {
		if within(dir, ban.room) && within(path, ban.imports) {
			return ban.reason
		}
	}
	return ""
}

// within reports whether a path is what a ban's room or import stands for.
func within(path, place string) bool {
	if alone, ok := strings.CutSuffix(place, "/."); ok {
		return path == alone
	}
	if place == floored {
		room, _, _ := strings.Cut(path, "/")
		_, ok := floors[room]
		return ok
	}
	place = strings.TrimSuffix(place, "/")
	return path == place || strings.HasPrefix(path, place+"/")
}

// TestBansReachBelow: a ban holds for what lies below the room and the import, and
// for no package whose name only begins alike.
func TestBansReachBelow(t *testing.T) {
	for _, c := range []struct {
		dir, path string
		fires     bool
	}{
		{"cmd/redline", module + "load", true},
		{"cmd/redline", module + "load/http1", true},
		{"cmd/redline", module + "anatomy/story", true},
		{"web/page", module + "load/endpoint", true},
		{"diagnose/passes/cpu", module + "load/check", true},
		{"record/index", module + "stat/sub", true},
		{"diagnose/evidence/waits", module + "record/findings", true},
		{"diagnose/evidence", module + "record/findings", true},
		{"diagnose/passes/wait", module + "record/findings", false},
		{"anatomy/goroutines", module + "anatomy/bands", true},
		{"anatomy", module + "anatomy/bands", false},
		{"stat", "os/exec", true},
		{"diagnose", module + "loader", false},
		{"cmd/redline", module + "web/page", false},
		{"statistics", "os", false},
		{"redact", "net/url", false},
		{"verify", "os/exec", true},
		{"verify", module + "service/revision", true},
		{"verify/session", module + "service/revision", false},
		{"verify/gobench", module + "diagnose", true},
		{"load/http1", module + "kit/clock", true},
		{"cmd/redline", module + "kit", true},
		{"lab/gateway", module + "kit/counter", false},
		{"kit/gctune", module + "kit/gctune/cgroup", false},
		{"kit/gctune", module + "stat", true},
	} {
		if got := banned(c.dir, c.path) != ""; got != c.fires {
			t.Errorf("%s importing %s is banned: %v, want %v", c.dir, c.path, got, c.fires)
		}
	}
}

// TestDefaultsLiveInScenario: what a plan leaves out means the same to whoever reads it, because scenario alone says
// what; others ask Load.WithDefaults. A flag may name its default in its help.
func TestDefaultsLiveInScenario(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || s.room() == "scenario" || s.path == "cmd/redline/measure/runflags.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if of, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(of.Sel.Name, "Default") {
				if from, ok := of.X.(*ast.Ident); ok && from.Name == "scenario" {
					t.Errorf("%s takes scenario.%s by itself: ask the plan's WithDefaults", s.set.Position(of.Pos()), of.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestProbeIsStandardLibraryOnly guards the promise to whoever links it.
func TestProbeIsStandardLibraryOnly(t *testing.T) {
	for _, s := range sources(t) {
		if s.room() != "probe" || s.test() {
			continue
		}
		for _, path := range s.imports() {
			first, _, _ := strings.Cut(path, "/")
			if strings.Contains(first, ".") && !strings.HasPrefix(path, module+"probe/") {
				t.Errorf("%s imports %s: a target may link only the standard library", s.path, path)
			}
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if s.test() || s.foreign() {
			continue
		}
		documented[s.dir()] = documented[s.dir()] || s.file.Doc.Text() != ""
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package in %s has no doc comment", dir)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || s.foreign() || s.file.Name.Name == "main" {
			continue
		}
		for _, missing := range undocumented(s.file) {
			t.Errorf("%s: exported %s has no doc comment", s.set.Position(missing.Pos()), missing.Name)
		}
	}
}

// undocumented returns the exported top-level names without a doc comment.
func undocumented(file *ast.File) []*ast.Ident {
	var missing []*ast.Ident
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) &&
				!(d.Recv != nil && interfaceMethod[d.Name.Name]) {
				missing = append(missing, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil {
						missing = append(missing, spec.Name)
					}
				case *ast.ValueSpec:
					if spec.Names[0].IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
						missing = append(missing, spec.Names[0])
					}
				}
			}
		}
	}
	return missing
}

// interfaceMethod holds methods whose meaning a well-known interface gives.
var interfaceMethod = map[string]bool{
	"Error": true, "Unwrap": true, "String": true, "Write": true, "Read": true, "Close": true,
	"Len": true, "Less": true, "Swap": true, "MarshalJSON": true, "UnmarshalJSON": true,
	// observe.Source, Reporter and Storer.
	"Describe": true, "Open": true, "Run": true, "Health": true, "Store": true,
}

func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexExpr); ok {
		typ = index.X
	}
	name, ok := typ.(*ast.Ident)
	return ok && name.IsExported()
}

func TestNoLeftovers(t *testing.T) {
	for _, s := range sources(t) {
		if s.path == "house_test.go" {
			continue
		}
		for _, group := range s.file.Comments {
			for _, word := range []string{"TODO", "FIXME", "XXX", "HACK"} {
				if strings.Contains(group.Text(), word) {
					t.Errorf("%s: a leftover %s: do it, or file it", s.set.Position(group.Pos()), word)
				}
			}
		}
	}
}

// mostLines is where a file has long taken on a second noun.
const mostLines = 600

func TestFilesStaySmall(t *testing.T) {
	for _, s := range sources(t) {
		if lines := s.set.File(s.file.Pos()).LineCount(); lines > mostLines && !s.test() {
			t.Errorf("%s has %d lines: split it (%s)", s.path, lines, fmt.Sprintf("at most %d", mostLines))
		}
	}
}
