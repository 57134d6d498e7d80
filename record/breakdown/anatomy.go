package breakdown

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/timebase"
)

// File is the name of Anatomy in a bundle.
const File = "anatomy.json"

// State is the state of a request's goroutine.
type State string

// States of a request's goroutine. The wait states carry the stack that
// blocked, and stopped-by-call that of the call, whoever made it; running,
// runnable, gc-assist and stop-the-world have no site.
const (
	StateRunning       State = "running"
	StateRunnable      State = "runnable" // ready, waiting for a P; see package anatomy
	StateAssist        State = "gc-assist"
	StateSTW           State = "stop-the-world"  // by the runtime: for the collector, or for a trace or profile that is taken
	StateStoppedByCall State = "stopped-by-call" // the world is stopped, or about to be, because the program calls for it
	StateLock          State = "lock"            // sync.Mutex, RWMutex
	StateSync          State = "sync"            // Cond, WaitGroup, Once and other semaphores
	StateChannel       State = "channel"         // send or receive
	StateSelect        State = "select"
	StateSleep         State = "sleep"
	StateNetwork       State = "network" // netpoller
	StateSyscall       State = "syscall" // long enough to be seen
	StateOther         State = "other"
)

// Anatomy is anatomy.json: where the requests inside the execution traces
// spent their time.
type Anatomy struct {
	Summary
	// All is the mean request, over every whole request.
	All []Part `json:"all"`
	// MeanNS, MedianNS and TailNS are the mean durations of all requests, of
	// the median band (p40 to p60) and of the tail (p99 and above; the slowest
	// request at least).
	MeanNS   time.Duration `json:"mean_ns"`
	MedianNS time.Duration `json:"median_ns"`
	TailNS   time.Duration `json:"tail_ns"`
	// P50NS and P99NS are percentiles of request duration inside the trace.
	P50NS time.Duration `json:"p50_ns"`
	P99NS time.Duration `json:"p99_ns"`
	// Ran is how long requests ran; nil of fewer than 20, and in bundles from before it
	// was counted.
	Ran *Ran `json:"ran,omitempty"`
	// Coverage is the share of requests taken apart among those whose begin and end
	// were seen inside the trace; Merged counts those that look like several requests
	// in one.
	Coverage float64 `json:"coverage"`
	Merged   int     `json:"merged"`
	// Hijacked counts requests whose handler took the connection over; they are
	// left out.
	Hijacked int `json:"hijacked"`
	// Markers counts the marks by which the requests were separated.
	Markers Markers `json:"markers"`
	// Traced is the time the traces cover, all together.
	Traced time.Duration `json:"traced_ns"`
	// Spawned is the number of goroutines a request creates, without the
	// server's own, on average.
	Spawned float64 `json:"spawned"`
	// Operations is how often requests began each operation, the most frequent first.
	Operations []OperationsPerRequest `json:"operations,omitempty"`
	// Served says which servers the requests were served by, and how many of each
	// an edge of a trace cuts.
	Served []Served `json:"served,omitempty"`
	// CPU is the CPU profile of the requests, from the samples of a CPU profile that was
	// taken during a trace; nil without one.
	CPU *CPUProfile `json:"cpu,omitempty"`
	// Path is the critical path of the requests; nil in bundles from before it was
	// followed.
	Path *Path `json:"path,omitempty"`
	// Serial are the goroutines that requests wait for, those waited for longest
	// first, at most 16 kinds.
	Serial []Serial `json:"serial,omitempty"`
	// Helpers are the goroutines that requests start and that end before their request
	// does, the most frequent first; nil in bundles from before they were counted.
	Helpers []Helper `json:"helpers,omitempty"`
	// Left are the goroutines that requests start and that outlive their request and the trace, the most frequent first; nil in
	// bundles from before they were counted.
	Left []Helper `json:"left,omitempty"`
	// Woken are the goroutines that serve no request, those woken most often first; nil in bundles from before they were counted.
	Woken []Woken `json:"woken,omitempty"`
	// During divides All by the traces, in their order; nil where there is one, and in bundles from
	// before it was divided.
	During []During `json:"during,omitempty"`
	// Named divides All by the requests of the mix, those with most time first; nil if no request is
	// marked, and in bundles from before it was divided.
	Named []Named `json:"named,omitempty"`
	// Slowest are the timelines of the slowest requests, slowest first.
	Slowest []Timeline `json:"slowest"`
	// Marked are those of the slowest requests that the probe marked with an id,
	// slowest first.
	Marked []Timeline `json:"marked,omitempty"`
	// Align is the disagreement of the trace's own clock snapshots with the
	// run's clock.
	Align    timebase.Align `json:"align_error_ns"`
	Warnings []string       `json:"warnings"`
}

