package operation

import (
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/timebase"
)

// File names the bundle's file of the target's requests to databases and
// other services.
const File = "operations.json"

// Log is the category of the log messages in an execution trace between which a
// goroutine is within an operation.
const Log = "redline.op"

// Operations is operations.json: the target's requests to its databases and other
// services in the steady span, counted by hooks that redline's build put into it.
type Operations struct {
	Span timebase.Span `json:"span"`
	// Operations are sorted by TotalNS, largest first.
	Operations []Operation `json:"operations"`
	// Others are the calls of operations beyond the probe's bound.
	Others int64 `json:"others,omitempty"`
	// Queries reports that the text of an HTTP call says whether it has a query; false in bundles
	// from before it did.
	Queries bool `json:"queries,omitempty"`
	// SQLite holds the database files that the target has open, and Plans SQLite's
	// plans of the statements that take most time.
	SQLite []SQLiteDatabase `json:"sqlite,omitempty"`
	Plans  []SQLitePlan     `json:"plans,omitempty"`
	// Postgres is what a PostgreSQL server that counts no statements says of them; nil otherwise.
	Postgres *ServerPlans `json:"postgres,omitempty"`
}

// Kind is the kind of an operation.
type Kind string

// Kinds of operation.
const (
	Query       Kind = "query"
	Exec        Kind = "exec"
	Prepare     Kind = "prepare"
	Acquire     Kind = "acquire" // a wait for a pooled connection
	Transaction Kind = "transaction"
	Batch       Kind = "batch"
	Copy        Kind = "copy"
	HTTP        Kind = "http"
	Dial        Kind = "dial"    // a connection of net/http's client: waited for, or opened
	Connect     Kind = "connect" // one that net/http's client opens, for the call that waits or for a later one
	RPC         Kind = "rpc"
	Redis       Kind = "redis"
)

// Statement reports whether operations of the kind send a statement to a database.
func (k Kind) Statement() bool {
	switch k {
	case Query, Exec, Prepare, Copy:
		return true
	}
	return false
}

// Operation is a statement, a route called, a wait for a connection: all calls of one
// kind and text.
type Operation struct {
	ID   int  `json:"id"` // within this run; above zero
	Kind Kind `json:"kind"`
	// Text is the statement without its constants, "GET host/path/{}" or
	// "GET host/path?{}", a method or a command; empty for acquire and transaction.
	Text       string `json:"text,omitempty"`
	Calls      int64  `json:"calls"`
	Errors     int64  `json:"errors,omitempty"`
	TotalNS    int64  `json:"total_ns"`         // of a query until its rows are closed
	MaxNS      int64  `json:"max_ns"`           // since the target started
	Rows       int64  `json:"rows,omitempty"`   // read or changed, where the package reports them
	Opened     int64  `json:"opened,omitempty"` // connections opened in these calls
	NoDeadline int64  `json:"no_deadline,omitempty"`
	// Duplicates are the calls that began while the same call was under way: a GET of the same URL with the same authorization, or a
	// query with the same values. 0 also where calls cannot be told apart.
	Duplicates int64 `json:"duplicates,omitempty"`
	// HeldNS is how long the connections that an acquire returned were held.
	HeldNS int64 `json:"held_ns,omitempty"`
	// Callers are those whose stack was taken, the most frequent first: of all first
	// calls, later of one in 64.
	Callers []Caller `json:"callers,omitempty"`
}

// Caller is one stack from which an operation was called.
type Caller struct {
	Share   float64      `json:"share"`             // of the operation's calls whose stack was taken
	MeanNS  int64        `json:"mean_ns"`           // of these
	HeldNS  int64        `json:"held_ns,omitempty"` // mean, of an acquire
	Opened  int64        `json:"opened,omitempty"`  // connections opened for the sampled calls
	Stack   []code.Frame `json:"stack"`             // innermost first
	Sampled int64        `json:"sampled"`           // calls whose stack was taken
}

// SQLitePlan is the plan of SQLite's planner for one statement.
type SQLitePlan struct {
	Text string   `json:"text"` // the operation's
	File string   `json:"file"` // the database's base name
	Rows []string `json:"plan"` // EXPLAIN QUERY PLAN, one per step
	// Scans are the tables that the plan reads whole.
	Scans []SQLiteScan `json:"scans,omitempty"`
}

// SQLiteScan is a table that a plan reads from end to end.
type SQLiteScan struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"` // of the table, approximately; -1 if unknown
	// Columns are compared with a value in the statement's condition, but lead no index
	// that the plan uses; Equal are those compared by "=".
	Columns []string `json:"columns,omitempty"`
	Equal   []string `json:"equal,omitempty"`
	// Sorts are the columns by which a statement with LIMIT sorts all its rows.
	Sorts []string `json:"sorts,omitempty"`
	// SortsBy is the expression by which it sorts first, instead: no index of columns has that order.
	SortsBy string `json:"sorts_by,omitempty"`
	// Inner is a table that is read again for each row of those before it in the plan.
	Inner bool `json:"inner,omitempty"`
	// Virtual is a virtual table, which no index can be added to.
	Virtual bool `json:"virtual,omitempty"`
}

// SQLiteDatabase is a database file that the target has open.
type SQLiteDatabase struct {
	File string `json:"file"` // base name
	// Journal is its journal mode, according to the file: "wal", or "rollback" (delete,
	// truncate or persist).
	Journal string `json:"journal"`
	Bytes   int64  `json:"bytes"`
	// Why says why its plans are not known; "" when they are.
	Why string `json:"why,omitempty"`
}

// PlanOf returns SQLite's plan of an operation's text; nil when there is none.
func (o *Operations) PlanOf(text string) *SQLitePlan {
	for i := range o.Plans {
		if o.Plans[i].Text == text {
			return &o.Plans[i]
		}
	}
	return nil
}
