package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
	"github.com/redline-go/redline/redact"
)

// ErrClosed is returned by the methods of a Writer after Close.
var ErrClosed = errors.New("the bundle is closed")

// flushAfter is how long a point may wait in memory: half of the second that a killed
// run may lose.
const flushAfter = 500 * time.Millisecond

// Writer writes a bundle during the run. Its methods may be called concurrently. The
// error of a failed write (a full disk) is returned by the call that met it and by
// Close; later writes are still tried. The error of a write that a timer made is
// returned by the next Add.
//
// A Writer holds less than a second of points, and none of the other data, in memory.
// In a long run it joins old windows into wider ones as it goes, so that the bundle
// stays within a reader's bounds. Its input goes through its Redactor; see Hide.
type Writer struct {
	dir      string
	window   time.Duration
	slot     int64 // windows of one file of the journal
	epoch    time.Time
	encoders histogram.Encoders
	hide     *redact.Redactor

	journal, histograms *chain
	profiles            profileSet
	files               fileSet
	thinner             *thinner

	mu     sync.Mutex // of all below
	run    Run
	closed bool

	open   []*segment // of the journal, oldest first; never empty
	units  windows.Units
	timer  *time.Timer
	armed  bool
	failed error // met by the timer, not yet returned
	lost   int   // points that could not be written

	hlogOpen *segment
	slow     *disk.Appender

	errs   []error         // for Close: the first error of each file
	broken map[string]bool // files with an error in errs
}

// Create makes the bundle directory dir (which must be absent or empty) and writes
// run.json with state running. Nothing is left of a bundle that could not be begun.
func Create(dir string, run Run) (*Writer, error) {
	if run.Window <= 0 || run.Window > MaxWindowWidth {
		return nil, fmt.Errorf("create bundle %s: window of %v is not within (0, %v]", dir, run.Window, MaxWindowWidth)
	}
	if err := os.MkdirAll(dir, disk.DirMode); err != nil {
		return nil, fmt.Errorf("create bundle: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("create bundle: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("create bundle %s: the directory is not empty", dir)
	}
	w := &Writer{
		dir: dir, run: run, window: run.Window, slot: windows.SlotWindows(run.Window), epoch: run.Clock.EpochWall,
		units: windows.Units{}, files: fileSet{names: map[string]bool{}}, broken: map[string]bool{},
		journal: newChain(journalExt, windows.TiersOf(run.Window)), histograms: newChain(hlogExt, windows.TiersOf(run.Window)),
	}
	w.thinner = newThinner(w.joinJournal, w.joinHistograms, w.joinProfiles)
	w.run.Schema, w.run.State, w.run.Why = RunSchema, Running, ""
	if w.run.ID == "" {
		if abs, err := filepath.Abs(dir); err == nil {
			w.run.ID = filepath.Base(abs)
		}
	}
	// An existing directory may be open to others, or another user's: then it stays as
	// it is, and only the user can read the files in it.
	_ = os.Chmod(dir, disk.DirMode)
	if err := w.begin(run.Clock.EpochWall); err != nil {
		return nil, fmt.Errorf("create bundle: %w", err)
	}
	w.timer = time.AfterFunc(time.Hour, w.onTimer)
	w.timer.Stop()
	go w.thinner.run()
	return w, nil
}

// Hide gives the writer the redactor that knows the run's secrets. It hides them by form
// and value in all that the writer writes, and by name in texts of people and programs:
// warnings, reasons, the target's last words, labels of profiles, strings of traces.
// Without it only names and forms are known. It must be called before anything except
// Create.
func (w *Writer) Hide(r *redact.Redactor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hide = r
	for _, s := range w.open {
		s.points.Hide = r.Sweep
	}
}

// encoder returns an encoder for a file of the journal.
func (w *Writer) encoder() *windows.Encoder {
	if w.hide == nil {
		return windows.NewEncoder(w.units, nil)
	}
	return windows.NewEncoder(w.units, w.hide.Sweep)
}

// WriteJSON writes one of the bundle's JSON files without secrets, like
// disk.WriteRedacted.
func (w *Writer) WriteJSON(file string, v any) error {
	return disk.WriteRedacted(w.dir, file, v, w.hide)
}

// begin makes the files of a new bundle. On an error it removes those that it made.
func (w *Writer) begin(epoch time.Time) (err error) {
	var made []string
	defer func() {
		if err == nil {
			return
		}
		w.closeFiles()
		for _, name := range made {
			err = errors.Join(err, os.Remove(filepath.Join(w.dir, name)))
		}
	}()
	// The journal is made first and exclusively: of two writers that found the
	// directory empty, one fails here.
	journal := &segment{slot: unknownSlot, name: journalFile, points: w.encoder()}
	w.open, w.hlogOpen = []*segment{journal}, &segment{slot: unknownSlot, name: hlogFile}
	for _, file := range []struct {
		name  string
		into  **disk.Appender
		first []byte
	}{
		{journalFile, &journal.file, []byte(windows.JournalMagic)},
		{hlogFile, &w.hlogOpen.file, histogram.LogHeader(epoch)},
		{slowFile, &w.slow, nil},
	} {
		if *file.into, err = disk.NewAppender(filepath.Join(w.dir, file.name)); err != nil {
			return err
		}
		made = append(made, file.name)
		if err := (*file.into).Append(file.first); err != nil {
			return err
		}
	}
	for _, sub := range []string{profilesDir, tracesDir} {
		if err := os.Mkdir(filepath.Join(w.dir, sub), disk.DirMode); err != nil {
			return err
		}
		made = append(made, sub)
	}
	return w.writeRun()
}

// Dir returns the bundle's directory.
func (w *Writer) Dir() string { return w.dir }

// Add journals points. Several points of one (window, series) are summed at the close
// (counters split over windows have them). A NaN value is absent data and is not
// stored. A point that cannot be stored (an infinite value, one series too many) is an
// error; the others are stored.
func (w *Writer) Add(points ...series.Point) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	err := w.failed
	w.failed = nil
	for _, p := range points {
		segment, e := w.segmentOf(p.Window)
		if e != nil && err == nil {
			err = e
		}
		if e := segment.points.Add(p); e != nil && err == nil {
			err = w.keep(journalFile, fmt.Errorf("add to %s: %w", filepath.Join(w.dir, journalFile), e))
		}
		if segment.points.Full() {
			if e := w.flushSegment(segment); e != nil && err == nil {
				err = e
			}
		}
	}
	if !w.armed && len(points) > 0 {
		w.timer.Reset(flushAfter)
		w.armed = true
	}
	return err
}

