package record

import (
	"encoding/json"
	"time"

	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
)

// Schema names of the files that others parse.
const (
	RunSchema     = "redline.run/1"
	SummarySchema = "redline.summary/1"
	LadderSchema  = "redline.ladder/1"
)

// State is how a run ended.
type State string

// States of a run. The run of a bundle on disk whose state is running was killed; Open
// turns that into aborted.
const (
	Running  State = "running"
	Complete State = "complete"
	Aborted  State = "aborted"
)

// Run is run.json: the plan, the machine and target, and the health of the sources.
type Run struct {
	Schema  string         `json:"schema"`
	ID      string         `json:"id"` // the bundle's directory name
	State   State          `json:"state"`
	Why     string         `json:"why,omitempty"` // why it was aborted
	Redline string         `json:"redline"`       // version of the tool
	Clock   timebase.Clock `json:"clock"`
	Window  time.Duration  `json:"window_ns"`
	// Steady is the span of the findings: after the warm-up, up to the end of load.
	// Zero until the run has got there.
	Steady timebase.Span `json:"steady"`
	// Resolution lists the stretches of a long run whose windows were joined into wider
	// ones; none in a run of up to a quarter of an hour.
	Resolution []windows.Resolution `json:"resolution,omitempty"`
	Scenario   json.RawMessage      `json:"scenario"` // the plan, redacted
	Host       Host                 `json:"host"`
	Target     Target               `json:"target"`
	Sources    []SourceHealth       `json:"sources"`
	Warnings   []string             `json:"warnings"`
	// Marks are the moments that the user marked during the run, in order.
	Marks []Mark `json:"marks,omitempty"`
}

// Bounds on marks.
const (
	MaxMarks    = 200
	MaxMarkText = 200 // bytes
)

// Mark is a moment of a run, with the user's note about it, if any.
type Mark struct {
	At   time.Duration `json:"at_ns"` // run time
	Text string        `json:"text"`
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
	Modified  bool     `json:"modified,omitempty"`     // vcs.modified: built from a work tree with changes
	// Modules are the paths of the modules in its binary except its own, as in build
	// info; empty if unknown.
	Modules    []string `json:"modules,omitempty"`
	GOMAXPROCS int      `json:"gomaxprocs,omitempty"`
	Probe      bool     `json:"probe"` // whether redline's probe is linked in
	// Instrumented are the packages into which redline's build put hooks, so that the
	// operations made through them are counted; NotInstrumented says which known ones
	// it left alone, and why.
	Instrumented    []string `json:"instrumented,omitempty"`
	NotInstrumented []string `json:"not_instrumented,omitempty"`
	// ProbeElsewhere says why the figures of a probe that runs are missing: it is in a process that does not serve the load, a supervisor,
	// or cannot write them. Empty if that is not so.
	ProbeElsewhere string `json:"probe_elsewhere,omitempty"`
	// Exit is how the target ended, if it ended by itself during the run.
	Exit *Exit `json:"exit,omitempty"`
	// Panicked says how often it panicked while serving and recovered, with the first
	// panic's message and place, redacted; empty if no panic was seen.
	Panicked string `json:"panicked,omitempty"`
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
	// Why names the missing data and how to enable it, if the source is not or only
	// partly OK.
	Why     string `json:"why"`
	Samples int64  `json:"samples"`
	// Align is the measured bound on the error of its timestamps: half the
	// width of the bracket of clock readings around each sample.
	Align timebase.Align `json:"align_error_ns"`
	// CPU is the source's cost in redline's own process, in ns; 0 if unknown.
	CPU time.Duration `json:"cpu_ns"`
	// NotAsked is set if nobody asked for the source and the target shows nothing of
	// its kind: then it is not OK, but that is not a failure.
	NotAsked bool `json:"not_asked,omitempty"`
	// Gaps are the periods without data, in order. Amounts of windows that they touch
	// are absent, never interpolated.
	Gaps []Gap `json:"gaps,omitempty"`
}

// Gap is a period of run time without data from a source, or from a part of it.
type Gap struct {
	timebase.Span
	Of  string `json:"of"`  // the missing data: "statements"; empty for all
	Why string `json:"why"` // "pg_stat_statements was reset"
}

// Profile is one pprof file of the run. A delta profile covers the time between From
// and To; for a profile of state (heap, goroutine) they are equal.
type Profile struct {
	Type string // cpu, allocs, heap, mutex, block, goroutine or goroutineleak
	Span timebase.Span
	Data []byte // gzipped protobuf, as the runtime writes it
}

// Trace is one Go execution trace of the run.
type Trace struct {
	Span timebase.Span
	// Slow is set on the trace of a slow window: it covers that window, and would bias
	// statements about all requests.
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
	// digits; empty for most, which carry none.
	TraceID string `json:"trace_id,omitempty"`
}
