package record

import (
	"encoding/json"
	"time"
)

// Schema names of the files that others parse.
const (
	RunSchema     = "redline.run/1"
	SummarySchema = "redline.summary/1"
	LadderSchema  = "redline.ladder/1"
)

// State is how a run ended.
type State string

// States of a run. A bundle on disk that still says running was killed; Open
// turns that into aborted.
const (
	Running  State = "running"
	Complete State = "complete"
	Aborted  State = "aborted"
)

// Run is run.json: the plan, the machine and target, and the health of the sources.
type Run struct {
	Schema  string        `json:"schema"`
	ID      string        `json:"id"` // the bundle's directory name
	State   State         `json:"state"`
	Why     string        `json:"why,omitempty"` // why it was aborted
	Redline string        `json:"redline"`       // version of the tool
	Clock   Clock         `json:"clock"`
	Window  time.Duration `json:"window_ns"`
	// Steady is the span that findings speak of: after warm-up, up to the end
	// of load. Zero while the run has not got there.
	Steady Span `json:"steady"`
	// Resolution lists the stretches of a long run whose windows were joined to
	// wider ones; none in a run of up to a quarter of an hour.
	Resolution []Resolution    `json:"resolution,omitempty"`
	Scenario   json.RawMessage `json:"scenario"` // the plan, redacted
	Host       Host            `json:"host"`
	Target     Target          `json:"target"`
	Sources    []SourceHealth  `json:"sources"`
	Warnings   []string        `json:"warnings"`
}

// Host is the fingerprint of the machine that ran the load and the target.
type Host struct {
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Kernel   string `json:"kernel"`
	CPUModel string `json:"cpu_model"`
	CPUs     int    `json:"cpus"`
	Memory   int64  `json:"memory_bytes"`
}

// Target describes the service under test.
type Target struct {
	How       string   `json:"how"` // url, exec, build or pid
	URL       string   `json:"url"`
	Command   []string `json:"command,omitempty"` // redacted
	PID       int      `json:"pid,omitempty"`
	GoVersion string   `json:"go_version,omitempty"`
	Module    string   `json:"module,omitempty"`       // main module path, as in build info
	MainPkg   string   `json:"main_package,omitempty"` // its main package
	Revision  string   `json:"revision,omitempty"`     // vcs.revision of the build
	// Modules are the paths of the modules that its binary is built of, without its
	// own, as in build info; empty when that is not known.
	Modules    []string `json:"modules,omitempty"`
	GOMAXPROCS int      `json:"gomaxprocs,omitempty"`
	Probe      bool     `json:"probe"` // whether redline's probe is linked in
	// Instrumented are the packages that redline's build put hooks into, so that the
	// operations made through them are counted; NotInstrumented says which ones it
	// knows and left alone, and why.
	Instrumented    []string `json:"instrumented,omitempty"`
	NotInstrumented []string `json:"not_instrumented,omitempty"`
	// Exit is how the target ended when it ended by itself during the run.
	Exit *Exit `json:"exit,omitempty"`
}

// Exit is the end of a target that died during the run.
type Exit struct {
	At     time.Duration `json:"at_ns"`
	Status string        `json:"status"`      // "exit status 2", "signal: killed"
	Stderr []string      `json:"stderr_tail"` // its last lines, redacted
}

// SourceHealth is how well one source worked.
type SourceHealth struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Why names the missing data and how to enable it, when not OK or only
	// partly.
	Why     string `json:"why"`
	Samples int64  `json:"samples"`
	// Align is the measured bound on the error of its timestamps: half the
	// width of the bracket of clock readings around each sample.
	Align Align `json:"align_error_ns"`
	// CPU is the source's cost in redline's own process, in ns; 0 if unknown.
	CPU time.Duration `json:"cpu_ns"`
	// NotAsked is set when the source was not asked for and the target shows
	// nothing of its kind: then it is not OK, which is no failure.
	NotAsked bool `json:"not_asked,omitempty"`
	// Gaps are stretches in which the source was blind, in order. Amounts of
	// windows that they touch are absent, never interpolated.
	Gaps []Gap `json:"gaps,omitempty"`
}

