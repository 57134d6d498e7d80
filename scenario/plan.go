// Package scenario turns what a person wrote (a YAML file or flags) into a
// Plan: what to load, with what, against which target. It is pure: it opens no
// connection and starts nothing; the files that a scenario names (CSV data) are
// read through the fs.FS it is given.
//
// Errors point at file, line and column, with the line and a caret, and a hint
// where one is known. Unknown keys and wrong units are errors, never warnings.
package scenario

import (
	"sync/atomic"
	"time"
)

// Plan is a validated scenario. The zero Plan is not valid.
type Plan struct {
	Name       string            `json:"name"` // the file's base name, or the URL's host
	Target     Target            `json:"target"`
	Load       Load              `json:"load"`
	Requests   []Request         `json:"requests"`
	Data       map[string]*Table `json:"-"` // feeders by name; never written to disk
	Observe    Observe           `json:"observe"`
	Thresholds []Threshold       `json:"thresholds"`
	Redact     []string          `json:"redact"` // header names besides the built-in ones
}

// Target says how to get the service under test. At most one of Exec, Build
// and PID is set; none means that it runs already.
type Target struct {
	Exec  []string `json:"exec,omitempty"`  // command and arguments
	Build string   `json:"build,omitempty"` // package directory or pattern of one main package
	PID   int      `json:"pid,omitempty"`
	// Args and Env apply to Build and Exec. Env adds to redline's own
	// environment; values may hold secrets and are left out of the record.
	Args []string          `json:"args,omitempty"`
	Env  map[string]string `json:"-"`
	// Ready is a URL that answers below 500 once the service is ready. Empty
	// means that a TCP connect to the first request's host is enough.
	Ready string `json:"ready,omitempty"`
	// ReadyTimeout bounds the wait; zero means 30 s.
	ReadyTimeout time.Duration `json:"ready_timeout_ns,omitempty"`
}

// Load is how the requests are timed. Exactly one of Rate and Connections
// leads: Rate > 0 is an open loop (Connections then caps the connections),
// else a closed loop.
type Load struct {
	Rate        float64       `json:"rate"`        // requests due per second; 0 in a closed loop
	Connections int           `json:"connections"` // zero means 64 (open loop: 512 at most)
	Duration    time.Duration `json:"duration_ns"` // after the warm-up; zero means 30 s
	Warmup      time.Duration `json:"warmup_ns"`   // zero is none; the flag's default is 5 s
	Timeout     time.Duration `json:"timeout_ns"`  // per request; zero means 10 s
	Grace       time.Duration `json:"grace_ns"`    // wait for requests in flight at the end; zero means 2 s
	Stages      []Stage       `json:"stages,omitempty"`
}

// Open reports whether the load is an open loop.
func (l Load) Open() bool { return l.Rate > 0 }

// Stage ramps the leading quantity linearly to To over Over.
type Stage struct {
	To   float64       `json:"to"` // 1/s or connections
	Over time.Duration `json:"over_ns"`
}

// Request is one kind of request of the mix. URL, header values and body are
// templates: {{feeder.column}} or {{feeder}} (its first column).
type Request struct {
	Name    string            `json:"name"`
	Weight  int               `json:"weight"` // zero means 1
	Method  string            `json:"method"`
	URL     Template          `json:"url"`
	Headers map[string]Secret `json:"headers,omitempty"`
	Body    Template          `json:"body,omitempty"`
	// Expect is the status that counts as success; zero means 200 to 399.
	Expect int `json:"expect,omitempty"`

	// fromEnv names the headers whose values hold a variable of the
	// environment: secrets most often, so Redacted hides them.
	fromEnv map[string]bool
}

// Template is text with {{feeder.column}} places.
type Template string

// Secret is a header's value. It marshals as itself only when its header is
// not on the redaction list; Plan.Redacted does the replacing.
type Secret string

// Observe says what to watch besides what is always watched.
type Observe struct {
	Pprof    string `json:"pprof,omitempty"`    // base URL of net/http/pprof, up to /debug/pprof
	Postgres string `json:"postgres,omitempty"` // DSN; Redacted hides its password
}

// Threshold is a pass/fail expression over a metric of the summary.
type Threshold struct {
	Expr   string  `json:"expr"`   // as written
	Metric string  `json:"metric"` // p50, p90, p95, p99, p99_9, max, mean, rate, errors, requests
	Op     string  `json:"op"`     // < <= > >=
	Limit  float64 `json:"limit"`  // ns for latencies, 1/s for rate, share (0 to 1) for errors
}

// Table is a feeder: rows of named columns, taken in turn by each connection.
//
// A feeder of numbers has Sequence or Random set instead of Rows, and one
// column. A Table is used by pointer only.
type Table struct {
	Columns []string
	Rows    [][]string
	// Sequence gives each number of the range once, over all connections, and
	// then begins again; nil for none.
	Sequence *Range
	// Random gives evenly distributed numbers of the range; nil for none.
	Random *Range

	taken atomic.Uint64 // numbers of Sequence taken so far
}

// Range is a range of integers, both ends included.
type Range struct {
	From, To int64
}
