package lint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/lint"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/service/compiler"
)

const source = `package main

var keep *order

type order struct{ lines [40]int }

func load(id int) *order {
	o := order{}
	o.lines[0] = id
	return &o
}

func total(tax, at []int) (t int) {
	for _, i := range at {
		t += tax[i]
	}
	return t
}

func first(tax []int, least int) int {
	for _, t := range tax {
		if t > least {
			return t
		}
	}
	return 0
}

func cold(id int) *order { o := order{}; return &o }

func main() {
	keep = load(len(cold(1).lines))
	println(total(keep.lines[:], []int{1, 2}))
}
`

// service writes the sources of a service and returns their directory.
func service(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module shop\n\ngo 1.24\n", "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// hot is a run whose profiles put most allocation on line 8 and most CPU on
// line 15.
func hot() *diagnosetest.Builder {
	return diagnosetest.New(16, 10*time.Millisecond).
		Alloc(9000, 9<<20, "main.load@main.go:8").
		Alloc(1000, 1<<20, "strings.Clone", "main.main@main.go:31").
		Sample(6*time.Second, "main.total@main.go:15").
		Sample(2*time.Second, "encoding/json.Marshal", "main.main@main.go:32")
}

// TestLoops: of the lines that lead to a call, only the one in a loop is listed.
func TestLoops(t *testing.T) {
	rec, _ := diagnosetest.New(16, 10*time.Millisecond).Asks(operation.HTTP, "GET tax/{}", 4000, time.Millisecond, 0,
		diagnosetest.Caller(1, time.Millisecond, "net/http.(*Client).Do", "main.total@main.go:15", "main.main@main.go:32")).Open(t)
	said, err := lint.Explain(context.Background(), rec, compiler.Build{Dir: service(t)}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(said.Loops) != 1 || said.Loops[0].Function != "main.total" || said.Loops[0].Line != 15 {
		t.Errorf("in loops are %+v, want main.total, line 15", said.Loops)
	}
}

// TestLoopsOfCPU: a line that leads to what takes CPU is listed if its loop ends by itself.
func TestLoopsOfCPU(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"go.mod": "module shop\n\ngo 1.24\n", "main.go": `package main

func fee(n int) (t int) {
	for i := 0; i < n; i++ {
		t ^= i
	}
	return t
}

func list(in []int) (t int) {
	for _, n := range in {
		t += fee(n)
	}
	return t
}

func main() {
	for {
		println(list([]int{1, 2}))
	}
}
`}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rec, _ := diagnosetest.New(16, 10*time.Millisecond).
		Sample(time.Second, "main.fee@main.go:5", "main.list@main.go:12", "main.main@main.go:19").Open(t)
	said, err := lint.Explain(context.Background(), rec, compiler.Build{Dir: dir}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(said.Loops); got != "[{main.fee /src/shop/main.go 5} {main.list /src/shop/main.go 12}]" {
		t.Errorf("in loops are %s, want lines 5 and 12", got)
	}
}

// TestSearches: of the lines that take CPU, only the one that decides in a loop which element is wanted is listed. One that takes
// less than a tenth is not looked up.
func TestSearches(t *testing.T) {
	searches := func(cpu time.Duration) int {
		rec, _ := hot().Sample(cpu, "runtime.memequal", "main.first@main.go:22").Open(t)
		said, err := lint.Explain(context.Background(), rec, compiler.Build{Dir: service(t)}, "./...")
		if err != nil {
			t.Fatal(err)
		}
		if n := len(said.Searches); n > 0 && said.Searches[0].Line != 22 {
			t.Errorf("searches are %+v", said.Searches)
		}
		return len(said.Searches)
	}
	if most, little := searches(2*time.Second), searches(100*time.Millisecond); most != 1 || little != 0 {
		t.Errorf("%d and %d lines search, want 1 and 0", most, little)
	}
}

// TestLogged: of the lines that take a little CPU, the one that computes a logger's argument is listed.
func TestLogged(t *testing.T) {
	dir := service(t)
	const logs = "package main\n\nimport \"log\"; func serve(dump func() string) {\n\tlog.Print(\n\t\tdump())\n\tlog.Print(1)\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "serve.go"), []byte(logs), 0o644); err != nil {
		t.Fatal(err)
	}
	b := hot()
	for _, line := range []string{"main.serve@serve.go:5", "main.serve@serve.go:6", "main.none@none.go:5"} {
		b.Sample(100*time.Millisecond, "main.dump@dump.go:9", line)
	}
	rec, _ := b.Open(t)
	said, err := lint.Explain(context.Background(), rec, compiler.Build{Dir: dir}, "./...")
	if err != nil || len(said.Logged) != 1 || said.Logged[0].Function != "main.serve" || said.Logged[0].Line != 5 {
		t.Errorf("%+v, %v", said.Logged, err)
	}
}

// TestCollector: the line that sets the garbage collector's percentage is listed, whether it takes CPU or not.
func TestCollector(t *testing.T) {
	dir := service(t)
	const tuned = "package main\n\nimport \"runtime/debug\"\n\nfunc tune() { debug.SetGCPercent(10) }\n"
	for _, name := range []string{"tune.go", "tune_test.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(tuned), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rec, _ := hot().Open(t)
	said, err := lint.Explain(context.Background(), rec, compiler.Build{Dir: dir}, "./...")
	if err != nil || len(said.Collector) != 1 || said.Collector[0].Function != "main.tune" || said.Collector[0].Line != 5 {
		t.Errorf("%+v, %v", said.Collector, err)
	}
}

// TestRelays: the walk from a statement outwards stops at the function that states it. A closure's function
// and the helper that calls the closure relay with it; the frame of a library between them does not end the walk.
func TestRelays(t *testing.T) {
	dir := service(t)
	if err := os.WriteFile(filepath.Join(dir, "db.go"), []byte(relaying), 0o644); err != nil {
		t.Fatal(err)
	}
	stack := func(ends ...string) []string {
		return append([]string{"database/sql.(*DB).QueryContext", "main.rows.func1@db.go:11", "main.retry@db.go:16",
			"main.rows@db.go:10"}, ends...)
	}
	rec, _ := diagnosetest.New(16, 10*time.Millisecond).Asks(operation.Query, "SELECT ?", 4000, time.Millisecond, 1,
		diagnosetest.Caller(0.5, time.Millisecond, stack("main.users@db.go:19", "main.main@main.go:32")...),
		diagnosetest.Caller(0.4, time.Millisecond, stack("lib.test/hook.Run", "main.users@db.go:19")...),
		diagnosetest.Caller(0.1, time.Millisecond, "database/sql.(*Stmt).QueryContext", "main.prepared@db.go:21", "main.main@main.go:32")).
		Open(t)
	said, err := lint.Explain(context.Background(), rec, compiler.Build{Dir: dir}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range said.Relays {
		lines = append(lines, fmt.Sprintf("%s:%d", f.Function, f.Line))
	}
	if got := strings.Join(lines, " "); got != "main.rows.func1:11 main.retry:16 main.rows:10 main.prepared:21" {
		t.Errorf("relays are %s", got)
	}
}

const relaying = `package main

import "database/sql"

var db *sql.DB

const byID = "SELECT"

func rows(q string, args ...any) {
	retry(func() error {
		_, err := db.Query(q, args...)
		return err
	})
}

func retry(op func() error) error { return op() }

func users(id string) {
	rows(byID, id)
}
func prepared(s *sql.Stmt, id string) { s.Query(id) }
`

// TestRelaysOfAClosureMadeElsewhere: a closure asks at the address that the function around it was given, so who calls it later does not.
func TestRelaysOfAClosureMadeElsewhere(t *testing.T) {
	dir := service(t)
	if err := os.WriteFile(filepath.Join(dir, "asks.go"), []byte(asking), 0o644); err != nil {
		t.Fatal(err)
	}
	relays := func(stack ...string) (n int) {
		rec, _ := diagnosetest.New(16, 10*time.Millisecond).Asks(operation.HTTP, "GET quotes/", 4000, time.Millisecond, 1,
			diagnosetest.Caller(1, time.Millisecond, append([]string{"net/http.(*Client).Get"}, stack...)...)).Open(t)
		said, err := lint.Explain(context.Background(), rec, compiler.Build{Dir: dir}, "./...")
		if err != nil {
			t.Fatal(err)
		}
		return len(said.Relays)
	}
	if n := relays("main.asks.func1@asks.go:6", "main.asks@asks.go:7", "main.page@asks.go:11"); n != 2 {
		t.Errorf("%d relays, of which one calls the other at once", n)
	}
	if n := relays("main.asks.func1@asks.go:6", "main.page@asks.go:12"); n != 0 {
		t.Errorf("%d relays, though who calls the closure gives it nothing", n)
	}
}

const asking = `package main

import "net/http"

func asks(url string, now bool) func() {
	ask := func() { http.Get(url) }
	if now { ask() }
	return ask
}

func page() { asks("http://quotes/", true)
	asks("http://quotes/", false)()
}
`

func TestExplain(t *testing.T) {
	rec, _ := hot().Open(t)
	said, err := lint.Explain(context.Background(), rec, compiler.Build{Dir: service(t)}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	remarks := map[int][]code.Remark{}
	for _, l := range said.Lines {
		remarks[l.Line] = l.Remarks
	}
	if r := remarks[8]; len(r) != 1 || r[0].Kind != code.Escapes || r[0].Text != "o escapes to heap" {
		t.Errorf("at the allocating line the compiler says %+v", r)
	}
	if r := remarks[15]; len(r) != 1 || r[0].Kind != code.BoundsCheck {
		t.Errorf("at the computing line the compiler says %+v", r)
	}
	if r, ok := remarks[20]; ok {
		t.Errorf("a line that nothing measured is told: %+v", r)
	}
	var text strings.Builder
	if err := lint.Text(&text, said, 1); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text.String(), "main.go:8  90 % of bytes allocated") || strings.Contains(text.String(), "main.go:15") {
		t.Errorf("the costliest line alone was asked for:\n%s", text.String())
	}
}

func TestExplainWithoutProfiles(t *testing.T) {
	rec, _ := diagnosetest.New(16, 10*time.Millisecond).Open(t)
	said, err := lint.Explain(context.Background(), rec, compiler.Build{Dir: service(t)}, "./...")
	if err != nil || len(said.Lines) != 0 {
		t.Errorf("said %+v, %v", said, err)
	}
	var text strings.Builder
	if err := lint.Text(&text, said, 0); err != nil || !strings.Contains(text.String(), "nothing is hot") {
		t.Errorf("told as %q (%v)", text.String(), err)
	}
}

func TestBundleKeepsRemarks(t *testing.T) {
	rec, _ := hot().Open(t)
	if err := lint.Bundle(context.Background(), rec.Dir, service(t), nil); err != nil {
		t.Fatal(err)
	}
	var said code.Compiler
	if err := rec.ReadJSON(code.File, &said); err != nil {
		t.Fatal(err)
	}
	if len(said.Lines) == 0 || said.Lines[0].Line != 8 || !strings.HasPrefix(said.GoVersion, "go1.") {
		t.Errorf("kept %+v", said)
	}
}

// TestBundleWithoutTheCompiler: the sources are read even where the compiler does not answer.
func TestBundleWithoutTheCompiler(t *testing.T) {
	rec, _ := hot().Open(t)
	dir := service(t)
	if err := os.WriteFile(filepath.Join(dir, "broken.go"), []byte("package main\n\nvar x int = \"no int\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := lint.Bundle(context.Background(), rec.Dir, dir, nil); err == nil || !strings.Contains(err.Error(), "broken.go") {
		t.Errorf("error %v", err)
	}
	var said code.Compiler
	if err := rec.ReadJSON(code.File, &said); err != nil {
		t.Fatal(err)
	}
	if len(said.Lines) == 0 || len(said.Lines[0].Remarks) > 0 {
		t.Errorf("kept %+v", said)
	}
}
