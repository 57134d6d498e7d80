// Package scenario is the plan of a run: requests, their timing, and the target,
// from a document (scenario/document) or from flags. It is pure: it opens no
// connection and starts nothing; the files that a scenario names (rows of data,
// certificates, schemas, logs) are read through the fs.FS it is given, and those
// that flags name relative to the working directory.
//
// The nouns below it: feeder is its data and templates, protocol what a request
// must look like, criteria what passes, accesslog what a replay sends, mistake how
// errors point at what a person wrote.
package scenario

import (
	"net/netip"
	"time"

	"github.com/redline-go/redline/scenario/criteria"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/scenario/protocol"
)

// Plan is a validated scenario. The zero Plan is not valid.
type Plan struct {
	Name     string    `json:"name"` // the file's base name, or the URL's host
	Target   Target    `json:"target"`
	Load     Load      `json:"load"`
	Requests []Request `json:"requests"`
	// Hosts are other hosts that load may go to: names or addresses without a port.
	Hosts []string                 `json:"hosts,omitempty"`
	Data  map[string]*feeder.Table `json:"-"` // feeders by name; never written to disk
	// Protocol is that of all requests.
	Protocol   protocol.Name        `json:"protocol"`
	TLS        TLS                  `json:"tls,omitzero"`
	GRPC       GRPC                 `json:"grpc,omitzero"`
	Observe    Observe              `json:"observe"`
	Export     Export               `json:"export,omitzero"`
	Thresholds []criteria.Threshold `json:"thresholds"`
	// Verify is how ab and gate compare, where it differs from their defaults.
	Verify []criteria.Comparison `json:"verify,omitempty"`
	Redact []string              `json:"redact"` // header names in addition to the built-in ones
	// Warnings are remarks on the plan for its author, in whole sentences.
	Warnings []string `json:"warnings,omitempty"`

	// secrets are values that must not appear anywhere and that no field above
	// holds: keys of tokens, variables of the environment.
	secrets []string

	// openEnded says that no duration was given, so it follows from the rest.
	openEnded bool
}

// NewCursor makes a cursor over the plan's feeders: see feeder.NewCursor.
func (p *Plan) NewCursor(seed uint64) *feeder.Cursor {
	replay := ""
	if p.Load.Replay != nil {
		replay = p.Load.Replay.Feeder
	}
	return feeder.NewCursor(p.Data, replay, seed)
}

// Target says how to get the service under test. At most one of Exec, Build
// and PID is set; none means that it is already running.
type Target struct {
	Exec  []string `json:"exec,omitempty"`  // command and arguments
	Build string   `json:"build,omitempty"` // package directory or pattern of one main package
	PID   int      `json:"pid,omitempty"`
	// Plain builds without hooks in the packages that talk to databases and other
	// services; findings then infer who runs which statement.
	Plain bool `json:"plain,omitempty"`
	// BuildFlags are flags of go build, for Build: -tags=sqlite, "-ldflags=-s -w".
	BuildFlags []string `json:"build_flags,omitempty"`
	// Dir is the folder that the service starts in; empty means redline's own.
	Dir string `json:"dir,omitempty"`
	// Args and Env apply to Build and Exec. Env adds to redline's own
	// environment; values may hold secrets and are left out of the record.
	Args []string          `json:"args,omitempty"`
	Env  map[string]string `json:"-"`
	// Ready is a URL that answers below 500 once the service is ready. Empty
	// means that a TCP connect to the first request's host is enough.
	Ready string `json:"ready,omitempty"`
	// ReadyTimeout bounds the wait; zero means 30 s, and 1 s for a running service
	// without Ready.
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
	// Grace is how long the end waits for requests in flight; zero means LeastGrace, or twice the longest answer, at most Timeout.
	Grace  time.Duration `json:"grace_ns"`
	Stages []Stage       `json:"stages,omitempty"`

	// Arrivals of an open loop; empty is constant.
	Arrivals Arrivals `json:"arrivals,omitempty"`
	// PerConnection is a rate that each connection keeps by itself, in requests
	// per second: an open loop with Connections connections, all of them open
	// from the start, whose requests are due in turn. Rate is then their sum.
	PerConnection float64 `json:"rate_per_connection,omitempty"`
	// Requests ends the load when this many of the measured span were begun;
	// zero is no bound.
	Requests int64 `json:"requests,omitempty"`
	// Streams is how many requests a connection carries at once (HTTP/2, gRPC);
	// zero means 1. A closed loop keeps Connections x Streams in progress.
	Streams int `json:"streams,omitempty"`
	// Think is for a closed loop.
	Think Think `json:"think,omitzero"`
	// ConnectRate bounds the connections opened per second; zero is no bound.
	ConnectRate float64 `json:"connect_rate,omitempty"`
	// Sources are the local addresses that connections start from, in turn;
	// none leaves it to the kernel.
	Sources []netip.Addr `json:"sources,omitempty"`
	// Threads is the number of event loops; zero leaves it to the generator.
	Threads int     `json:"threads,omitempty"`
	Replay  *Replay `json:"replay,omitempty"`
}