// Ran is how long requests ran, in the mean and as quantiles over the requests: of those
// that ran least, one in ten ran no longer than P10NS.
type Ran struct {
	MeanNS time.Duration `json:"mean_ns"`
	P10NS  time.Duration `json:"p10_ns"`
	P50NS  time.Duration `json:"p50_ns"`
}

// Markers counts the marks that net/http leaves in a trace around its requests, including
// cut ones.
type Markers struct {
	Readers int `json:"readers"` // background readers started, one per request at most
	Aborts  int `json:"aborts"`  // ends known from stopping the background reader
	Flushes int `json:"flushes"` // ends known from the response's last flush alone
	Tasks   int `json:"tasks"`   // whole requests that the probe marked with an id
}

// The probe marks a request by a task of type RequestTask around the handler in the
// execution trace. In the task it logs the id that the load half sent, with category
// RequestLog.
const (
	RequestTask = "redline.request"
	RequestLog  = "id"
)

// OperationsPerRequest counts one operation of operations.json in the requests of the
// execution traces.
type OperationsPerRequest struct {
	Operation int     `json:"operation"`
	Mean      float64 `json:"mean"`     // over all requests
	Max       int64   `json:"max"`      // in one request; at most 4,096 operations of each are counted
	Requests  int64   `json:"requests"` // that began it at least once
	// RunningNS, QueuedNS and WaitingNS are how long the mean request was within the
	// operation, but in none that it called: on a CPU, ready but without one, and
	// waiting (to Go's trace, a call of C is waiting).
	RunningNS int64 `json:"running_ns,omitempty"`
	QueuedNS  int64 `json:"queued_ns,omitempty"`
	WaitingNS int64 `json:"waiting_ns,omitempty"`
}

// Servers whose requests are found.
const (
	ServerHTTP     = "net/http"
	ServerHTTP2    = "http2" // of net/http or golang.org/x/net
	ServerGRPC     = "grpc"
	ServerFastHTTP = "fasthttp"
	ServerMarked   = "marked" // of no known server: the probe's task is the request
)

// Served counts the requests of one server.
type Served struct {
	Server   string `json:"server"`
	Requests int    `json:"requests"`
	Cut      int    `json:"cut"`
}

// CPUProfile contrasts the code of requests: how many samples fell into the
// requests of each band, and the functions with most of them.
type CPUProfile struct {
	All       int           `json:"all"`
	Median    int           `json:"median"`
	Tail      int           `json:"tail"`
	Functions []CPUFunction `json:"functions"`
}

// CPUFunction is a function that requests ran, with its share of each band's
// samples.
type CPUFunction struct {
	Function string  `json:"function"`
	Caller   string  `json:"caller"` // the target's innermost frame, "" without one
	All      float64 `json:"all"`
	Median   float64 `json:"median"`
	Tail     float64 `json:"tail"`
}

// Summary is the part of the anatomy that summary.json holds.
type Summary struct {
	Requests int `json:"requests"` // whole requests found
	Cut      int `json:"cut"`      // cut by an edge of a trace: left out, except for Partial
	// Partial of the cut ones count in all bands and means with their part within
	// the trace, because whole ones are few or hold less time. Durations and Times are then lower bounds;
	// shares are right.
	Partial int    `json:"partial,omitempty"`
	Median  []Part `json:"median"`
	Tail    []Part `json:"tail"`
}

