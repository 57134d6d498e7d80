package database

import (
	"encoding/json"
	"time"
)

// File is the name of Statements in a bundle.
const File = "statements.json"

// Statements is statements.json: the SQL that the run observed.
type Statements struct {
	Database   string      `json:"database"`
	Server     string      `json:"server"` // version
	Statements []Statement `json:"statements"`
	// Blocking are the chains of sessions that waited for each other's locks,
	// longest wait first.
	Blocking []Blocking `json:"blocking,omitempty"`
	// Idle are the statements that sessions ran before they sat idle, most sessions first.
	Idle []Idle `json:"idle,omitempty"`
	// IdleReadings is how often the server was asked, once a second; 0 is never.
	IdleReadings int64 `json:"idle_readings,omitempty"`
	// Tables are those that the plans read, a bounded number; Planner is nil if they
	// were not read.
	Tables  []Table  `json:"tables,omitempty"`
	Planner *Planner `json:"planner,omitempty"`
}

// Idle is the sessions that sat idle after the same statement.
type Idle struct {
	Text        string        `json:"text"`              // the last statement, without constants
	QueryID     string        `json:"queryid,omitempty"` // of it, where the server reports it
	Application string        `json:"application"`
	State       string        `json:"state"`    // "idle", "idle in transaction"
	Seen        int64         `json:"seen"`     // how many of the readings found any
	Sessions    int64         `json:"sessions"` // found, summed over the readings
	Most        int64         `json:"most"`     // found at once
	AtEnd       int64         `json:"at_end"`   // found by the last reading
	First       time.Duration `json:"first_ns"` // run time of the first reading that found any
	Last        time.Duration `json:"last_ns"`
	Longest     time.Duration `json:"longest_ns"` // for which one sat idle
	Transaction time.Duration `json:"held_ns"`    // the longest for which a transaction of one was open
}

// Blocking is a chain of sessions, each of which waited for a lock of the one before
// it. Chains with the same statements in the same states count as one.
type Blocking struct {
	// Links begin with the session that does not wait.
	Links []BlockingLink `json:"links"`
	Seen  int64          `json:"seen"`     // how many of the readings, one per second, found it
	First time.Duration  `json:"first_ns"` // run time of the first of them
	Last  time.Duration  `json:"last_ns"`
}

// BlockingLink is one session of a chain, with the longest times found.
type BlockingLink struct {
	Text        string        `json:"text"`              // its statement, the last one when it is idle; without constants
	QueryID     string        `json:"queryid,omitempty"` // of its statement, where the server reports it
	Application string        `json:"application"`
	State       string        `json:"state"`        // "active", "idle in transaction", "prepared transaction"
	Wait        string        `json:"wait"`         // "Lock:transactionid"; empty when it does not wait
	Transaction time.Duration `json:"held_ns"`      // since its transaction began: it may hold its locks as long
	Statement   time.Duration `json:"statement_ns"` // since its statement began, for one that waits; since it went idle, for one that is
}

// Statement is one normalised statement with its totals over the steady span.
type Statement struct {
	QueryID string        `json:"queryid"`
	Text    string        `json:"text"`
	Calls   int64         `json:"calls"`
	Time    time.Duration `json:"time_ns"`
	Rows    int64         `json:"rows"`
	// Blocks of 8 kB over the steady span, and bytes of write-ahead log.
	Hits    int64 `json:"blocks_hit,omitempty"`
	Reads   int64 `json:"blocks_read,omitempty"`
	Dirtied int64 `json:"blocks_dirtied,omitempty"`
	Temp    int64 `json:"blocks_temp,omitempty"`
	WAL     int64 `json:"wal_bytes,omitempty"`
	// Planning is the time spent in planning; 0 unless the server tracks it.
	Planning time.Duration `json:"planning_ns,omitempty"`
	// Compiling is the part of Time in which the server compiled the plan (JIT); 0 before PostgreSQL 15, which does not count it.
	Compiling time.Duration `json:"jit_ns,omitempty"`
	// Plan is EXPLAIN (FORMAT JSON) of the statement, nil if there is none; PlanError
	// then says why. It is a generic plan if the parameters are unknown.
	Plan      json.RawMessage `json:"plan,omitempty"`
	PlanError string          `json:"plan_error,omitempty"`
	// PlanSource says where the plan comes from: "EXPLAIN", or "auto_explain: ...", the
	// plan of an execution with its actual values, constants hidden.
	PlanSource string `json:"plan_source,omitempty"`
	// Checks are the indexes that hypopg tried for the statement.
	Checks []IndexCheck `json:"index_checks,omitempty"`
}
