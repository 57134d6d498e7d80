package service

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/probe/control"
	"github.com/redline-go/redline/probe/ring"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/compiler"
)

// shop queries a database on each request, and links pgx.
const shop = `package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"net/http"
	"os"

	_ "github.com/jackc/pgx/v5/pgxpool"
)

type fake struct{}

func (fake) Connect(context.Context) (driver.Conn, error) { return fake{}, nil }
func (fake) Driver() driver.Driver                        { return nil }
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

func load(db *sql.DB) {
	rows, err := db.Query("SELECT id FROM orders WHERE token = 'hunter2'")
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
	}
}

func main() {
	db := sql.OpenDB(fake{})
	db.SetMaxOpenConns(7)
	http.HandleFunc("/", func(http.ResponseWriter, *http.Request) { load(db) })
	http.ListenAndServe(os.Getenv("ADDR"), nil)
}
`

// shopModule writes the service's module and returns the folder of its main package.
func shopModule(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "github.com/jackc/pgx/v5").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "shop")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.mod"), "module example.com/shop\n\ngo 1.26.0\n\nrequire github.com/jackc/pgx/v5 "+string(out))
	write(t, filepath.Join(dir, "main.go"), shop)
	goIn(t, dir, "mod", "tidy")
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func goIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %q: %v\n%s", args, err, out)
	}
}

// ask sends one request to the probe of a target.
func ask(t *testing.T, svc *Target, r control.Request) string {
	t.Helper()
	conn, err := net.Dial("unix", svc.Socket())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(r.String() + "\n")); err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if _, err := control.Receive(conn, &data, 1<<24); err != nil {
		t.Fatal(err)
	}
	return data.String()
}

// pools returns the probe's next sample of the service's pools, by figure and name.
func pools(t *testing.T, svc *Target) map[string]float64 {
	t.Helper()
	r, err := ring.Open(svc.Ring())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var sample ring.Sample
	// The samples already in the ring were taken before; the next one was not.
	for taken := 0; taken < 2; {
		ok, err := r.Next(&sample)
		switch {
		case err != nil:
			t.Fatal(err)
		case ok && taken == 1:
			taken++
		case !ok:
			taken = max(1, taken)
			time.Sleep(time.Millisecond) // memory is written without an event
		}
	}
	got := map[string]float64{}
	for i, c := range r.Columns {
		if c.Named == 0 || math.IsNaN(sample.Values[i]) {
			continue
		}
		name, err := r.Name(c.Named - 1)
		if err != nil {
			t.Fatal(err)
		}
		got[c.Name+" "+name] = sample.Values[i]
	}
	return got
}

// TestBuildIsInstrumented: in each layout that a module may have, what the service asks
// of its database is counted, with its caller and without constants.
func TestBuildIsInstrumented(t *testing.T) {
	for name, layout := range map[string]func(t *testing.T, dir string){
		"module": func(*testing.T, string) {},
		"workspace": func(t *testing.T, dir string) {
			t.Setenv("GOWORK", "")
			goIn(t, filepath.Dir(dir), "work", "init", "./shop")
		},
		"vendor, trimpath, stripped": func(t *testing.T, dir string) {
			goIn(t, dir, "mod", "vendor")
			t.Setenv("GOFLAGS", "-mod=vendor -trimpath -ldflags=-s")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, address := shopModule(t), freeAddress(t)
			layout(t, dir)
			svc, err := Start(t.Context(), options(t, address, scenario.Target{Build: dir, Env: map[string]string{"ADDR": address}}))
			if err != nil {
				t.Fatal(err)
			}
			defer svc.End()
			info := svc.Info()
			want := []string{"database/sql", "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgxpool", "net/http"}
			if !slices.Equal(info.Instrumented, want) || len(info.NotInstrumented) > 0 {
				t.Fatalf("instrumented %q; left: %q", info.Instrumented, info.NotInstrumented)
			}
			if !slices.Contains(info.Modules, "github.com/jackc/pgx/v5") {
				t.Errorf("the binary is built of %q", info.Modules)
			}
			for range 3 {
				if _, err := http.Get("http://" + address + "/"); err != nil {
					t.Fatal(err)
				}
			}
			if got := pools(t, svc); got["pool.max_open sql"] != 7 || got["pool.idle sql"] != 1 {
				t.Errorf("the pool is not shown: %v", got)
			}
			got := ask(t, svc, control.Request{Op: control.Operations})
			if !regexp.MustCompile(`\nop \d+ 1 3 0 \d+ \d+ 6 0 0 0 "SELECT id FROM orders WHERE token = \?"\n`).MatchString(got) {
				t.Errorf("not 3 calls with 6 rows:\n%s", got)
			}
			if !strings.Contains(got, `"main.load"`) || strings.Contains(got, "hunter2") || strings.Contains(got, ".redline") {
				t.Errorf("callers:\n%s", got)
			}
		})
	}
}