// TLS says how https, grpcs and wss connect. The zero TLS checks the server
// against the system's roots.
type TLS struct {
	CAFile     string `json:"ca,omitempty"`   // PEM
	CertFile   string `json:"cert,omitempty"` // PEM; with KeyFile for mutual TLS
	KeyFile    string `json:"key,omitempty"`
	ServerName string `json:"server_name,omitempty"` // empty is the URL's host
	Insecure   bool   `json:"insecure,omitempty"`    // do not verify the server

	// Contents of the files.
	CA, Cert, Key []byte `json:"-"`
}

// GRPC says where the schema of a gRPC plan comes from.
type GRPC struct {
	// DescriptorFile is a FileDescriptorSet (protoc --include_imports
	// --descriptor_set_out); empty asks the server by reflection.
	DescriptorFile string `json:"descriptor_set,omitempty"`
	Descriptor     []byte `json:"-"` // contents of the file
}

// Arrivals are how the requests of an open loop follow one another.
type Arrivals string

// Arrivals of an open loop.
const (
	ConstantArrivals Arrivals = "constant" // evenly spaced; also ""
	PoissonArrivals  Arrivals = "poisson"  // independent of one another, exponential gaps
)

// Think is how long a connection of a closed loop waits between an answer and
// its next request: evenly distributed from Min to Max, or, when Mean is set,
// exponentially. The zero Think does not wait.
type Think struct {
	Min  time.Duration `json:"min_ns,omitempty"`
	Max  time.Duration `json:"max_ns,omitempty"`
	Mean time.Duration `json:"mean_ns,omitempty"`
}

// Replay is an access log to replay: entry i is due at At[i] after the load's start
// (already scaled) and is request Request[i] of the plan with row Row[i] of the
// feeder Feeder, which Cursor.Seek selects. It replaces a rate. Entries that ask for
// the same share a row.
type Replay struct {
	File   string  `json:"file"`
	Speed  float64 `json:"speed"` // 2 is twice as fast as it was
	Feeder string  `json:"feeder"`
	// Writes are the logged requests that may change data and are sent, by
	// method ("120 POST, 3 PUT"); empty when there are none.
	Writes  string          `json:"writes,omitempty"`
	At      []time.Duration `json:"-"` // ascending from 0
	Request []int32         `json:"-"`
	Row     []int32         `json:"-"`
}

// Open reports whether the load is an open loop: requests are due at times
// that do not depend on the answers.
func (l Load) Open() bool { return l.Rate > 0 || l.Replay != nil }

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
	Method  string            `json:"method"` // POST of gRPC, GET of WebSocket; empty for TCP
	URL     feeder.Template   `json:"url"`    // its scheme decides on the protocol
	Headers map[string]Secret `json:"headers,omitempty"`
	// Body is the message of gRPC (JSON; a list is several messages of a
	// client's stream), WebSocket and TCP.
	Body feeder.Template `json:"body,omitempty"`
	// Expect is the status that counts as success; zero means 200 to 399. For gRPC
	// it is a status code, and zero means OK.
	Expect int `json:"expect,omitempty"`
	// Follow follows redirects, to hosts that the plan names. Otherwise a
	// redirect is the response.
	Follow bool `json:"follow,omitempty"`
	// Checks are counted apart from errors; 64 at most.
	Checks []Check `json:"checks,omitempty"`
	// NoReply is for messages (WebSocket, TCP) without an answer: they end once
	// they are sent.
	NoReply bool `json:"no_reply,omitempty"`

	// fromEnv names the headers whose values hold an environment variable: most
	// are secrets, so Redacted hides them.
	fromEnv map[string]bool
}

// Check is one expectation of an answer. Exactly one of Status, Header, Body
// and JSON names the part of the answer; the other fields its expected value.
type Check struct {
	Name   string `json:"name"`             // as the report shows it; never empty after parsing
	Status []int  `json:"status,omitempty"` // one of these
	Header string `json:"header,omitempty"` // a header's name; Contains or Equals, or neither for that it is there
	Body   bool   `json:"body,omitempty"`   // Contains or Equals
	// a JSONPath (RFC 9535) into the body; Contains, Equals, or neither for that it selects
	// something
	JSON string `json:"json,omitempty"`

	Contains string  `json:"contains,omitempty"`
	Equals   *string `json:"equals,omitempty"` // as text; a JSON value that is no string is compared in its JSON form
}

// Secret is a header's value. It marshals as itself only if its header is not on
// the redaction list; Plan.Redacted replaces it.
type Secret string

// Observe names sources in addition to those that are always on.
type Observe struct {
	Pprof    string `json:"pprof,omitempty"`    // base URL of net/http/pprof, up to /debug/pprof
	Postgres string `json:"postgres,omitempty"` // DSN; Redacted hides its password
	// OTLP are the addresses to receive spans at; none receives none.
	OTLP []string `json:"otlp,omitempty"`
	// OTLPToken must come with exports to them (Authorization: Bearer); empty
	// demands none, which is allowed only on loopback.
	OTLPToken string `json:"-"`
}
