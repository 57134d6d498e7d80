package syntax_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redline-go/redline/service/syntax"
)

// TestRelays: the lines marked "given" pass on what their function was given, those marked "own" do not. The
// source is only parsed.
func TestRelays(t *testing.T) {
	for name, least := range map[string]int{"store.go": 52, "client.go": 23, "generated.go": 3} {
		t.Run(name, func(t *testing.T) { relays(t, filepath.Join("testdata", "relays", name), least) })
	}
}

func relays(t *testing.T, file string, least int) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i, line := range strings.Split(string(content), "\n") {
		_, mark, ok := strings.Cut(line, "// ")
		sends := syntax.SendsText
		for prefix, kind := range map[string]syntax.Sends{"mapped: ": syntax.SendsMapped, "request: ": syntax.SendsRequest} {
			if rest, is := strings.CutPrefix(mark, prefix); is {
				mark, sends = rest, kind
			}
		}
		if !ok || !strings.HasPrefix(mark, "given") && !strings.HasPrefix(mark, "own") {
			continue
		}
		seen++
		got, err := syntax.Relays(file, i+1, sends)
		if err != nil || got != strings.HasPrefix(mark, "given") {
			t.Errorf("line %d, %s: relays %v, %v", i+1, strings.TrimSpace(line), got, err)
		}
	}
	if seen < least {
		t.Errorf("%d lines are marked, want at least %d", seen, least)
	}
	if got, err := syntax.Relays(file, 1, syntax.SendsText); got || err != nil {
		t.Errorf("a line outside of functions: %v, %v", got, err)
	}
	if _, err := syntax.Relays(file+"x", 1, syntax.SendsText); err == nil {
		t.Error("a missing file is no error")
	}
}

// FuzzRelays: any source that parses has an answer of Relays and Searches, soon: each variable of a chain of sums is followed once.
func FuzzRelays(f *testing.F) {
	sums := "a0 := q\n"
	for i := range 60 {
		sums += fmt.Sprintf("a%d := a%d + a%d\n", i+1, i, i)
	}
	f.Add("func f(q string) {\n"+sums+"db.Query(a60) }", 64)
	f.Add("func (r *T[K]) f(q K, op func()) { op(); db.Save(q) }", 2)
	f.Add("func f() *T { for i, x := range all { y := x\nif y > 1 { return x } } }", 3)
	f.Add("var f = func(s *sql.Stmt) { s.Query() }", 2)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, source string, line int) {
		file := filepath.Join(dir, "source.go")
		if err := os.WriteFile(file, []byte("package p\n"+source), 0o644); err != nil {
			t.Fatal(err)
		}
		for sends := syntax.SendsText; sends <= syntax.SendsRequest; sends++ {
			if _, err := syntax.Relays(file, line, sends); err != nil {
				return // it does not parse
			}
		}
		if _, err := syntax.Searches(file, line); err != nil {
			t.Error(err)
		}
	})
}
