package callstack

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/record/code"
)

// Driver identifies a database driver.
type Driver string

// Drivers for which the advice differs.
const (
	PGX    Driver = "pgx"
	PQ     Driver = "lib/pq"
	MySQL  Driver = "go-sql-driver/mysql"
	SQLite Driver = "SQLite"
)

// drivers by the import paths of their packages.
var drivers = []struct {
	driver Driver
	paths  []string
}{
	{PGX, []string{"github.com/jackc/pgx"}},
	{PQ, []string{"github.com/lib/pq"}},
	{MySQL, []string{"github.com/go-sql-driver/mysql"}},
	{SQLite, []string{"modernc.org/sqlite", "github.com/mattn/go-sqlite3", "github.com/ncruces/go-sqlite3",
		"zombiezen.com/go/sqlite", "crawshaw.io/sqlite", "github.com/glebarez/go-sqlite"}},
}

// DriverOf returns the driver that a function belongs to; "" for none.
func DriverOf(function string) Driver {
	for _, d := range drivers {
		if slices.ContainsFunc(d.paths, func(path string) bool {
			rest, ok := strings.CutPrefix(function, path)
			return ok && (rest == "" || rest[0] == '.' || rest[0] == '/')
		}) {
			return d.driver
		}
	}
	return ""
}

// TakesText reports whether a function is of a package whose handles are given statements as text. A
// prepared statement is not: its text was given before.
func TakesText(function string) bool {
	pkg, name := Split(function)
	if strings.HasPrefix(name, "(*Stmt).") || strings.HasPrefix(name, "(*NamedStmt).") {
		return false
	}
	return pkg == "database/sql" || pkg == "github.com/jmoiron/sqlx" || DriverOf(function) != ""
}

// AwaitsWriter reports whether a stack is in SQLite's busy handler: it sleeps and retries
// because another connection holds the lock (sqlite3_busy_timeout). Only drivers in Go show
// it, not C.
func AwaitsWriter(stack []code.Frame) bool {
	for _, f := range stack {
		pkg, name := Split(f.Function)
		if !strings.Contains(pkg, "sqlite") {
			continue
		}
		if name = strings.ToLower(name); strings.Contains(name, "busyhandler") ||
			strings.Contains(name, "busycallback") || strings.Contains(name, "busytimeout") {
			return true
		}
	}
	return false
}
