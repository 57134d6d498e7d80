package sqlite

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/record/operation"
)

// shop is a database that this process has open.
func shop(t *testing.T, journal string) (dir string, db *sql.DB) {
	t.Helper()
	dir = t.TempDir()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "shop.db")+"?_pragma=journal_mode("+journal+")&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	for _, text := range []string{
		"CREATE TABLE customers (id INTEGER PRIMARY KEY, email TEXT, city TEXT)",
		"CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, placed INTEGER)",
		"CREATE INDEX customers_city ON customers (city)",
		"CREATE VIRTUAL TABLE notes USING fts5 (customer UNINDEXED, body)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 2000) INSERT INTO customers SELECT i, 'c' || i, 'x' || (i % 50) FROM n",
		"INSERT INTO orders SELECT id, id % 100, id FROM customers",
		"INSERT INTO notes SELECT id, 'a note' FROM customers LIMIT 1500",
	} {
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	return dir, db
}

// state describes every file in a folder by name and content.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(data))
	}
	return all
}

func asked(texts ...string) *operation.Operations {
	ops := &operation.Operations{}
	for i, text := range texts {
		ops.Operations = append(ops.Operations, operation.Operation{ID: i + 1, Kind: operation.Query, Text: text})
	}
	return ops
}

// TestExplain: plans are those of the database's current state, though it may all be only in
// the write-ahead log and a writer holds its lock; and nothing changes.
func TestExplain(t *testing.T) {
	const (
		byMail  = "SELECT id FROM customers WHERE email = ?"
		byCity  = "SELECT id FROM customers WHERE city = ?"
		newest  = "SELECT id FROM orders AS o ORDER BY placed DESC LIMIT ?"
		join    = "SELECT c.id, o.id FROM customers c JOIN orders o ON o.customer = c.id WHERE c.city = ?"
		notes   = "SELECT c.id, n.body FROM customers c LEFT JOIN notes n ON n.customer = c.id ORDER BY c.id DESC LIMIT ?"
		byRow   = "SELECT c.id, n.body FROM customers c LEFT JOIN notes n ON n.rowid = c.id ORDER BY c.id DESC LIMIT ?"
		sets    = "UPDATE customers SET city = ?, email = ? WHERE rowid = (SELECT rowid FROM customers WHERE email = ? LIMIT ?)"
		shows   = "SELECT CASE WHEN placed > ? THEN id ELSE customer END FROM orders WHERE customer = ?"
		removes = "DELETE FROM customers; DELETE FROM orders"
	)
	for _, journal := range []string{"wal", "delete"} {
		t.Run(journal, func(t *testing.T) {
			dir, db := shop(t, journal)
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec("UPDATE orders SET placed = placed + 1 WHERE id < 10"); err != nil {
				t.Fatal(err)
			}
			before := state(t, dir)
			ops := asked(byMail, byCity, newest, join, notes, byRow, sets, shows, removes, "SELECT * FROM elsewhere WHERE id = ?")
			new(Plans).Explain(t.Context(), observe.Subject{PID: os.Getpid()}, ops)
			if after := state(t, dir); !reflect.DeepEqual(before, after) {
				t.Errorf("files changed: %v, then %v", before, after)
			}
			if err := tx.Commit(); err != nil {
				t.Errorf("the target's transaction: %v", err)
			}
			want := map[string]string{"wal": "wal", "delete": "rollback"}[journal]
			if len(ops.SQLite) != 1 || ops.SQLite[0].File != "shop.db" || ops.SQLite[0].Journal != want || ops.SQLite[0].Why != "" {
				t.Fatalf("%+v", ops.SQLite)
			}
			scans := map[string][]operation.SQLiteScan{
				byMail: {{Table: "customers", Rows: 2000, Columns: []string{"email"}, Equal: []string{"email"}}}, byCity: nil,
				newest: {{Table: "orders", Rows: 2000, Sorts: []string{"placed"}}},
				// A virtual table is read from end to end for each customer; the customers are
				// found by their key, which needs no index.
				notes: {{Table: "customers", Rows: 2000}, {Table: "notes", Rows: 1500, Inner: true, Virtual: true}},
				byRow: {{Table: "customers", Rows: 2000}},
				// What is set is no condition.
				sets: {{Table: "customers", Rows: 2000, Columns: []string{"email"}, Equal: []string{"email"}}},
				// Nor is what is chosen among.
				shows: {{Table: "orders", Rows: 2000, Columns: []string{"customer"}, Equal: []string{"customer"}}},
				join:  {{Table: "orders", Rows: 2000, Columns: []string{"customer"}, Equal: []string{"customer"}}},
			}
			for text, want := range scans {
				if p := ops.PlanOf(text); p == nil || !reflect.DeepEqual(p.Scans, want) {
					t.Errorf("%s: %+v, want %+v", text, p, want)
				}
			}
			if len(ops.Plans) != len(scans) {
				t.Errorf("%d plans: %+v", len(ops.Plans), ops.Plans)
			}
		})
	}
}

// TestExplainAfterItWasClosed: a service opens its database for each request, and has it closed once the load is over.
func TestExplainAfterItWasClosed(t *testing.T) {
	dir, db := shop(t, "wal")
	subject, seen := observe.Subject{PID: os.Getpid()}, &Plans{}
	seen.Look(subject)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	const text = "SELECT id FROM customers WHERE email = ?"
	ops, unseen := asked(text), asked(text)
	seen.Explain(t.Context(), subject, ops)
	new(Plans).Explain(t.Context(), subject, unseen)
	if plan := ops.PlanOf(text); plan == nil || len(plan.Scans) != 1 || plan.Scans[0].Table != "customers" {
		t.Errorf("looked at while it was open: %+v", ops)
	}
	if len(unseen.SQLite) != 0 {
		t.Errorf("never seen open: %+v", unseen.SQLite)
	}
	path := filepath.Join(dir, "shop.db")
	if err := errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path)); err != nil {
		t.Fatal(err)
	}
	linked := asked(text)
	if seen.Explain(t.Context(), subject, linked); len(linked.SQLite) != 0 {
		t.Errorf("a link since then: %+v", linked.SQLite)
	}
}

// TestExplainRefuses files of other users and ones that only begin like a database.
func TestExplainRefuses(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("giving a file away needs root")
	}
	dir, _ := shop(t, "delete")
	if err := os.Chown(filepath.Join(dir, "shop.db"), 12345, 12345); err != nil {
		t.Fatal(err)
	}
	broken, err := os.OpenFile(filepath.Join(dir, "broken.db"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer broken.Close()
	if _, err := broken.WriteString(magic + "\x10\x00" + strings.Repeat("\xff", 9000)); err != nil {
		t.Fatal(err)
	}
	ops := asked("SELECT id FROM customers WHERE email = ?")
	new(Plans).Explain(t.Context(), observe.Subject{PID: os.Getpid()}, ops)
	if len(ops.SQLite) != 2 || !strings.Contains(ops.SQLite[1].Why, "another user") || ops.SQLite[0].Why == "" || len(ops.Plans) > 0 {
		t.Errorf("%+v %+v", ops.SQLite, ops.Plans)
	}
}