// Part is the time that the mean request of a band spent in one state at one
// site. Parts are sorted by NS, largest first, and sum to the band's mean
// duration; parts below the list's bound are merged into a part without stack
// and with site "(other sites)".
type Part struct {
	State State `json:"state"`
	// Site is the function that a reader would name: the innermost frame
	// outside the runtime and package sync, followed by the innermost frame of the
	// target's own module if that is another ("A < B file.go:12").
	Site  string  `json:"site"`
	NS    int64   `json:"ns"`
	Share float64 `json:"share"` // of the band's mean duration
	// Times is how often the state was entered there, per request.
	Times float64 `json:"times"`
	// Operation is the one of operations.json that the wait lies within, the
	// innermost; 0 is none, or none that is known.
	Operation int `json:"operation,omitempty"`
	// Stack is innermost first, at most 128 frames; nil for states without site.
	Stack []code.Frame `json:"stack,omitempty"`
	// Cut reports that the stack may have lost its outermost frames, because the runtime records only the innermost.
	Cut bool `json:"cut,omitempty"`
	// Waker is the stack, innermost first, of the goroutine that ended most of
	// this wait's time, if the trace shows it: the one that released the semaphore or
	// received from the channel. A single frame whose function is WakerTimer
	// means that a timer did; nil means unknown.
	Waker []code.Frame `json:"waker,omitempty"`
	// Timed is the part of the waits' time, 0 to 1, that ended because of a timer: it had set off the goroutine that ended them.
	// 0 in bundles from before it was counted.
	Timed float64 `json:"timed,omitempty"`
	// Behind divides the waits by what the goroutines that ended them were doing
	// meanwhile, the longest first. The chains exclude each other and add up to at
	// most NS; the rest was not followed.
	Behind []Chain `json:"behind,omitempty"`
}

// Chain is what some of a part's time was spent waiting for.
type Chain struct {
	NS    int64   `json:"ns"`
	Share float64 `json:"share"` // of the band's mean duration
	Links []Link  `json:"links"`
}

// Link is a goroutine's activity while the one before it, at first the
// request, waited for it. A link that waits is explained by the next one.
type Link struct {
	// Goroutine is the function in which the goroutine began; "" if the trace does not
	// show it.
	Goroutine string `json:"goroutine"`
	// Request reports that the goroutine serves requests: it is a neighbour, or a
	// connection's.
	Request bool   `json:"request,omitempty"`
	State   State  `json:"state"`
	Site    string `json:"site"`
	// Times is how often, per request, the goroutine came to this; chains that begin with
	// the same links divide it by their time. 0 in bundles from before it was counted.
	Times float64 `json:"times,omitempty"`
	// Stack is that of a wait, as in Part: of the last link, and of others in the target's own
	// code (nil in older bundles).
	Stack []code.Frame `json:"stack,omitempty"`
	// Cut reports that the stack may have lost its outermost frames; Operation is then the one of operations.json that it
	// lies within, the innermost, or 0.
	Cut       bool `json:"cut,omitempty"`
	Operation int  `json:"operation,omitempty"`
}

// String writes a chain as "main.worker (sleep at main.work work.go:7)", its
// links joined by " <- ".
func (c Chain) String() string {
	links := make([]string, len(c.Links))
	for i, l := range c.Links {
		links[i] = l.String()
	}
	return strings.Join(links, " <- ")
}

// String writes one link of a chain.
func (l Link) String() string {
	who := cmp.Or(l.Goroutine, "a goroutine")
	if l.Request {
		who = "another request's " + who
	}
	if l.Site == "" {
		return fmt.Sprintf("%s (%s)", who, l.State)
	}
	return fmt.Sprintf("%s (%s at %s)", who, l.State, l.Site)
}

// WakerTimer is the function of Part.Waker's only frame when a timer, not a
// goroutine, ended the wait.
const WakerTimer = "(timer)"

// Timeline is one request, from begin to end, in run time. Segments are
// contiguous.
type Timeline struct {
	timebase.Span
	Goroutine int64     `json:"goroutine"`
	Server    string    `json:"server,omitempty"`
	ID        string    `json:"id,omitempty"` // that the load half sent, where the probe marked the request
	Segments  []Segment `json:"segments"`
}

// Segment is a stretch of one state within a Timeline.
type Segment struct {
	State State         `json:"state"`
	Site  string        `json:"site"`
	From  time.Duration `json:"from_ns"`
	NS    int64         `json:"ns"`
	// Behind is the reason for the segment's wait, as far as it was followed.
	Behind []Link `json:"behind,omitempty"`
}