func (w *Writer) onTimer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = false
	if w.closed {
		return
	}
	if err := w.flush(); err != nil {
		w.failed = err
	}
}

// flush writes the pending frames.
func (w *Writer) flush() (err error) {
	for _, s := range w.open {
		if e := w.flushSegment(s); e != nil && err == nil {
			err = e
		}
	}
	return err
}

// Histogram appends one interval to latency.hlog. Values are ns. An empty
// histogram takes no line.
func (w *Writer) Histogram(step string, kind histogram.Kind, s timebase.Span, h *hdrhistogram.Histogram) error {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	c, err := histogram.CountsOf(h)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(w.dir, hlogFile), err)
	}
	return w.Counts(step, kind, s, c)
}

// Slow appends requests to slow.jsonl. Its size is bounded by MaxSlow.
func (w *Writer) Slow(requests ...SlowRequest) error {
	var lines []byte
	for _, r := range requests {
		line, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("write %s: %w", slowFile, err)
		}
		lines = append(append(lines, w.hide.Document(line)...), '\n')
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	if w.slow.Size+int64(len(lines)) > MaxSlow {
		return w.keep(slowFile, fmt.Errorf("write %s: it would be over %d bytes", w.slow.Path, MaxSlow))
	}
	return w.keep(slowFile, w.slow.Append(lines))
}

// Update changes run.json through f and writes it atomically. f must not call
// the Writer. Schema, state and reason stay as they are: Close sets them.
func (w *Writer) Update(f func(*Run)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	schema, state, why := w.run.Schema, w.run.State, w.run.Why
	f(&w.run)
	w.run.Schema, w.run.State, w.run.Why = schema, state, why
	return w.keep(disk.RunFile, w.writeRun())
}

