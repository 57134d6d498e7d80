// Package control serves profiles and execution traces of the target to
// redline over a Unix socket.
//
// One connection carries one request: a line of words, answered by frames.
// Every answer ends with a frame that says that it is whole, or why it is not,
// and when on CLOCK_MONOTONIC it was taken, so that a cut connection is never
// mistaken for a short profile. A client that shuts down its sending side ends a
// running profile or trace early and still gets what there is.
//
//	info
//	profile heap|allocs|mutex|block|goroutine|goroutineleak
//	cpu MILLISECONDS
//	trace MILLISECONDS MAXBYTES
//	rate mutex FRACTION
//	rate block NANOSECONDS
//	rate ring 0|1
//	rate operations 0|1
//	flightstart MILLISECONDS MAXBYTES
//	flightdump
//	flightstop
//	operations
//
// While an execution trace is taken a CPU profile runs, if necessary one that
// no one reads: the runtime puts CPU samples into a trace only then. It gives way
// to a requested profile.
//
// Rejected: net/http/pprof on the socket. It would link an HTTP server, and
// register handlers on the default mux, in a target that may have neither. Its
// CPU profile takes whole seconds only, and its answers carry no time.
package control

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bounds of a request.
const (
	maxLine = 128
	// MaxCPU is the longest CPU profile.
	MaxCPU = 10 * time.Minute
	// MaxTrace is the longest execution trace.
	MaxTrace = time.Minute
	// MaxTraceBytes is the largest execution trace.
	MaxTraceBytes = 1 << 30
)

// Op is what a request asks for.
type Op string

// Requests.
const (
	Info    Op = "info"    // facts about the process, as lines of name=value
	Profile Op = "profile" // a profile of Kind, of the current state, gzipped protobuf
	CPU     Op = "cpu"     // a CPU profile of Length
	Trace   Op = "trace"   // an execution trace of Length or MaxBytes
	Rate    Op = "rate"    // set the sampling rate of Kind (mutex, block, ring or operations)
	// FlightStart lets the runtime keep about the last Length of an execution
	// trace in at most MaxBytes of memory (Go 1.25 and later).
	FlightStart Op = "flightstart"
	FlightDump  Op = "flightdump" // the trace that is kept
	FlightStop  Op = "flightstop"
	// Operations is what operations.Write writes: the statements and calls that the
	// hooks of redline's build counted.
	Operations Op = "operations"
)

// NoRing begins the line of Info that says why nobody samples into a ring. There is none if somebody does.
const NoRing = "noring="

// Kinds of Rate that are not the runtime's: the probe's own samples, and the counting
// of statements and calls.
const (
	ring    = "ring"
	counted = "operations"
)

// Request is one request.
type Request struct {
	Op       Op
	Kind     string        // of Profile and Rate
	Length   time.Duration // of CPU, Trace and FlightStart, whole milliseconds, above zero
	MaxBytes int64         // of Trace and FlightStart, above zero; the tail may pass it by a little
	// Rate is the mutex fraction (one contention in Rate is sampled) or the
	// block rate (one sample per Rate ns blocked); 0 turns the profile off. Of the
	// ring it is 1 for a sample each window, 0 for none; of operations 1 to count them.
	Rate int
}

// String returns the request's line without its end.
func (r Request) String() string {
	switch r.Op {
	case Profile:
		return string(r.Op) + " " + r.Kind
	case CPU:
		return fmt.Sprintf("%s %d", r.Op, r.Length.Milliseconds())
	case Trace, FlightStart:
		return fmt.Sprintf("%s %d %d", r.Op, r.Length.Milliseconds(), r.MaxBytes)
	case Rate:
		return fmt.Sprintf("%s %s %d", r.Op, r.Kind, r.Rate)
	default:
		return string(r.Op)
	}
}

// Parse parses a request's line.
func Parse(line string) (Request, error) {
	if len(line) > maxLine {
		return Request{}, fmt.Errorf("request is longer than %d bytes", maxLine)
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return Request{}, fmt.Errorf("empty request")
	}
	r := Request{Op: Op(words[0])}
	operands := map[Op]int{Info: 0, Profile: 1, CPU: 1, Trace: 2, Rate: 2, FlightStart: 2, FlightDump: 0, FlightStop: 0, Operations: 0}
	if n, known := operands[r.Op]; !known {
		return Request{}, fmt.Errorf("unknown request %q", words[0])
	} else if len(words) != n+1 {
		return Request{}, fmt.Errorf("%s takes %d operands", r.Op, n)
	}
	var err error
	switch r.Op {
	case Profile:
		r.Kind, err = oneOf(words[1], "heap", "allocs", "mutex", "block", "goroutine", "goroutineleak")
	case CPU:
		r.Length, err = length(words[1], MaxCPU)
	case Trace, FlightStart:
		if r.Length, err = length(words[1], MaxTrace); err == nil {
			r.MaxBytes, err = number(words[2], 1, MaxTraceBytes)
		}
	case Rate:
		if r.Kind, err = oneOf(words[1], "mutex", "block", ring, counted); err == nil {
			most, n := int64(1<<30), int64(0)
			if r.Kind == ring || r.Kind == counted {
				most = 1
			}
			n, err = number(words[2], 0, most)
			r.Rate = int(n)
		}
	}
	if err != nil {
		return Request{}, fmt.Errorf("%s: %w", r.Op, err)
	}
	return r, nil
}

func oneOf(word string, known ...string) (string, error) {
	for _, k := range known {
		if word == k {
			return word, nil
		}
	}
	return "", fmt.Errorf("%q is none of %s", word, strings.Join(known, ", "))
}

func length(word string, most time.Duration) (time.Duration, error) {
	ms, err := number(word, 1, most.Milliseconds())
	return time.Duration(ms) * time.Millisecond, err
}

func number(word string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not a whole number from %d to %d", word, least, most)
	}
	return n, nil
}
