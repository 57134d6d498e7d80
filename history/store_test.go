package history

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/service/postgres"
)

func file(t testing.TB) *Store {
	t.Helper()
	return opened(t, filepath.Join(t.TempDir(), "what? a name #1 100%.db"))
}

func opened(t testing.TB, where string) *Store {
	t.Helper()
	s, err := Open(context.Background(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// databases runs a test on each kind of database, empty.
func databases(t *testing.T, test func(t *testing.T, where string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "history.db")) })
	t.Run("postgres", func(t *testing.T) {
		server, err := postgres.Start(t.Context(), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Stop(context.Background()) })
		test(t, server.DSN)
	})
}

// TestRoundTrip: what is added is found again, whole, once.
func TestRoundTrip(t *testing.T) {
	databases(t, func(t *testing.T, where string) {
		s := opened(t, where)
		if results, err := s.Results(t.Context(), Filter{}); err != nil || len(results) != 0 {
			t.Fatalf("an empty history: %d results, %v", len(results), err)
		}
		first, second := result(0, 40e3), result(1, 41e3)
		second.Commit.Branch, second.Commit.Subject = "topic", "a \x00 zero, and \xff no UTF-8"
		second.Scenario, second.Hash = "other", "ffee0011"
		add(t, s, second, first)
		if added, err := s.Add(t.Context(), first); added || err != nil {
			t.Errorf("again: added %t, %v", added, err)
		}
		results, err := s.Results(t.Context(), Filter{})
		if err != nil || len(results) != 2 {
			t.Fatalf("%d results, %v", len(results), err)
		}
		got := results[0]
		if !got.Time.Equal(first.Time) || !got.Commit.Time.Equal(first.Commit.Time) {
			t.Errorf("times %s and %s", got.Time, got.Commit.Time)
		}
		got.Time, got.Commit.Time = first.Time, first.Commit.Time
		if !math.IsNaN(got.Figures[1].Low) {
			t.Errorf("an interval came out of nowhere: %+v", got.Figures[1])
		}
		got.Figures[1].Low, got.Figures[1].High = 0, 0
		first.Figures[1].Low, first.Figures[1].High = 0, 0
		if !reflect.DeepEqual(got, first) {
			t.Errorf("got\n%+v\nwant\n%+v", got, first)
		}
		if results[1].Commit.Subject != "a ? zero, and ? no UTF-8" {
			t.Errorf("subject %q", results[1].Commit.Subject)
		}
		for name, c := range map[string]struct {
			filter  Filter
			results int
			figures int
		}{
			"metric":      {Filter{Metrics: []string{"throughput", "p50"}}, 2, 1},
			"scenario":    {Filter{Scenario: "other"}, 1, 2},
			"its hash":    {Filter{Scenario: "ffee"}, 1, 2},
			"no scenario": {Filter{Scenario: "%"}, 0, 0},
			"branch":      {Filter{Branch: "topic"}, 1, 2},
			"since":       {Filter{Since: epoch.Add(30 * time.Minute)}, 1, 2},
			"injection":   {Filter{Branch: "' OR 1=1 --", Metrics: []string{"'; DROP TABLE redline_results; --"}}, 0, 0},
		} {
			results, err := s.Results(t.Context(), c.filter)
			if err != nil || len(results) != c.results || c.results > 0 && len(results[0].Figures) != c.figures {
				t.Errorf("by %s: %d results, %v", name, len(results), err)
			}
		}
		bad := result(2, math.Inf(1))
		if _, err := s.Add(t.Context(), bad); err == nil {
			t.Error("an infinite value was kept")
		}
		if results, _ := s.Results(t.Context(), Filter{}); len(results) != 2 {
			t.Error("half of a bad result was kept")
		}
	})
}

// writers is how many write at once, and each how often.
const writers, each = 4, 20

// TestWritersAtOnce: connections that open a new history and add to it at the
// same time neither fail nor lose a result.
func TestWritersAtOnce(t *testing.T) {
	databases(t, func(t *testing.T, where string) {
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				if err := write(where, w); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		results, err := opened(t, where).Results(t.Context(), Filter{})
		if err != nil || len(results) != writers*each {
			t.Errorf("%d results, %v", len(results), err)
		}
	})
}

func write(where string, w int) error {
	s, err := Open(context.Background(), where)
	if err != nil {
		return err
	}
	defer s.Close()
	for n := range each {
		if _, err := s.Add(context.Background(), result(w*each+n, 40e3)); err != nil {
			return err
		}
	}
	return nil
}

const helperVariable = "HISTORY_TEST_WRITER"

// TestProcessesAtOnce is the same with processes, this test's own binary.
func TestProcessesAtOnce(t *testing.T) {
	if where := os.Getenv(helperVariable); where != "" {
		if err := write(where, 1); err != nil {
			t.Fatal(err)
		}
		return
	}
	where := filepath.Join(t.TempDir(), "history.db")
	other := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcessesAtOnce$")
	other.Env = append(os.Environ(), helperVariable+"="+where)
	var out strings.Builder
	other.Stdout, other.Stderr = &out, &out
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if err := write(where, 0); err != nil {
		t.Error(err)
	}
	if err := other.Wait(); err != nil {
		t.Fatalf("the other process: %v\n%s", err, &out)
	}
	results, err := opened(t, where).Results(t.Context(), Filter{})
	if err != nil || len(results) != 2*each {
		t.Errorf("%d results, %v", len(results), err)
	}
}