// Close turns the journal into windows.parquet and writes run.json with the
// given state and reason. It returns every kind of error that the Writer met.
// When Parquet cannot be written the journal stays, and Open reads that.
// A second Close does nothing.
func (w *Writer) Close(state State, why string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.flush()
	w.closed = true
	w.timer.Stop()
	w.closeFiles()
	w.keep(partsDir, w.thinner.close())
	if err := w.keep(parquetFile, w.convert()); err == nil {
		// The journal is removed before run.json is written: run.json may need its space,
		// and Parquet is already there.
		w.keep(journalFile, w.removeJournal())
	}
	w.keep(hlogFile, w.gatherHistograms())
	_ = os.Remove(filepath.Join(w.dir, partsDir)) // if all of it was gathered
	w.run.State, w.run.Why = state, why
	if w.lost > 0 {
		w.run.Warnings = append(w.run.Warnings, fmt.Sprintf("%d values of series could not be written and are missing", w.lost))
	}
	w.keep(disk.RunFile, w.writeRun())
	return errors.Join(w.errs...)
}

// convert writes windows.parquet from the journal.
func (w *Writer) convert() error {
	t, err := openJournal(w.dir, w.window)
	if err != nil {
		return err
	}
	w.run.Resolution = t.Resolutions()
	return disk.WriteFile(w.dir, parquetFile, func(out io.Writer) error { return windows.WriteParquet(out, t) })
}

// removeJournal removes all files of the journal.
func (w *Writer) removeJournal() error {
	err := os.Remove(filepath.Join(w.dir, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it was joined
	}
	parts, _ := filepath.Glob(filepath.Join(w.dir, partsDir, "*."+journalExt)) // the pattern is valid
	for _, p := range parts {
		err = errors.Join(err, os.Remove(p))
	}
	return err
}

// keep remembers err for Close, the first for each file, and returns it.
func (w *Writer) keep(file string, err error) error {
	if err == nil {
		return nil
	}
	if !w.broken[file] {
		w.broken[file] = true
		w.errs = append(w.errs, err)
	}
	return err
}

func (w *Writer) writeRun() error {
	if w.run.Sources == nil {
		w.run.Sources = []SourceHealth{}
	}
	if w.run.Warnings == nil {
		w.run.Warnings = []string{}
	}
	return disk.WriteRedacted(w.dir, disk.RunFile, w.run.without(w.hide), w.hide)
}

// without returns the run with secrets also hidden by name in fields that people and
// programs wrote.
func (r Run) without(hide *redact.Redactor) Run {
	r.Why = hide.Text(r.Why)
	r.Warnings = texts(r.Warnings, hide)
	r.Sources = slices.Clone(r.Sources)
	for i := range r.Sources {
		s := &r.Sources[i]
		s.Why = hide.Text(s.Why)
		s.Gaps = slices.Clone(s.Gaps)
		for k := range s.Gaps {
			s.Gaps[k].Why = hide.Text(s.Gaps[k].Why)
		}
	}
	r.Marks = slices.Clone(r.Marks)
	for i := range r.Marks {
		r.Marks[i].Text = hide.Text(r.Marks[i].Text)
	}
	r.Target.URL = hide.Text(r.Target.URL)
	r.Target.Command = hide.Args(r.Target.Command)
	r.Target.Panicked = hide.Text(r.Target.Panicked)
	if r.Target.Exit != nil {
		exit := *r.Target.Exit
		exit.Stderr = texts(exit.Stderr, hide)
		r.Target.Exit = &exit
	}
	return r
}

func texts(all []string, hide *redact.Redactor) []string {
	clean := slices.Clone(all)
	for i, text := range clean {
		clean[i] = hide.Text(text)
	}
	return clean
}

func (w *Writer) closeFiles() {
	files := []*disk.Appender{w.slow}
	for _, s := range append(slices.Clone(w.open), w.hlogOpen) {
		if s != nil {
			files = append(files, s.file)
		}
	}
	for _, f := range files {
		if f != nil {
			w.keep(filepath.Base(f.Path), f.Close())
		}
	}
}
