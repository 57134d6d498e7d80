package instrument

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listed returns the dependencies of the main package in dir.
func listed(t *testing.T, dir string) []Package {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,CgoFiles,Standard,Module", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -trimpath")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var all []Package
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p Package
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// written writes files into a folder of their own.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// build builds the module in dir with the files of an overlay and runs it.
func build(t *testing.T, dir string, setup *Setup) string {
	t.Helper()
	scratch, replace := t.TempDir(), map[string]string{}
	for virtual, content := range setup.Files {
		real := filepath.Join(scratch, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(real, content, 0o600); err != nil {
			t.Fatal(err)
		}
		replace[virtual] = real
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(scratch, "overlay.json")
	if err := os.WriteFile(overlay, data, 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"build", "-overlay", overlay, "-o", filepath.Join(scratch, "svc")}, setup.Flags...)
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(scratch, "svc")).CombinedOutput()
	if err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	return string(out)
}

// printer sets the hooks of database/sql and net/http and prints what they are given.
const printer = `package main

import (
	"fmt"
	_ "unsafe"
)

//go:linkname sqlBegin database/sql.redlineBegin
var sqlBegin func(kind uint32, name, more string) (op uint64, start int64)

//go:linkname sqlEnd database/sql.redlineEnd
var sqlEnd func(op uint64, start, rows int64, flags uint32)

//go:linkname httpBegin net/http.redlineBegin
var httpBegin func(kind uint32, name, more string) (op uint64, start int64)

//go:linkname httpEnd net/http.redlineEnd
var httpEnd func(op uint64, start, rows int64, flags uint32)

//go:linkname httpIdentify net/http.redlineIdentify
var httpIdentify func(op uint64, a, b, c string, values []interface{}) uint64

//go:linkname sqlIdentify database/sql.redlineIdentify
var sqlIdentify func(op uint64, a, b, c string, values []interface{}) uint64

var ops uint64

func identify(op uint64, a, b, c string, values []interface{}) uint64 {
	fmt.Printf("identify %q %q %q %v\n", a, b, c, values)
	return op
}

func begin(kind uint32, name, more string) (uint64, int64) {
	if kind == 0 {
		return 0, 0
	}
	ops++
	fmt.Printf("begin %d kind=%d %q %q\n", ops, kind, name, more)
	return ops, 0
}

func end(op uint64, start, rows int64, flags uint32) {
	fmt.Printf("end %d rows=%d flags=%d\n", op, rows, flags)
}

func init() {
	sqlBegin, sqlEnd, httpBegin, httpEnd, sqlIdentify, httpIdentify = begin, end, begin, end, identify, identify
}
`

// driver is a driver of database/sql that answers every query with two rows.
const driver = `package main

import (
	"context"
	"database/sql/driver"
	"io"
)

type fake struct{}

func (fake) Open(string) (driver.Conn, error)             { return fake{}, nil }
func (fake) Connect(context.Context) (driver.Conn, error) { return fake{}, nil }
func (fake) Driver() driver.Driver                        { return fake{} }
func (fake) Prepare(string) (driver.Stmt, error)          { return fake{}, nil }
func (fake) Close() error                                 { return nil }
func (fake) Begin() (driver.Tx, error)                    { return fake{}, nil }
func (fake) Commit() error                                { return nil }
func (fake) Rollback() error                              { return nil }
func (fake) NumInput() int                                { return -1 }
func (fake) Exec([]driver.Value) (driver.Result, error)   { return driver.RowsAffected(3), nil }
func (fake) Query([]driver.Value) (driver.Rows, error)    { return &two{}, nil }

type two struct{ n int }

func (*two) Columns() []string { return []string{"id"} }
func (*two) Close() error      { return nil }
func (t *two) Next(into []driver.Value) error {
	if t.n++; t.n > 2 {
		return io.EOF
	}
	into[0] = int64(t.n)
	return nil
}
`

