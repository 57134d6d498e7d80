package diagnose

import (
	"cmp"
	"fmt"
	"math"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// At formats a place for a title: "orders.go:41", or the function if the file is
// unknown.
func At(f code.Frame) string { return cmp.Or(callstack.At(f), "an unknown place") }

// WhereOf turns a frame into a finding's place.
func WhereOf(f code.Frame) findings.Where {
	return findings.Where{Function: f.Function, File: f.File, Line: f.Line}
}

// Percent formats a share, 0 to 1: "87 %", "8.7 %", "0.40 %".
func Percent(share float64) string { return notation.Percent(share) }

// Span formats a duration in ns with three figures: "1.24 ms", "310 µs".
func Span(ns float64) string { return notation.Span(ns) }

// Size formats bytes: "41.0 KiB".
func Size(bytes float64) string { return notation.Size(bytes) }

// Times formats a mean count: "2", "1.5", "12.3".
func Times(n float64) string { return notation.Short(n) }

// Number formats a whole number: "1,412".
func Number(n float64) string { return notation.Whole(n) }

// Counted formats a whole number of things: "1 segment", "1,412 segments".
func Counted(n float64, one, several string) string {
	return notation.Counted(int64(math.Round(n)), one, several)
}

// Mean formats a mean number of things with three figures: "1 row", "2.5 rows".
func Mean(n float64, one, several string) string {
	if text := Times(n); text != "1" {
		return text + " " + several
	}
	return "1 " + one
}

// Rate formats a number per second, without its unit: "358", "12,345".
func Rate(v float64) string { return notation.Rate(v) }

// OfWhat names the whole that a finding's share is of, for the middle of a
// sentence.
func OfWhat(shareOf string) string {
	if shareOf == OfCPU {
		return "CPU"
	}
	return shareOf
}

// PerRequest formats a mean count of things per request: "a call per request", "2.5
// calls per request", "a call per 20 requests". one has its article.
func PerRequest(n float64, one, several string) string {
	switch {
	case n >= 0.95 && n < 1.05:
		return one + " per request"
	case n > 0 && n < 0.5:
		return fmt.Sprintf("%s per %s requests", one, notation.Short(1/n))
	}
	return fmt.Sprintf("%s %s per request", Times(n), several)
}

// Evidence sources, as findings.json names them.
const (
	FromTrace    = "trace"
	FromProfile  = "profile"
	FromPostgres = "postgres"
	FromProbe    = "probe"
	FromProcess  = "process"
	FromLoad     = "load"
	FromSpans    = "spans"
	FromKernel   = "kernel" // eBPF, sock_diag and counters of the namespace
)

// Fact is one figure of evidence.
func Fact(source string, value float64, unit, format string, args ...any) findings.Evidence {
	return findings.Evidence{Text: fmt.Sprintf(format, args...), Source: source, Value: value, Unit: unit}
}

// Units of evidence.
const (
	Ratio   = "1"
	Count   = "1" // of things, or of things per request
	Nanosec = "ns"
	Bytes   = "bytes"
	Hertz   = "1/s"
)

// The wholes that a finding's share is of.
const (
	OfRequest  = "request time"
	OfTail     = "tail latency"
	OfCPU      = "cpu"
	OfCapacity = "capacity"
	// For causes that grow.
	OfGoroutines  = "goroutines"
	OfLiveHeap    = "live heap"
	OfConnections = "database connections"
)
