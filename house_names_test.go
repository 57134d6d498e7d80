package redline_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// retired names stood for up to four things each; these are the words that took their
// places.
var retired = map[string]string{
	"tale": "slowest.Request", "tales": "slowest.Request", "told": "reported", "tell": "describe", "teller": "describer",
}

// TestRetiredNames: a name that was retired does not come back.
func TestRetiredNames(t *testing.T) {
	for _, s := range sources(t) {
		if s.foreign() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && retired[id.Name] != "" {
				t.Errorf("%s: %s is retired: take %s (docs/glossary.md)", s.set.Position(id.Pos()), id.Name, retired[id.Name])
			}
			return true
		})
	}
}

// retiredWords stood for several things each, and are held by no identifier, alone or
// within a longer one; docs/glossary.md has the terms that took their places.
var retiredWords = map[string]string{
	"beside":  "the relation itself: concurrent, adjacent, unfit",
	"besides": "the relation itself: concurrent, adjacent, unfit",
	"judge":   "validity, verdict, check or assess",
	"judges":  "validity, verdict, check or assess",
	"said":    "the thing itself: reply, answer, remarks",
	"tale":    "slow request",
	"tales":   "slow requests",
	"told":    "reported",
	"unsaid":  "unannounced",
	"weigh":   "compare, assess or decide",
	"weighs":  "compare, assess or decide",
}

// homes are the packages in which a word has its one meaning (docs/glossary.md), with
// those below them; elsewhere it has none.
var homes = map[string]struct {
	in   []string
	take string
}{
	// What a finding names: function, file and line, a findings.Where in one line. The page's
	// data has it as a field.
	"place": {[]string{"compare", "diagnose", "report", "verify", "web"},
		"endpoint, address, path, label, placeholder, reservation or layout"},
	// The load beyond which latency rises and throughput does not.
	"knee": {[]string{"knee", "history", "cmd", "bench"}, "plateau for a setting's curve, limit for a machine's"},
	// One request step by step, as breakdown.Timeline records it.
	"timeline": {[]string{"record/breakdown", "anatomy/bands", "diagnose", "web"}, "history, segments or goroutines"},
}

func TestRetiredWords(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || s.foreign() {
			continue
		}
		for _, name := range declared(s.file) {
			for _, word := range wordsOf(name.Name) {
				take := retiredWords[word]
				home, ok := homes[strings.TrimSuffix(word, "s")]
				if ok && !slices.ContainsFunc(home.in, func(room string) bool { return within(s.dir(), room) }) {
					take = home.take
				}
				if take == "" {
					continue
				}
				t.Errorf("%s: %q in %s has too many meanings: take %s", s.set.Position(name.Pos()), word, name.Name, take)
			}
		}
	}
}

// TestWordsOf: words end where the case says so, initialisms included.
func TestWordsOf(t *testing.T) {
	for name, want := range map[string]string{
		"place": "place", "byPlace": "by place", "JSONPlace": "json place", "placeOf": "place of", "replaced": "replaced",
		"Untold": "untold", "P99Told": "p99 told", "place_linux": "place linux", "SQL": "sql", "_": "",
	} {
		if got := strings.Join(wordsOf(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// wordsOf splits an identifier into its words, in lower case.
func wordsOf(name string) []string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		begins := unicode.IsUpper(r) && i > 0 &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins || r == '_' {
			b.WriteByte(' ')
		}
		if r != '_' {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return strings.Fields(b.String())
}

// declared returns the names that a file gives: its package's, and those of imports,
// functions, types, values, fields, parameters and variables.
func declared(file *ast.File) []*ast.Ident {
	names := []*ast.Ident{file.Name}
	add := func(of ...ast.Expr) {
		for _, e := range of {
			if name, ok := e.(*ast.Ident); ok && name != nil {
				names = append(names, name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			if n.Name != nil {
				add(n.Name)
			}
		case *ast.FuncDecl:
			add(n.Name)
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.Field:
			names = append(names, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		}
		return true
	})
	return names
}