// Gap is a stretch of run time that a source, or a part of it, did not see.
type Gap struct {
	Span
	Of  string `json:"of"`  // the missing data: "statements"; empty for all
	Why string `json:"why"` // "pg_stat_statements was reset"
}

// Align is a distribution of alignment errors.
type Align struct {
	P50 time.Duration `json:"p50"`
	P99 time.Duration `json:"p99"`
}

// Profile is one pprof file of the run. From and To are the instants that a
// delta profile lies between; for a profile of state (heap, goroutine) they are
// equal.
type Profile struct {
	Type string // cpu, allocs, heap, mutex, block, goroutine or goroutineleak
	Span Span
	Data []byte // gzipped protobuf, as the runtime writes it
}

// Trace is one Go execution trace of the run.
type Trace struct {
	Span Span
	// Slow is set on the trace of a window that was slow: it covers that
	// window, and would bias statements on all requests.
	Slow bool
	Data []byte
}

// SlowRequest is a line of slow.jsonl. Instants are run time.
type SlowRequest struct {
	Intended   time.Duration `json:"intended_ns"`
	Sent       time.Duration `json:"sent_ns"`
	FirstByte  time.Duration `json:"first_byte_ns"`
	Done       time.Duration `json:"done_ns"`
	Request    string        `json:"request"` // name in the mix
	Connection int           `json:"connection"`
	ID         int64         `json:"id"`
	Status     int           `json:"status"`
	Error      string        `json:"error,omitempty"` // error kind
	// TraceID is the W3C trace id that the request carried, 32 hexadecimal
	// digits; empty for the most, which carry none.
	TraceID string `json:"trace_id,omitempty"`
}

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
	// IdleReadings is how often, once a second, it was asked; 0 is never.
	IdleReadings int64 `json:"idle_readings,omitempty"`
	// Tables are those that the plans read, a bounded number; Planner is nil
	// where they were not asked for.
	Tables  []Table  `json:"tables,omitempty"`
	Planner *Planner `json:"planner,omitempty"`
}

// Idle is the sessions that sat idle after the same statement.
type Idle struct {
	Text        string        `json:"text"`              // the last statement, without constants
	QueryID     string        `json:"queryid,omitempty"` // of it, where the server reports it
	Application string        `json:"application"`
	State       string        `json:"state"`    // "idle", "idle in transaction"
	Seen        int64         `json:"seen"`     // how many of the readings met any
	Sessions    int64         `json:"sessions"` // met, summed over the readings
	Most        int64         `json:"most"`     // met at once
	AtEnd       int64         `json:"at_end"`   // met by the last reading
	First       time.Duration `json:"first_ns"` // run time of the first reading that met any
	Last        time.Duration `json:"last_ns"`
	Longest     time.Duration `json:"longest_ns"` // that one sat idle
	Transaction time.Duration `json:"held_ns"`    // the longest that one's transaction was open
}

// Blocking is a chain of sessions, each of which waited for a lock of the one
// before it. Chains of the same statements in the same states count as one.
type Blocking struct {
	// Links begin with the session that does not wait.
	Links []BlockingLink `json:"links"`
	Seen  int64          `json:"seen"`     // how many of the readings, one a second, met it
	First time.Duration  `json:"first_ns"` // run time of the first of them
	Last  time.Duration  `json:"last_ns"`
}

// BlockingLink is one session of a chain, with the longest times met.
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
	// Plan is EXPLAIN (FORMAT JSON) of the statement, nil if it could not be
	// had; PlanError says why. It is a generic plan where the parameters are
	// unknown.
	Plan      json.RawMessage `json:"plan,omitempty"`
	PlanError string          `json:"plan_error,omitempty"`
	// PlanSource says where the plan is from: "EXPLAIN", or "auto_explain: ...",
	// which is the plan of an execution with its own values, their constants hidden.
	PlanSource string `json:"plan_source,omitempty"`
	// Checks are the indexes that hypopg tried for the statement.
	Checks []IndexCheck `json:"index_checks,omitempty"`
}