// TestMigration: a history of an older schema is brought up to date with what it
// holds, and one of a newer schema is refused.
func TestMigration(t *testing.T) {
	databases(t, func(t *testing.T, where string) {
		connect := openFile
		if isDSN(where) {
			connect = openServer
		}
		old, err := connect(where, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := old.migrate(t.Context(), schema[:1]); err != nil {
			t.Fatal(err)
		}
		add(t, old, result(0, 40e3))
		old.Close()

		s := opened(t, where)
		if version, err := s.version(t.Context(), s.db); err != nil || version != len(schema) {
			t.Fatalf("version %d, %v", version, err)
		}
		add(t, s, result(1, 40e3))
		if results, err := s.Results(t.Context(), Filter{}); err != nil || len(results) != 2 {
			t.Errorf("%d results, %v", len(results), err)
		}
		broken := append(append([]string{}, schema...), `ALTER TABLE redline_results ADD COLUMN note TEXT`,
			`ALTER TABLE no_such_table ADD COLUMN x TEXT`)
		if err := s.migrate(t.Context(), broken); err == nil || !strings.Contains(err.Error(), "version 6") {
			t.Errorf("a step that fails: %v", err)
		}
		if version, _ := s.version(t.Context(), s.db); version != len(schema) {
			t.Errorf("a step that failed left version %d", version)
		}
		if err := s.migrate(t.Context(), broken[:len(schema)+1]); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), where); err == nil || !strings.Contains(err.Error(), "newer redline") {
			t.Errorf("a newer schema: %v", err)
		}
	})
}

func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "text.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database at all\n", 400)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("a text file: %v", err)
	}
	if data, _ := os.ReadFile(path); !strings.HasPrefix(string(data), "no database") {
		t.Error("the file was written over")
	}

	torn := filepath.Join(dir, "torn.db")
	s, err := Open(t.Context(), torn)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 50 {
		add(t, s, result(n, 40e3))
	}
	s.Close()
	data, err := os.ReadFile(torn)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i++ { // all but the first page
		data[i] = byte(i)
	}
	if err := os.WriteFile(torn, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), torn); err == nil || !strings.Contains(err.Error(), torn) ||
		!strings.Contains(err.Error(), "move it away") {
		t.Errorf("a torn file: %v", err)
	}

	foreign := filepath.Join(dir, "foreign.db")
	db, err := sql.Open("sqlite", foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE customers (name TEXT)`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, err := Open(t.Context(), foreign); !errors.Is(err, errForeign) {
		t.Errorf("another program's file: %v", err)
	}
	if _, err := Read(t.Context(), foreign); !errors.Is(err, errForeign) {
		t.Errorf("another program's file, to read: %v", err)
	}
	if _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("a folder: %v", err)
	}
}

// TestRead: who only looks makes neither file nor table, and leaves an older schema to those who still write it.
func TestRead(t *testing.T) {
	databases(t, func(t *testing.T, where string) {
		if _, err := Read(t.Context(), where); !errors.Is(err, ErrNone) {
			t.Errorf("no history: %v", err)
		}
		connect := openFile
		if isDSN(where) {
			connect = openServer
		} else if _, err := os.Stat(where); err == nil {
			t.Error("reading made a file")
		}
		old, err := connect(where, true)
		if err != nil {
			t.Fatal(err)
		}
		defer old.Close()
		if version, err := old.version(t.Context(), old.db); version != 0 || err != nil {
			t.Errorf("reading made a schema of version %d, %v", version, err)
		}
		if err := old.migrate(t.Context(), schema[:1]); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), where); err == nil || !strings.Contains(err.Error(), "redline history add") {
			t.Errorf("an older schema: %v", err)
		}
		if version, err := old.version(t.Context(), old.db); version != 1 || err != nil {
			t.Errorf("reading made version %d of version 1, %v", version, err)
		}
		opened(t, where)
		s, err := Read(t.Context(), where)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if err := old.migrate(t.Context(), append(schema[:len(schema):len(schema)], `CREATE TABLE more (n INTEGER)`)); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), where); err == nil || !strings.Contains(err.Error(), "newer redline") {
			t.Errorf("a newer schema: %v", err)
		}
	})
	path := filepath.Join(t.TempDir(), "none", "history.db")
	if _, err := Read(t.Context(), path); !errors.Is(err, ErrNone) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("reading made a folder")
	}
}

// TestSecrets: whatever is wrong with a DSN, its password is never printed.
func TestSecrets(t *testing.T) {
	const password = "tr0ub4dor"
	for _, dsn := range []string{
		"postgres://user:" + password + "@127.0.0.1:1/db",
		"postgresql://user:" + password + "@127.0.0.1:1/db?sslmode=disable",
		"host=127.0.0.1 port=1 user=u password=" + password + " dbname=d",
		"postgres://user:" + password + "@127.0.0.1:notaport/db",
		"postgres://user:" + password + "@[::1/db",
		"host=127.0.0.1 port=x password=" + password,
		"password='" + password,
	} {
		s, err := Open(t.Context(), dsn)
		if err == nil {
			t.Fatalf("%s: opened %s", dsn, s.Name())
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), password) {
				t.Errorf("the error shows the password: %v", e)
			}
		}
	}
	// A server refuses the password in words of its own.
	server, err := postgres.Start(t.Context(), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Stop(context.Background()) })
	place, err := url.Parse(server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	place.User = url.UserPassword(place.User.Username(), password)
	if _, err := Open(t.Context(), place.String()); err == nil || strings.Contains(err.Error(), password) {
		t.Errorf("a wrong password: %v", err)
	}
	s := opened(t, server.DSN)
	real, _ := url.Parse(server.DSN)
	if secret, _ := real.User.Password(); secret == "" || strings.Contains(s.Name(), secret) {
		t.Errorf("the name %q", s.Name())
	}
}
