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
	"testing"
)

const module = "github.com/redline-go/redline/"

// floors gives each room its floor. A room imports only from lower floors;
// folders inside a room may import the room and each other.
var floors = map[string]int{
	"record": 1, "scenario": 1, "stat": 1, "benchmark": 1,
	// access is who may connect to a listener, wherever one is opened.
	"access": 1,
	// export shows a run to the outside as it goes: it touches the world, and run
	// puts it beside the record.
	"load": 2, "observe": 2, "anatomy": 2, "service": 2, "export": 2,
	"run": 3, "diagnose": 3,
	"judge": 4, "lint": 4, "report": 4, "verify": 4,
	"demo": 5, "history": 5,
	"cmd": 6,
	// The benches of the project itself drive the built command from outside.
	"bench": 6,
	// What builds, checks and releases the project.
	"scripts": 6,
	// The probe is what a service may link: below all.
	"probe": 0,
	// What hides secrets serves every floor.
	"redact": 0,
}

// bans are imports that the floors alone would allow, each with its reason. A
// room or import ending in "/" stands for everything below it.
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
	{"access/", module, "who comes in is the kernel's to say, whatever is behind"},
	{"benchmark/", module, "what benches leave knows nothing of what was measured"},
	{"anatomy/", "net/http", "anatomy replays from a trace"},
	{"anatomy/", "os", "anatomy takes readers, not paths"},
	{"diagnose/", "net/", "diagnosis replays from a record"},
	{"diagnose/", "os/exec", "diagnosis replays from a record"},
	{"diagnose/", module + "load", "diagnosis replays from a record"},
	{"diagnose/", module + "observe/", "diagnosis replays from a record"},
	{"diagnose/", module + "service/", "diagnosis replays from a record"},
	{"judge/", module + "load", "judging needs the bundle alone"},
	{"judge/", module + "observe/", "judging needs the bundle alone"},
	{"judge/", module + "service/", "judging needs the bundle alone"},
	{"report/", module + "run", "reports are drawn from the record, the live view from its own events"},
	{"report/", module + "load", "reports are drawn from the record"},
	{"report/", "os/exec", "reports start nothing"},
	{"history/", module + "run", "a history keeps what was measured, and measures nothing"},
	{"history/", module + "load", "a history keeps what was measured, and measures nothing"},
	{"history/", module + "service/", "a history keeps what was measured, and measures nothing"},
	{"history/", "os/exec", "a history keeps what was measured, and starts nothing"},
	{"cmd/", module + "load", "verbs speak to run, judge, report and demo"},
	{"cmd/", module + "observe/", "verbs speak to run, judge, report and demo"},
	{"cmd/", module + "anatomy", "verbs speak to run, judge, report and demo"},
	{"cmd/", module + "diagnose/", "verbs speak to judge"},
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

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
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
	if err != nil {
		t.Fatal(err)
	}
	return all
}

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
		if s.room() == "lab" || s.room() == "corpus" || !strings.Contains(s.path, "/") {
			continue // lab and corpus are modules of their own, above the house
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
		for _, ban := range bans {
			if !strings.HasPrefix(s.dir()+"/", ban.room) {
				continue
			}
			for _, path := range s.imports() {
				if s.ofSpecimen(path) {
					continue
				}
				if path == strings.TrimSuffix(ban.imports, "/") || strings.HasSuffix(ban.imports, "/") && strings.HasPrefix(path, ban.imports) {
					t.Errorf("%s imports %s: %s", s.path, path, ban.reason)
				}
			}
		}
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
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !interfaceMethod[d.Name.Name] {
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
