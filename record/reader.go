package record

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
)

const (
	slowFile    = "slow.jsonl"
	parquetFile = "windows.parquet"
)

// Record is an opened bundle. Its windows are in memory; histograms, profiles, traces
// and JSON files are read on demand. It may be used concurrently.
type Record struct {
	Dir string
	Run Run

	windows *windows.Table

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
		r.windows = windows.New(r.Run.Window) // killed before the first write
	}
	if r.Run.State == Running {
		r.Run.State = Aborted
		r.Run.Why = "redline ended before the run did (killed, or it still runs)"
	}
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
	data, err := disk.Read(r.Dir, disk.RunFile, MaxRunJSON)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open bundle %s: it has no %s, so it is not the bundle of a run: %w", r.Dir, disk.RunFile, fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	r.Run, err = parseRun(data)
	if err != nil {
		return fmt.Errorf("open %s: %w", filepath.Join(r.Dir, disk.RunFile), err)
	}
	return nil
}

// parseRun parses run.json and refuses values that would break later arithmetic.
func parseRun(data []byte) (Run, error) {
	var run Run
	if err := disk.Unmarshal(data, &run); err != nil {
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
	case len(run.Marks) > MaxMarks:
		return Run{}, fmt.Errorf("more than %d marks", MaxMarks)
	}
	return run, nil
}

// openWindows reads the windows, from Parquet if it is there and from the
// journal otherwise; nil if there is neither.
func openWindows(dir string, width time.Duration) (*windows.Table, error) {
	f, size, err := disk.Open(dir, parquetFile, MaxParquet)
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
	t := windows.New(width)
	if err := windows.ReadParquet(f, size, t); err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, parquetFile), err)
	}
	t.Finish()
	return t, nil
}

// Windows returns the first and one past the last window that hold data.
func (r *Record) Windows() (from, to int64) { return r.windows.Span() }

// Labels returns the label texts under which a series name occurs, sorted.
func (r *Record) Labels(name string) []string { return r.windows.Labels(name) }

// Names returns all series, sorted by name and labels.
func (r *Record) Names() []series.Series { return r.windows.Names() }

// Width returns the width of the values that Series returns for a span.
func (r *Record) Width(s timebase.Span) time.Duration { return r.windows.Width(s) }

// Series returns the series with exactly this name and these labels over s.
// Windows that s only touches count; of a joined window s must cover half,
// unless s is shorter than that. A span of more than windows.MaxPoints windows is
// cut there.
func (r *Record) Series(name, labels string, s timebase.Span) windows.Line {
	return r.windows.Line(name, labels, s, 0)
}

// SeriesAt is Series at a resolution no finer than width, so that it can be compared
// with another line.
func (r *Record) SeriesAt(name, labels string, s timebase.Span, width time.Duration) windows.Line {
	return r.windows.Line(name, labels, s, width)
}

// Histogram returns the merged histogram of a step and kind over s: of the
// intervals whose begin lies in s. Step "" merges all steps. It is empty, never
// nil, when nothing was recorded.
func (r *Record) Histogram(step string, kind histogram.Kind, s timebase.Span) (*hdrhistogram.Histogram, error) {
	var merged histogram.Counts
	var d histogram.Decoder
	want := histogram.TagStep(step)
	err := r.intervals(func(i histogram.Interval, payload []byte) error {
		if i.Kind != kind || step != "" && i.Step != want || i.From < s.From || i.From >= s.To {
			return nil
		}
		return d.AddTo(&merged, payload)
	})
	return merged.Histogram(), err
}

// Intervals calls yield for every interval of a kind, until it returns false. They come
// in the order of the log, which is the order of time except for late ones. The
// histogram is valid until yield returns.
func (r *Record) Intervals(kind histogram.Kind, yield func(step string, s timebase.Span, c *histogram.Counts) bool) error {
	var c histogram.Counts
	var d histogram.Decoder
	err := r.intervals(func(i histogram.Interval, payload []byte) error {
		if i.Kind != kind {
			return nil
		}
		c.Reset()
		if err := d.AddTo(&c, payload); err != nil {
			return err
		}
		if !yield(i.Step, i.Span, &c) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// errEnough ends a scan of which the reader has seen enough.
var errEnough = errors.New("enough")

// intervals reads the latency log, one line at a time.
func (r *Record) intervals(yield func(i histogram.Interval, payload []byte) error) error {
	return eachHlog(r.Dir, func(name string, f io.Reader) error {
		err := histogram.ScanLog(f, func(i histogram.Interval, _ int64, payload []byte) error { return yield(i, payload) })
		if err != nil {
			return fmt.Errorf("read %s: %w", filepath.Join(r.Dir, name), disk.WithoutPath(err))
		}
		return nil
	})
}

// SlowRequests returns the stored slow requests, slowest (from the intended
// start) first. A torn last line is dropped.
func (r *Record) SlowRequests() ([]SlowRequest, error) {
	data, err := disk.Read(r.Dir, slowFile, MaxSlow)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1] // a kill may have torn the last line
	requests, err := disk.UnmarshalLines[SlowRequest](data)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Join(r.Dir, slowFile), err)
	}
	slices.SortStableFunc(requests, func(a, b SlowRequest) int {
		return cmp.Compare(b.Done-b.Intended, a.Done-a.Intended)
	})
	return requests, nil
}

// ReadJSON reads one of the bundle's JSON files into v. An absent file is an
// error that wraps fs.ErrNotExist.
func (r *Record) ReadJSON(file string, v any) error {
	data, err := disk.Read(r.Dir, file, MaxJSON)
	if err != nil {
		return err
	}
	if err := disk.Unmarshal(data, v); err != nil {
		return fmt.Errorf("open %s: %w", filepath.Join(r.Dir, file), err)
	}
	return nil
}

// Judged returns the span of figures and findings: the run's steady span, or all that
// was recorded if the run ended before it had one.
func (r *Record) Judged() timebase.Span {
	if s := r.Run.Steady; s.Len() > 0 {
		return s
	}
	from, to := r.Windows()
	width := r.Run.Window
	return timebase.Span{From: timebase.WindowSpan(from, width).From, To: timebase.WindowSpan(to, width).From}
}

// Thinned returns the stretches of the run whose windows were joined into wider ones,
// in order of time; nil if every window is as it was measured.
func (r *Record) Thinned() []windows.Resolution { return r.windows.Resolutions() }

// ThinnedText says in one sentence which windows were joined; "" when none
// were. Times are run time.
func (r *Record) ThinnedText() string {
	all := r.Thinned()
	if len(all) == 0 {
		return ""
	}
	text := "long run: "
	for i, t := range all {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s to %s is kept at a resolution of %v", runTime(t.From), runTime(t.To), t.Width)
	}
	return text + "; amounts are exact, percentiles of a window are the largest in it"
}

// runTime writes an instant of a run as h:mm:ss.
func runTime(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	s := int64(d / time.Second)
	return fmt.Sprintf("%s%d:%02d:%02d", sign, s/3600, s/60%60, s%60)
}
