package record

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const slowFile = "slow.jsonl"

// Record is an opened bundle. Its windows are in memory; histograms, profiles,
// traces and JSON files are read when asked for. It may be used concurrently.
type Record struct {
	Dir string
	Run Run

	windows *table
	sorted  []*column

	profiles, traces []stored
}

// Open opens a bundle, complete or killed. Sizes are bounded: a file larger
// than its bound is an error that names it. A bundle whose state is still
// running becomes aborted, with a reason.
func Open(dir string) (*Record, error) {
	r := &Record{Dir: dir}
	if err := r.readRun(); err != nil {
		return nil, err
	}
	var err error
	if r.windows, err = openWindows(dir, r.Run.Window); err != nil {
		return nil, err
	}
	if r.Run.State != Running && r.windows == nil {
		return nil, fmt.Errorf("open bundle %s: %s is missing", dir, parquetFile)
	}
	if r.windows == nil {
		r.windows = newTableOf(r.Run.Window) // killed before the first write
	}
	if r.Run.State == Running {
		r.Run.State = Aborted
		r.Run.Why = "redline ended before the run did (killed, or it still runs)"
	}
	r.sorted = r.windows.sorted()
	if r.profiles, err = listStored(dir, profilesDir, "pprof"); err != nil {
		return nil, err
	}
	r.profiles = withoutMerged(r.profiles)
	if r.traces, err = listStored(dir, tracesDir, "trace"); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Record) readRun() error {
	data, err := readFile(r.Dir, runFile, MaxRunJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open bundle %s: it has no %s, so it is not the bundle of a run: %w", r.Dir, runFile, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	r.Run, err = parseRun(data)
	if err != nil {
		return fmt.Errorf("open %s: %w", filepath.Join(r.Dir, runFile), err)
	}
	return nil
}

// parseRun parses run.json and refuses values that later arithmetic cannot bear.
func parseRun(data []byte) (Run, error) {
	var run Run
	if err := unmarshal(data, &run); err != nil {
		return Run{}, err
	}
	switch {
	case run.Schema != RunSchema:
		return Run{}, fmt.Errorf("schema %.40q is not %q, which this version reads", run.Schema, RunSchema)
	case run.Window <= 0 || run.Window > MaxWindowWidth:
		return Run{}, fmt.Errorf("window of %d ns is not within (0, %v]", int64(run.Window), MaxWindowWidth)
	case run.State != Running && run.State != Complete && run.State != Aborted:
		return Run{}, fmt.Errorf("state %.40q is unknown", run.State)
	case run.Steady.To < run.Steady.From:
		return Run{}, errors.New("the steady span ends before it begins")
	}
	return run, nil
}

// openWindows reads the windows, from Parquet if it is there and from the
// journal otherwise; nil if there is neither.
func openWindows(dir string, width time.Duration) (*table, error) {
	f, size, err := openFile(dir, parquetFile, MaxParquet)
	if errors.Is(err, fs.ErrNotExist) {
		t, err := openJournal(dir, width)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return t, err
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := newTableOf(width)
	if err := readParquet(f, size, t, width); err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, parquetFile), err)
	}
	t.finish()
	return t, nil
}

// Windows returns the first and one past the last window that hold data.
func (r *Record) Windows() (from, to int64) { return r.windows.span() }

// Labels returns the label texts under which a series name occurs, sorted.
func (r *Record) Labels(name string) []string {
	i, _ := slices.BinarySearchFunc(r.sorted, name, func(c *column, name string) int { return cmp.Compare(c.Name, name) })
	var labels []string
	for ; i < len(r.sorted) && r.sorted[i].Name == name; i++ {
		labels = append(labels, r.sorted[i].Labels)
	}
	return labels
}

// Names returns all series, sorted by name and labels.
func (r *Record) Names() []Series {
	names := make([]Series, len(r.sorted))
	for i, c := range r.sorted {
		names[i] = c.Series
	}
	return names
}

// Histogram returns the merged histogram of a step and kind over s: of the
// intervals whose begin lies in s. Step "" merges all steps. It is empty, never
// nil, when nothing was recorded.
func (r *Record) Histogram(step string, kind Kind, s Span) (*hdrhistogram.Histogram, error) {
	var merged Counts
	var d hdrDecoder
	want := tagStep(step)
	err := r.intervals(func(i interval, payload []byte) error {
		if i.kind != kind || step != "" && i.step != want || i.From < s.From || i.From >= s.To {
			return nil
		}
		return d.addTo(&merged, payload)
	})
	return merged.Histogram(), err
}

