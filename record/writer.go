package record

import (
	"errors"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go" // the field's histogram and its log format
)

// Kind says what a histogram of the latency log measures.
type Kind string

// Kinds of histogram: time from the intended start, from sending, to the first
// byte, the lag between intended start and sending, and the time failures took.
const (
	Latency      Kind = "latency"
	Service      Kind = "service"
	FirstByte    Kind = "firstbyte"
	Lag          Kind = "lag"
	ErrorLatency Kind = "error"
)

var errUnbuilt = errors.New("record: not built yet")

// Writer writes a bundle as the run goes on. Its methods may be called
// concurrently. A failed write (a full disk) is returned by the call that met
// it and by Close; later writes are still tried.
type Writer struct {
	// filled by the implementation
}

// Create makes the bundle directory dir (which must not exist or be empty) and
// writes run.json with state running.
func Create(dir string, run Run) (*Writer, error) { return nil, errUnbuilt }

// Dir returns the bundle's directory.
func (w *Writer) Dir() string { return "" }

// Add journals points. Points of one (window, series) that arrive more than
// once are summed at the close (counters split over windows do that).
func (w *Writer) Add(points ...Point) error { return errUnbuilt }

// Histogram appends one interval to latency.hlog. Values are ns.
func (w *Writer) Histogram(step string, kind Kind, s Span, h *hdrhistogram.Histogram) error {
	return errUnbuilt
}

// Slow appends requests to slow.jsonl.
func (w *Writer) Slow(requests ...SlowRequest) error { return errUnbuilt }

// Profile stores one pprof file.
func (w *Writer) Profile(p Profile) error { return errUnbuilt }

// Trace stores one execution trace.
func (w *Writer) Trace(t Trace) error { return errUnbuilt }

// Update changes run.json through f and writes it atomically.
func (w *Writer) Update(f func(*Run)) error { return errUnbuilt }

// Close turns the journal into windows.parquet and writes run.json with the
// given state and reason.
func (w *Writer) Close(state State, why string) error { return errUnbuilt }

// Record is an opened bundle. Profiles and traces are read when asked for.
type Record struct {
	Dir string
	Run Run
	// filled by the implementation
}

// Open opens a bundle, complete or killed. Sizes are bounded: a file larger
// than its bound is an error that names it.
func Open(dir string) (*Record, error) { return nil, errUnbuilt }

// Windows returns the first and one past the last window that hold data.
func (r *Record) Windows() (from, to int64) { return 0, 0 }

// Series returns one value per window of s, NaN where there is none, for the
// series with exactly this name and these labels; nil if there is no such
// series.
func (r *Record) Series(name, labels string, s Span) []float64 { return nil }

// Labels returns the label texts under which a series name occurs, sorted.
func (r *Record) Labels(name string) []string { return nil }

// Names returns all series, sorted by name and labels.
func (r *Record) Names() []Series { return nil }

// Histogram returns the merged histogram of a step and kind over s; step ""
// merges all steps. It is empty, never nil, when nothing was recorded.
func (r *Record) Histogram(step string, kind Kind, s Span) (*hdrhistogram.Histogram, error) {
	return nil, errUnbuilt
}

// Intervals calls yield for every interval of a kind, in order of time.
func (r *Record) Intervals(kind Kind, yield func(step string, s Span, h *hdrhistogram.Histogram) bool) error {
	return errUnbuilt
}

// Profiles lists the stored profiles of a type, without data, in time order.
func (r *Record) Profiles(typ string) []Profile { return nil }

// ReadProfile returns the bytes of a listed profile.
func (r *Record) ReadProfile(p Profile) ([]byte, error) { return nil, errUnbuilt }

// Traces lists the stored execution traces, without data.
func (r *Record) Traces() []Trace { return nil }

// ReadTrace returns the bytes of a listed trace.
func (r *Record) ReadTrace(t Trace) ([]byte, error) { return nil, errUnbuilt }

// SlowRequests returns the stored slow requests, slowest first.
func (r *Record) SlowRequests() ([]SlowRequest, error) { return nil, errUnbuilt }

// The JSON files of a bundle, by name, for ReadJSON and WriteJSON.
const (
	StatementsFile = "statements.json"
	AnatomyFile    = "anatomy.json"
	FindingsFile   = "findings.json"
	SummaryFile    = "summary.json"
)

// ReadJSON reads one of the bundle's JSON files into v. An absent file is an
// error that wraps fs.ErrNotExist.
func (r *Record) ReadJSON(file string, v any) error { return errUnbuilt }

// WriteJSON writes one of a bundle's JSON files atomically.
func WriteJSON(dir, file string, v any) error { return errUnbuilt }

// Sum returns the sum of the values that are present, the number of windows
// that hold one, and the mean per window (0 when none does).
func Sum(values []float64) (sum float64, present int) {
	for _, v := range values {
		if v == v {
			sum += v
			present++
		}
	}
	return sum, present
}

// PerSecond converts an amount over a span to a rate; 0 for an empty span.
func PerSecond(amount float64, over time.Duration) float64 {
	if over <= 0 {
		return 0
	}
	return amount / over.Seconds()
}
