package operations

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/trace"
	"strings"
	"testing"
	"time"
)

// fresh begins with an empty table.
func fresh(t *testing.T) {
	t.Helper()
	all = newTable()
	Start()
	t.Cleanup(Stop)
}

func written(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// redlineStart stands for the hook's function of that name, and query for the wrapper.
func redlineStart(kind uint32, name, more string) (uint64, int64) { return Begin(kind, name, more) }

func query(text string, rows int64, flags uint32) {
	op, start := redlineStart(Query, text, "")
	End(op, start, rows, flags)
}

func TestConstantsStayInTheProgram(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT * FROM users WHERE password = 'hunter2'":                                                         "SELECT * FROM users WHERE password = ?",
		"SELECT 'it''s secret', E'a\\\\' FROM t":                                                                 "SELECT ? FROM t",
		"SELECT 'a', E'a\\'secret' FROM t":                                                                       "SELECT ?...",
		"select a, $tag$ secret ' $tag$, $$secret$$ -- secret":                                                   "select a, ?...",
		"SELECT a /* secret */ FROM t WHERE id IN ($1, $2,$3) AND n=-12.5e3":                                     "SELECT a FROM t WHERE id IN (?) AND n=-?",
		"UPDATE \"orders\" SET note = \"secret\" WHERE t1.\"id\" = 0xDEADBEEF":                                   "UPDATE \"orders\" SET note = ? WHERE t1.\"id\" = ?",
		"UPDATE \"users\" SET \"quota\"=quota - $1 WHERE \"group\" = $2":                                         "UPDATE \"users\" SET \"quota\"=quota - ? WHERE \"group\" = ?",
		"UPDATE t SET a = \"costs $1\", b = 'it''s $2' WHERE \"c\" = 1":                                          "UPDATE t SET a = ?, b = ? WHERE ? = ?",
		"SELECT \"a\", \"b c\" FROM t WHERE \"a\" = ? /* $1 */ -- $2":                                            "SELECT \"a\", ? FROM t WHERE ? = ?",
		`SELECT "a b" AS "c.d" FROM t WHERE id = $1`:                                                             `SELECT "a b" AS "c.d" FROM t WHERE id = ?`,
		`WITH "d" AS (SELECT *, f(x) FROM (SELECT "l", "id" FROM "_s"."ts")) SELECT * FROM d LIMIT 15`:           `WITH "d" AS (SELECT *, f(x) FROM (SELECT "l", "id" FROM "_s"."ts")) SELECT * FROM d LIMIT ?`,
		`SELECT "t"."a", f("secret", "secret") FROM "t" WHERE b = "secret"`:                                      `SELECT "t"."a", f(?) FROM "t" WHERE b = ?`,
		`INSERT INTO "s"."t" (a, b) VALUES ("secret", "secret")`:                                                 `INSERT INTO "s"."t" (a, b) VALUES (?)`,
		`INSERT INTO "s"."t" ("a", "b") VALUES ("secret", 'secret') ON CONFLICT ("a") DO NOTHING`:                `INSERT INTO "s"."t" ("a", "b") VALUES (?) ON CONFLICT (?) DO NOTHING`,
		`INSERT INTO t ("a", "b") SELECT f("secret") FROM u`:                                                     `INSERT INTO t ("a", "b") SELECT f(?) FROM u`,
		`INSERT INTO t VALUES ("secret", ("secret"))`:                                                            `INSERT INTO t VALUES (?, (?))`,
		`SELECT a FROM t WHERE b LIKE 'secret\_%' ESCAPE '\' AND c = 'secret' ORDER BY (SELECT count(*) FROM u)`: `SELECT a FROM t WHERE b LIKE ? ESCAPE ? AND c = ? ORDER BY (SELECT count(*) FROM u)`,
		`SELECT a FROM t WHERE b LIKE 'secret' ESCAPE '\\' AND c = 'secret'`:                                     `SELECT a FROM t WHERE b LIKE ? ESCAPE ? AND c = ?`,
		`SELECT a, "secret" FROM t WHERE b = "secret"`:                                                           `SELECT a, ? FROM t WHERE b = ?`,
		"UPDATE t SET price$1 = \"secret\"":                                                                      "UPDATE t SET price$1 = ?",
		"UPDATE t SET a = \"secret\" # $1":                                                                       "UPDATE t SET a = ?",
		"UPDATE t SET `a` = \"secret\" WHERE b = $1":                                                             "UPDATE t SET `a` = ? WHERE b = ?",
		"SELECT 'secret without an end":                                                                          "SELECT ?",
		"  SELECT\n\t1::int ":                                                                                    "SELECT ?::int",
	} {
		got := withoutConstants(text)
		if got != want {
			t.Errorf("%s\n is %s\nnot %s", text, got, want)
		}
	}
	if got := shapeOf(HTTP, "GET shop:80", "/v1/users/42/f3c9-1/orders"); got != "GET shop:80/v1/users/{}/{}/orders" {
		t.Error(got)
	}
	if got := shapeOf(HTTP, "GET shop:80", "/v1/search?"); got != "GET shop:80/v1/search?{}" {
		t.Error(got)
	}
}