// TestStandardLibrary builds a program with the hooks in database/sql and net/http
// and compares what they see with what it does.
func TestStandardLibrary(t *testing.T) {
	dir := written(t, map[string]string{
		"go.mod":  "module example.com/shop\n\ngo 1.24\n",
		"hook.go": printer, "driver.go": driver,
		"main.go": `package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	_ "unsafe"
)

//go:linkname pool database/sql.redlinePool
var pool func(name string, read func(*[7]float64)) (remove func())

func main() {
	var figures func(*[7]float64)
	pool = func(name string, read func(*[7]float64)) func() {
		figures = read
		return func() { fmt.Println("pool", name, "is gone") }
	}
	db := sql.OpenDB(fake{})
	db.SetMaxOpenConns(1)
	defer func() {
		var f [7]float64
		figures(&f)
		fmt.Println("pool", f)
		db.Close()
	}()
	var id int
	rows, err := db.Query("SELECT id FROM orders WHERE id > ?", 7)
	if err != nil {
		panic(err)
	}
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			panic(err)
		}
	}
	tx, _ := db.Begin()
	tx.Exec("UPDATE orders SET state = 'paid'")
	tx.Commit()

	s := httptest.NewServer(http.NotFoundHandler())
	for _, query := range []string{"", "?key=secret"} {
		r, err := http.Get(s.URL + "/up" + query)
		if err != nil {
			panic(err)
		}
		r.Body.Close()
	}
	for _, differs := range []string{"Range", "Cookie", "Authorization"} {
		r, _ := http.NewRequest("GET", s.URL+"/"+differs, nil)
		r.Header.Set(differs, "some")
		http.DefaultClient.Do(r)
	}
	http.Post(s.URL+"/post", "text/plain", nil)
}
`,
	})
	r, err := Overlay(listed(t, dir), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Left) > 0 || strings.Join(r.Done, " ") != "database/sql net/http" {
		t.Fatalf("done %q, left %v", r.Done, r.Left)
	}
	got := build(t, dir, &Setup{Files: r.Files})
	var kinds []string
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "begin") || !strings.Contains(line, "kind=9") && !strings.Contains(line, "kind=10") {
			kinds = append(kinds, strings.TrimSpace(line))
		}
	}
	want := []string{
		`begin 1 kind=4 "" ""`, "end 1 rows=0 flags=2", // the first connection is opened
		`begin 2 kind=1 "SELECT id FROM orders WHERE id > ?" ""`, `identify "SELECT id FROM orders WHERE id > ?" "" "" [7]`,
		"end 1 rows=0 flags=8", "end 2 rows=2 flags=0", // held until the rows are closed
		`begin 3 kind=4 "" ""`, "end 3 rows=0 flags=0", // and then reused
		`begin 4 kind=5 "" ""`,
		`begin 5 kind=2 "UPDATE orders SET state = 'paid'" ""`, "end 5 rows=0 flags=0",
	}
	if text := strings.Join(kinds, "\n"); !strings.HasPrefix(text, strings.Join(want, "\n")) {
		t.Errorf("database/sql:\n%s\nwanted first:\n%s", text, strings.Join(want, "\n"))
	}
	for _, one := range []string{"end 4 rows=0 flags=0", "end 3 rows=0 flags=8", "pool [0 1 1 0 0 0 0]", "pool sql is gone"} {
		if !strings.Contains(got, one) {
			t.Errorf("%q is missing in\n%s", one, got)
		}
	}
	if n := strings.Count(got, `kind=9 "GET 127.0.0.1:`); n != 5 || !strings.Contains(got, ` "/up"`) || !strings.Contains(got, ` "/up?"`) {
		t.Errorf("%d calls out, not 5, one of them with a query:\n%s", n, got)
	}
	for what, want := range map[string]int{`identify "/up" "" "" []`: 1, `identify "/up" "key=secret" "" []`: 1,
		`identify "/Authorization" "" "some" []`: 1, `identify "/Range"`: 0, `identify "/Cookie"`: 0, `identify "/post"`: 0} {
		if n := strings.Count(got, what); n != want {
			t.Errorf("%d of %s, not %d:\n%s", n, what, want, got)
		}
	}
}

// modules is the folder of a program that depends on all known modules, pgx and gRPC at
// the versions that redline itself depends on, with one more file.
func modules(t *testing.T, file, content string) string {
	t.Helper()
	version := func(path string) string {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", path).Output()
		if err != nil {
			t.Fatalf("go list -m %s: %v", path, err)
		}
		return path + " " + strings.TrimSpace(string(out)) + "\n"
	}
	return written(t, map[string]string{
		"go.mod": "module example.com/shop\n\ngo 1.26.0\n\nrequire (\n" + version("github.com/jackc/pgx/v5") + version("google.golang.org/grpc") + "github.com/redis/go-redis/v9 v9.7.0\n)\n",
		file:     content,
		"main.go": `package main

import (
	_ "github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/redis/go-redis/v9"
	_ "google.golang.org/grpc"
)

func main() {}
`,
	})
}

// setupModules puts the hooks into all known modules of a program, which must be these.
func setupModules(t *testing.T, dir string, known ...string) *Setup {
	t.Helper()
	deps := listed(t, dir)
	r, err := Overlay(deps, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range known {
		if !slices.Contains(r.Done, want) || len(r.Left) > 0 {
			t.Errorf("%s is not among those done: %s; left %v", want, r.Done, r.Left)
		}
	}
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	setup, err := r.Setup(t.Context(), deps, Layout{
		ModCache: strings.TrimSpace(string(out)), GoMod: filepath.Join(dir,
			"go.mod"), Scratch: t.TempDir(), // copies of modules go to the user's cache: every build but the first is warm
	})
	if err != nil {
		t.Fatal(err)
	}
	return setup
}

// TestForkIsLeftAlone: a package that shares only its name with a known one.
func TestForkIsLeftAlone(t *testing.T) {
	dir := written(t, map[string]string{"sql.go": "package sql\n\ntype DB struct{}\n\ntype Rows struct{}\ntype Tx " +
		"struct{}\ntype driverConn struct{}\n\nfunc (db *DB) conn() error { return nil }\n"})
	r, err := Overlay([]Package{{ImportPath: "database/sql", Dir: dir, GoFiles: []string{"sql.go"}}}, os.ReadFile)
	if err != nil || len(r.Files) > 0 || len(r.Left) != 1 || !strings.Contains(r.Left[0].Why, "(*DB).conn has another signature") {
		t.Errorf("%+v, %v", r, err)
	}
}