// Intervals calls yield for every interval of a kind, until it returns false. They
// come in the order of the log, which is that of time except for late ones. The
// histogram is valid until yield returns.
func (r *Record) Intervals(kind Kind, yield func(step string, s Span, c *Counts) bool) error {
	var c Counts
	var d hdrDecoder
	err := r.intervals(func(i interval, payload []byte) error {
		if i.kind != kind {
			return nil
		}
		c.Reset()
		if err := d.addTo(&c, payload); err != nil {
			return err
		}
		if !yield(i.step, i.Span, &c) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// errEnough ends a scan that its reader has enough of.
var errEnough = errors.New("enough")

// intervals reads the latency log, one line at a time.
func (r *Record) intervals(yield func(i interval, payload []byte) error) error {
	return eachHlog(r.Dir, func(name string, f io.Reader) error {
		err := scanHlog(f, func(i interval, _ int64, payload []byte) error { return yield(i, payload) })
		if err != nil {
			return fmt.Errorf("read %s: %w", filepath.Join(r.Dir, name), withoutPath(err))
		}
		return nil
	})
}

// Profiles lists the stored profiles of a type, without data, in time order.
// Type "" lists all.
func (r *Record) Profiles(typ string) []Profile {
	var list []Profile
	for _, s := range r.profiles {
		if typ == "" || s.typ == typ {
			list = append(list, Profile{Type: s.typ, Span: s.Span})
		}
	}
	return list
}

// ReadProfile returns the bytes of a listed profile.
func (r *Record) ReadProfile(p Profile) ([]byte, error) {
	for _, s := range r.profiles {
		if s.typ == p.Type && s.Span == p.Span {
			return readFile(r.Dir, s.path, MaxProfile)
		}
	}
	return nil, fmt.Errorf("read profile: %s holds no %s profile of %v to %v: %w", r.Dir, p.Type, p.Span.From, p.Span.To, fs.ErrNotExist)
}

// Traces lists the stored execution traces, without data.
func (r *Record) Traces() []Trace {
	var list []Trace
	for _, s := range r.traces {
		list = append(list, Trace{Span: s.Span, Slow: s.typ == slowType})
	}
	return list
}

// ReadTrace returns the bytes of a listed trace.
func (r *Record) ReadTrace(t Trace) ([]byte, error) {
	s, err := r.storedTrace(t)
	if err != nil {
		return nil, err
	}
	return readFile(r.Dir, s.path, MaxTrace)
}

func (r *Record) storedTrace(t Trace) (stored, error) {
	for _, s := range r.traces {
		if s.Span == t.Span && (s.typ == slowType) == t.Slow {
			return s, nil
		}
	}
	return stored{}, fmt.Errorf("read trace: %s holds none of %v to %v: %w", r.Dir, t.Span.From, t.Span.To, fs.ErrNotExist)
}

// SlowRequests returns the stored slow requests, slowest (from the intended
// start) first. A torn last line is dropped.
func (r *Record) SlowRequests() ([]SlowRequest, error) {
	data, err := readFile(r.Dir, slowFile, MaxSlow)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	requests, err := parseSlow(data)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Join(r.Dir, slowFile), err)
	}
	slices.SortStableFunc(requests, func(a, b SlowRequest) int {
		return cmp.Compare(b.Done-b.Intended, a.Done-a.Intended)
	})
	return requests, nil
}

func parseSlow(data []byte) ([]SlowRequest, error) {
	var all []SlowRequest
	for number := 1; ; number++ {
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		if !whole {
			return all, nil
		}
		if data = rest; number > MaxJSONLines {
			return nil, fmt.Errorf("more than %d lines", MaxJSONLines)
		}
		var s SlowRequest
		if err := unmarshal(line, &s); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		all = append(all, s)
	}
}

// ReadJSON reads one of the bundle's JSON files into v. An absent file is an
// error that wraps fs.ErrNotExist.
func (r *Record) ReadJSON(file string, v any) error {
	data, err := readFile(r.Dir, file, MaxJSON)
	if err != nil {
		return err
	}
	if err := unmarshal(data, v); err != nil {
		return fmt.Errorf("open %s: %w", filepath.Join(r.Dir, file), err)
	}
	return nil
}

// openFile opens a regular file of the bundle, which must not be larger than
// bound. A bundle from elsewhere may hold links that lead out of it and named
// pipes that never answer; neither is followed.
func openFile(dir, name string, bound int64) (f *os.File, size int64, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, 0, fmt.Errorf("open bundle %s: %w", dir, withoutPath(err))
	}
	defer root.Close()
	path := filepath.Join(dir, name)
	info, err := root.Stat(name)
	if err != nil {
		return nil, 0, fmt.Errorf("open %s: %w", path, withoutPath(err))
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("open %s: not a regular file", path)
	case info.Size() > bound:
		return nil, 0, fmt.Errorf("open %s: %d bytes, at most %d are allowed", path, info.Size(), bound)
	}
	lastOpened.Store(&path)
	if f, err = root.Open(name); err != nil {
		return nil, 0, fmt.Errorf("open %s: %w", path, withoutPath(err))
	}
	return f, info.Size(), nil
}

// readFile reads a whole file of the bundle.
func readFile(dir, name string, bound int64) ([]byte, error) {
	f, size, err := openFile(dir, name, bound)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := data.ReadFrom(io.LimitReader(bufio.NewReader(f), bound)); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, name), withoutPath(err))
	}
	return data.Bytes(), nil
}

// Sum returns the sum of the values that are present and the number of windows
// that hold one.
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