// TestCompiled: the compiler is asked about a package in the way in which it was built, so that it compiles nothing else, not even
// what the package imports.
func TestCompiled(t *testing.T) {
	dir := shopModule(t)
	if err := os.Mkdir(filepath.Join(dir, "store"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "store", "store.go"), "package store\n\nimport _ \"net/http\"\n")
	write(t, filepath.Join(dir, "more.go"), "package main\n\nimport _ \"example.com/shop/store\"\n")
	if got, err := BuildInstrumented(t.Context(), dir, filepath.Join(t.TempDir(), "svc")); err != nil || len(got.Packages) == 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	b, remove, err := Compiled(t.Context(), dir, true)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	overlay, err := os.ReadFile(strings.TrimPrefix(b.Added[0], "-overlay="))
	if err != nil || !strings.Contains(string(overlay), "/net/http/") || !strings.HasPrefix(b.Added[1], "-modfile=") {
		t.Fatalf("added %q, %s, %v: the hooks are missing", b.Added, overlay, err)
	}
	args := slices.Concat([]string{"list", "-export", "-n", "-gcflags=example.com/shop/store=-json=0,file://" + t.TempDir()}, b.Added,
		[]string{"example.com/shop/store"})
	cmd := compiler.Command(b.Dir, t.TempDir(), args...)
	cmd.Env = append(cmd.Env, b.Env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if compiled := regexp.MustCompile(`/compile .* -p \S+`).FindAllString(string(out), -1); len(compiled) != 1 ||
		!strings.HasSuffix(compiled[0], " -p example.com/shop/store") {
		t.Errorf("compiled:\n%s", strings.Join(compiled, "\n"))
	}
	if _, err := compiler.Ask(t.Context(), b, "example.com/shop/store"); err != nil {
		t.Error(err)
	}
	remove()
	if _, err := os.Stat(strings.TrimPrefix(b.Added[0], "-overlay=")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the overlay is left: %v", err)
	}
}

// TestCompiledOfNothing: a package that is not there, or an interrupt, is an error that leaves nothing behind.
func TestCompiledOfNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ended, end := context.WithCancel(t.Context())
	end()
	for name, ctx := range map[string]context.Context{"no package": t.Context(), "interrupted": ended} {
		if _, remove, err := Compiled(ctx, filepath.Join(t.TempDir(), "none"), true); err == nil || remove != nil {
			t.Errorf("%s: no error, or something to remove", name)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestBuildThatFailsWithHooksIsMadeWithout: a vendored fork of pgx uses a name that the
// hooks need.
func TestBuildThatFailsWithHooksIsMadeWithout(t *testing.T) {
	dir := shopModule(t)
	goIn(t, dir, "mod", "vendor")
	conn := filepath.Join(dir, "vendor", "github.com", "jackc", "pgx", "v5", "conn.go")
	content, err := os.ReadFile(conn)
	if err != nil {
		t.Fatal(err)
	}
	write(t, conn, strings.Replace(string(content), "func (c *Conn) SendBatch",
		"type redlineStart struct{}\n\nfunc (c *Conn) SendBatch", 1))
	binary := filepath.Join(t.TempDir(), "svc")
	got, err := BuildInstrumented(context.Background(), dir, binary)
	if err != nil || len(got.Packages) > 0 || len(got.Left) != 1 || !strings.Contains(got.Left[0], "redlineStart") {
		t.Errorf("clash of names: %+v, %v", got, err)
	}
}

// TestHooksInShapesOfModules: a module keeps its relative paths, its flags, its embedded files and its C, also where its
// go.mod must be rewritten because pgx lies in the module cache.
func TestHooksInShapesOfModules(t *testing.T) {
	own := map[string]string{
		"main.go": "//go:build extra\n\npackage main\n\nimport (\n\t_ \"embed\"\n\t\"fmt\"\n\n\t\"example.com/lib\"\n" +
			"\t_ \"github.com/jackc/pgx/v5\"\n)\n\n//go:embed ui/page\nvar page string\n\nvar version string\n\n" +
			"func main() { fmt.Print(lib.Name(), page, version, square()) }\n",
		"ui/page": " page ",
		"c.go": "//go:build extra\n\npackage main\n\n// static int square(int n) { return n * n; }\nimport \"C\"\n\n" +
			"func square() int { return int(C.square(3)) }\n",
	}
	for name, layout := range map[string]func(t *testing.T, dir string){
		"relative replace": func(*testing.T, string) {},
		"another go.mod": func(t *testing.T, dir string) {
			for _, ext := range []string{"mod", "sum"} {
				if err := os.Rename(filepath.Join(dir, "go."+ext), filepath.Join(dir, "other."+ext)); err != nil {
					t.Fatal(err)
				}
			}
			write(t, filepath.Join(dir, "go.mod"), "module example.com/shop\n\ngo 1.26.0\n")
			t.Setenv("GOFLAGS", "-modfile=other.mod")
		},
		"vendored workspace": func(t *testing.T, dir string) {
			t.Setenv("GOWORK", "")
			goIn(t, dir, "work", "init", ".", "../lib")
			goIn(t, dir, "work", "vendor")
		},
		"a fork in the tree": func(t *testing.T, dir string) {
			out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/jackc/pgx/v5").Output()
			if err != nil {
				t.Fatal(err)
			}
			fork := filepath.Join(filepath.Dir(dir), "pgx")
			if err := os.CopyFS(fork, os.DirFS(strings.TrimSpace(string(out)))); err != nil {
				t.Fatal(err)
			}
			goIn(t, dir, "mod", "edit", "-replace", "github.com/jackc/pgx/v5=../pgx")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := shopModule(t)
			lib := filepath.Join(filepath.Dir(dir), "lib")
			for _, folder := range []string{lib, filepath.Join(dir, "ui")} {
				if err := os.Mkdir(folder, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			write(t, filepath.Join(lib, "go.mod"), "module example.com/lib\n\ngo 1.21\n")
			write(t, filepath.Join(lib, "lib.go"), "package lib\n\nfunc Name() string { return \"lib\" }\n")
			for file, text := range own {
				write(t, filepath.Join(dir, file), text)
			}
			goIn(t, dir, "mod", "edit", "-require", "example.com/lib@v0.0.0", "-replace", "example.com/lib=../lib")
			layout(t, dir)
			binary := filepath.Join(t.TempDir(), "program")
			built, err := BuildInstrumented(t.Context(), dir, binary, "-tags=extra", "-ldflags=-X main.version=two")
			if err != nil || len(built.Left) > 0 || !slices.Contains(built.Packages, "github.com/jackc/pgx/v5") {
				t.Fatalf("%+v, %v", built, err)
			}
			if out, err := exec.Command(binary).CombinedOutput(); err != nil || string(out) != "lib page two9" {
				t.Errorf("it prints %q, %v", out, err)
			}
		})
	}
}