// TestFigures: counts are exact, callers have their share, and name the caller.
func TestFigures(t *testing.T) {
	fresh(t)
	for i := 0; i < 2000; i++ {
		query(fmt.Sprintf("SELECT %d", i), 3, uint32(i%2)*Failed)
	}
	out := written(t)
	if !strings.Contains(out, " 1 2000 1000 ") || !strings.Contains(out, " 6000 0 0 0 \"SELECT ?\"") {
		t.Errorf("operation:\n%s", out)
	}
	if strings.Count(out, "\nat ") != 1 || !strings.Contains(out, "operations.TestFigures\"") || strings.Contains(out, "redlineStart") {
		t.Errorf("callers:\n%s", out)
	}
	var op, stack, calls int
	at := out[strings.Index(out, "\nat ")+1:]
	if _, err := fmt.Sscanf(at, "at %d %d %d", &op, &stack, &calls); err != nil || calls < first || calls > first+2000/stride {
		t.Errorf("stacks of %d calls were taken: %s", calls, at)
	}
}

// TestStacksOfMany: the more calls an operation has, the rarer is a stack.
func TestStacksOfMany(t *testing.T) {
	fresh(t)
	for i := 0; i < 3*many; i++ {
		query("SELECT 1", 0, 0)
	}
	stacks := int64(0)
	for _, c := range all.cells {
		stacks += c.calls
	}
	if want := int64(first + (many-first)/stride + 2*many/rare); stacks != want {
		t.Errorf("%d stacks, want %d", stacks, want)
	}
}

// TestTextsAlikeAtBothEnds: what was asked last under the same number is compared as a whole, with its kind.
func TestTextsAlikeAtBothEnds(t *testing.T) {
	fresh(t)
	for i := 0; i < 3; i++ {
		query("SELECT name FROM alpha WHERE id = $1", 0, 0)
		query("SELECT name FROM gamma WHERE id = $1", 0, 0)
		for _, path := range []string{"/v1/stores/open/orders", "/v1/stores/shut/orders"} {
			op, start := Begin(HTTP, "GET shop:80", path)
			End(op, start, 0, 0)
		}
	}
	out := written(t)
	for _, want := range []string{"alpha", "gamma", "open", "shut"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("%s is not there once:\n%s", want, out)
		}
	}
	for _, s := range all.shapes[1:all.count] {
		if s.calls != 3 {
			t.Errorf("%s has %d calls", s.text, s.calls)
		}
	}
}

// layered calls through as many layers as a library of middleware has.
func layered(n int, call func()) {
	if n > 0 {
		layered(n-1, call)
		return
	}
	call()
}

