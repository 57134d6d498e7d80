package instrument

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/service/postgres"
)

// TestModulesForReal drives pgx, its pool, go-redis and gRPC with the hooks in them,
// against real servers, and compares what the hooks see with what was done.
func TestModulesForReal(t *testing.T) {
	redis, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed (hint: REDLINE_SETUP=test scripts/setup.sh)")
	}
	db, err := postgres.Start(t.Context(), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Stop(t.Context()) }()
	socket := filepath.Join(t.TempDir(), "redis.sock")
	server := exec.CommandContext(t.Context(), redis, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", filepath.Dir(socket))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	t.Setenv("DSN", db.DSN)
	t.Setenv("REDIS", socket)
	known := []string{"github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgxpool",
		"github.com/redis/go-redis/v9", "google.golang.org/grpc"}
	dir := modules(t, "real.go", driven(known...))
	content, err := os.ReadFile("testdata/real.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	got := build(t, dir, setupModules(t, dir, append(known, "net/http")...))
	var seen []string
	for line := range strings.Lines(got) {
		if !strings.Contains(line, "kind=9") && !strings.Contains(line, "kind=10") {
			seen = append(seen, strings.TrimSpace(line))
		}
	}
	want := []string{
		`acquire "" opened`, `exec "CREATE TABLE parts (id int, name text)" rows=0`,
		`acquire ""`, `copy "COPY \"parts\"" rows=3`,
		`acquire ""`, `query "SELECT name FROM parts WHERE id > $1" rows=2`,
		`acquire ""`, `batch "batch"`,
		`query "SELECT nothing FROM parts" failed`,
		`prepare "SELECT count(*) FROM parts"`,
		`redis "set"`, `redis "get"`, `redis "get"`, `redis "pipeline"`,
		`rpc "/grpc.health.v1.Health/Check"`, `rpc "/grpc.health.v1.Health/Check" nodeadline failed`,
	}
	at := 0
	for _, line := range seen {
		if at < len(want) && line == want[at] {
			at++
		}
	}
	if at < len(want) {
		t.Errorf("%q is missing, or out of order, in\n%s", want[at], strings.Join(seen, "\n"))
	}
	if n := len(slices.DeleteFunc(slices.Clone(seen), func(l string) bool { return !strings.HasPrefix(l, "held") })); n < 3 {
		t.Errorf("%d connections were given back, of at least 3:\n%s", n, strings.Join(seen, "\n"))
	}
}

// TestPgx4ForReal does the same with pgx's version before, whose rows have a type of another name.
func TestPgx4ForReal(t *testing.T) {
	db, err := postgres.Start(t.Context(), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Stop(t.Context()) }()
	t.Setenv("DSN", db.DSN)
	const pgx, pool = "github.com/jackc/pgx/v4", "github.com/jackc/pgx/v4/pgxpool"
	content, err := os.ReadFile("testdata/pgx4.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := written(t, map[string]string{
		"go.mod":  "module example.com/shop\n\ngo 1.26.0\n\nrequire " + pgx + " v4.18.3\n",
		"main.go": string(content), "real.go": driven(pgx, pool),
	})
	got := build(t, dir, setupModules(t, dir, pgx, pool))
	for _, want := range []string{`acquire ""`, `exec "CREATE TABLE parts (id int, name text)" rows=0`,
		`query "SELECT name FROM parts WHERE id > $1" rows=2`, `query "SELECT nothing FROM parts" failed`,
		`prepare "SELECT count(*) FROM parts"`} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// driven sets the hooks of modules, and prints what ends.
func driven(paths ...string) string {
	var b, set strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"fmt\"\n\t\"sync\"\n\t_ \"unsafe\"\n)\n")
	for i, path := range paths {
		fmt.Fprintf(&b, "\n//go:linkname begin%[1]d %[2]s.redlineBegin\nvar begin%[1]d func(kind uint32, name, more "+
			"string) (op uint64, start int64)\n\n//go:linkname end%[1]d %[2]s.redlineEnd\n"+
			"var end%[1]d func(op uint64, start, rows int64, flags uint32)\n", i, path)
		fmt.Fprintf(&set, "\tbegin%d, end%d = begin, end\n", i, i)
	}
	b.WriteString(`
var (
	mu    sync.Mutex
	begun = []string{""}
)

func begin(kind uint32, name, more string) (uint64, int64) {
	names := map[uint32]string{1: "query", 2: "exec", 3: "prepare", 4: "acquire", 7: "batch", 8: "copy", 11: "rpc", 12: "redis"}
	if kind == 0 {
		return 0, 0
	}
	mu.Lock()
	defer mu.Unlock()
	begun = append(begun, fmt.Sprintf("%s %q", names[kind], name+more))
	return uint64(len(begun) - 1), 0
}

func end(op uint64, start, rows int64, flags uint32) {
	mu.Lock()
	defer mu.Unlock()
	if op == 0 {
		return
	}
	text := begun[op]
	switch kind := text[:4]; {
	case flags&8 != 0:
		text = "held by " + text
	case flags&1 == 0 && (kind == "quer" || kind == "exec" || kind == "copy"):
		text += fmt.Sprintf(" rows=%d", rows)
	}
	for flag, word := range []string{1: " opened", 2: " nodeadline"} {
		if flag > 0 && flags&(1<<flag) != 0 {
			text += word
		}
	}
	if flags&1 != 0 {
		text += " failed"
	}
	fmt.Println(text)
}

func init() {
` + set.String() + "}\n")
	return b.String()
}