// TestManyLayers: between the call and who asked for it are more frames than are kept. Both ends are.
func TestManyLayers(t *testing.T) {
	fresh(t)
	layered(120, func() { query("SELECT 1", 0, 0) })
	out := written(t)
	if frames := strings.Count(out, "frame "); frames > inner+outer || frames < inner {
		t.Errorf("%d frames are kept", frames)
	}
	for _, want := range []string{"operations.TestManyLayers.func1\"", "operations.TestManyLayers\"", "testing.tRunner"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// TestBounds: distinct statements, which would take twice what is allowed if they were
// kept, statements of a megabyte, more shapes than there is room for.
func TestBounds(t *testing.T) {
	fresh(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	big := "INSERT INTO blobs VALUES ('" + strings.Repeat("secret", 1<<20/6)
	for i := 0; i < 200000; i++ {
		query(fmt.Sprintf("SELECT * FROM t WHERE id = %d AND name = 'n%d'", i, i), 0, 0)
		if i%10000 == 0 {
			query(big+fmt.Sprint(i)+"')", 0, 0)
		}
	}
	for i := 0; i < 2*maxShapes; i++ {
		query(fmt.Sprintf("SELECT * FROM t_%d", i), 0, 0)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("the table holds %d MiB", grown>>20)
	}
	out := written(t)
	if strings.Contains(out, "secret") {
		t.Error("a constant is written")
	}
	if n := strings.Count(out, "op "); n != maxShapes {
		t.Errorf("%d shapes", n)
	}
	for _, want := range []string{" 1 200000 0 ", " 1 20 0 ", "\"INSERT INTO blobs VALUES (?...\""} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q", want)
		}
	}
	if others := strings.SplitN(out, "\n", 2)[0]; !strings.HasPrefix(others, fmt.Sprintf("op 0 0 %d ", 2*maxShapes-(maxShapes-3))) {
		t.Errorf("others: %s", others)
	}
}

func TestStopped(t *testing.T) {
	fresh(t)
	Stop()
	if op, _ := Begin(Query, "SELECT 1", ""); op != 0 {
		t.Error("counts before Start")
	}
}

// TestTraceLogs: while a trace runs each begin and end is logged, from the same
// goroutine.
func TestTraceLogs(t *testing.T) {
	fresh(t)
	var got []string
	log = func(_ context.Context, category, message string) { got = append(got, category+" "+message) }
	t.Cleanup(func() { log = trace.Log })
	query("SELECT 1", 0, 0)
	f, err := os.Create(filepath.Join(t.TempDir(), "trace"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := trace.Start(f); err != nil {
		t.Fatal(err)
	}
	query("SELECT 1", 0, 0)
	trace.Stop()
	query("SELECT 1", 0, 0)
	if len(got) != 2 || !strings.HasPrefix(got[0], "redline.op b 1 1 ") || !strings.HasPrefix(got[1], "redline.op e 1 ") {
		t.Errorf("%q", got)
	}
}

func TestHeld(t *testing.T) {
	fresh(t)
	op, start := Begin(Acquire, "", "")
	End(op, start, 0, Opened)
	_, from := Begin(0, "", "")
	time.Sleep(time.Millisecond) // what is measured
	End(op, from, 0, Held)
	var id, kind, calls, errors, nanos, longest, rows, opened, undated, held int64
	lines := strings.Split(written(t), "\n")
	if _, err := fmt.Sscanf(lines[1], "op %d %d %d %d %d %d %d %d %d %d", &id, &kind, &calls, &errors, &nanos,
		&longest, &rows, &opened, &undated, &held); err != nil {
		t.Fatal(err)
	}
	if calls != 1 || opened != 1 || held < int64(time.Millisecond) {
		t.Error(lines[1])
	}
}

// TestDuplicates: a call counts if it begins while the same call is under way, and only then.
func TestDuplicates(t *testing.T) {
	fresh(t)
	call := func(a, query, user string, values ...interface{}) uint64 {
		op, _ := Begin(HTTP, "GET shop", "/prices?")
		return Identify(op, a, query, user, values)
	}
	count := func() (n int) {
		out := written(t)
		if i := strings.Index(out, "\nduplicates 1 "); i >= 0 {
			_, _ = fmt.Sscanf(out[i+1:], "duplicates 1 %d", &n)
		}
		return n
	}
	end := func(ops ...uint64) {
		for _, op := range ops {
			End(op, 0, 0, 0)
		}
	}
	one := call("/prices", "day=1", "")
	others := []uint64{call("/prices", "day=2", ""), call("/prices", "day=1", "me"), call("/price", "sday=1", ""), call("", "", "", 1),
		call("", "", "", "1"), call("", "", "", nil), call("", "", "", true), call("", "", "", []byte("2")),
		call("", "", "", time.Unix(1, 0))}
	if n := count(); n != 0 {
		t.Errorf("%d of different calls are duplicates", n)
	}
	two, three := call("/prices", "day=1", ""), call("/prices", "day=1", "")
	if n := count(); n != 2 {
		t.Errorf("%d of two are duplicates", n)
	}
	end(one, three)
	four := call("/prices", "day=1", "")
	end(two, four)
	end(others...)
	end(call("/prices", "day=1", ""))
	if n := count(); n != 3 {
		t.Errorf("%d duplicates, not the two and one that began beside the second", n)
	}
	type name string // two of them may be equal, or not
	end(call("", "", "", name("x")), call("", "", "", name("x")), call(strings.Repeat("x", longestKey+1), "", ""))
	for i, held := range underWay {
		if held != 0 {
			t.Fatalf("bucket %d still holds %x", i, held)
		}
	}
	op, start := Begin(Acquire, "", "")
	End(Identify(op, "a", "", "", nil), start, 0, 0)
	if Identify(0, "a", "", "", nil) != 0 {
		t.Error("an operation that is not counted is identified")
	}
}

// TestDuplicatesAtOnce: whoever is first and last, no place stays taken.
func TestDuplicatesAtOnce(t *testing.T) {
	fresh(t)
	done := make(chan bool)
	for g := 0; g < 8; g++ {
		go func() {
			for i := 0; i < 5000; i++ {
				op, start := Begin(HTTP, "GET shop", "/prices")
				End(Identify(op, "/prices", "", "", []interface{}{i % 3}), start, 0, 0)
			}
			done <- true
		}()
	}
	for g := 0; g < 8; g++ {
		<-done
	}
	for i, held := range underWay {
		if held != 0 {
			t.Fatalf("bucket %d still holds %x", i, held)
		}
	}
}
