package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// ErrClosed is returned by the methods of a Writer after Close.
var ErrClosed = errors.New("the bundle is closed")

// flushAfter is how long a point may wait in memory: half of the second that a
// killed run may lose.
const flushAfter = 500 * time.Millisecond

// Writer writes a bundle as the run goes on. Its methods may be called
// concurrently. A failed write (a full disk) is returned by the call that met
// it and by Close; later writes are still tried. A write that a timer made is
// returned by the next Add.
//
// A Writer holds less than a second of points, and none of the other data, in
// memory. In a long run it joins old windows to wider ones as it goes, so that the
// bundle stays within what a reader takes. It takes what it is given: secrets must
// be gone before.
type Writer struct {
	dir      string
	window   time.Duration
	slot     int64 // windows of one file of the journal
	epoch    time.Time
	encoders encoders

	journal, histograms *chain
	profiles            profileSet
	thinner             *thinner

	mu     sync.Mutex // of all below
	run    Run
	closed bool

	open   []*segment // of the journal, oldest first; never empty
	units  map[seriesKey]string
	timer  *time.Timer
	armed  bool
	failed error // met by the timer, not yet returned
	lost   int   // points that could not be written

	hlogOpen *segment
	slow     *appendFile
	files    map[string]bool // profiles and traces by path in the bundle

	errs   []error         // for Close: the first error of each file
	broken map[string]bool // files with an error in errs
}

// Create makes the bundle directory dir (which must not exist or be empty) and
// writes run.json with state running.
func Create(dir string, run Run) (w *Writer, err error) {
	if run.Window <= 0 || run.Window > MaxWindowWidth {
		return nil, fmt.Errorf("create bundle %s: window of %v is not within (0, %v]", dir, run.Window, MaxWindowWidth)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create bundle: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("create bundle: %w", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("create bundle %s: the directory is not empty", dir)
	}
	w = &Writer{
		dir: dir, run: run, window: run.Window, slot: slotWindows(run.Window), epoch: run.Clock.EpochWall,
		units: map[seriesKey]string{}, files: map[string]bool{}, broken: map[string]bool{},
		journal: newChain(journalExt, tiersOf(run.Window)), histograms: newChain(hlogExt, tiersOf(run.Window)),
	}
	w.thinner = newThinner(dir, run.Window, w.joinJournal, w.joinHistograms, w.joinProfiles)
	w.run.Schema, w.run.State, w.run.Why = RunSchema, Running, ""
	if w.run.ID == "" {
		if abs, err := filepath.Abs(dir); err == nil {
			w.run.ID = filepath.Base(abs)
		}
	}
	defer func() {
		if err != nil {
			w.closeFiles()
			err = fmt.Errorf("create bundle: %w", err)
		}
	}()
	// The journal is made first and exclusively: of two writers that found the
	// directory empty, one fails here.
	journal := &segment{slot: unknownSlot, name: journalFile, points: newEncoderOf(w.units)}
	if journal.file, err = createAppend(filepath.Join(dir, journalFile)); err != nil {
		return nil, err
	}
	w.open = []*segment{journal}
	if err := journal.file.append([]byte(journalMagic)); err != nil {
		return nil, err
	}
	hlog := &segment{slot: unknownSlot, name: hlogFile}
	if hlog.file, err = createAppend(filepath.Join(dir, hlogFile)); err != nil {
		return nil, err
	}
	w.hlogOpen = hlog
	if err := hlog.file.append(hlogHeader(run.Clock.EpochWall)); err != nil {
		return nil, err
	}
	if w.slow, err = createAppend(filepath.Join(dir, slowFile)); err != nil {
		return nil, err
	}
	for _, sub := range []string{profilesDir, tracesDir} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	if err := w.writeRun(); err != nil {
		return nil, err
	}
	w.timer = time.AfterFunc(time.Hour, w.onTimer)
	w.timer.Stop()
	go w.thinner.run()
	return w, nil
}

// Dir returns the bundle's directory.
func (w *Writer) Dir() string { return w.dir }

// Add journals points. Points of one (window, series) that arrive more than
// once are summed at the close (counters split over windows do that). A NaN
// value is absent data and is not stored. A point that cannot be stored (an
// infinite value, one series too many) is an error; the others are stored.
func (w *Writer) Add(points ...Point) error {
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
		if e := segment.points.add(p); e != nil && err == nil {
			err = w.keep(journalFile, fmt.Errorf("add to %s: %w", filepath.Join(w.dir, journalFile), e))
		}
		if len(segment.points.frame) >= frameFull {
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
func (w *Writer) Histogram(step string, kind Kind, s Span, h *hdrhistogram.Histogram) error {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	c, err := countsOf(h)
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
		lines = append(append(lines, line...), '\n')
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	if w.slow.size+int64(len(lines)) > MaxSlow {
		return w.keep(slowFile, fmt.Errorf("write %s: it would be over %d bytes", w.slow.path, MaxSlow))
	}
	return w.keep(slowFile, w.slow.append(lines))
}

// Update changes run.json through f and writes it atomically. f must not call
// the Writer. Schema, state and reason stay what they are: Close sets them.
func (w *Writer) Update(f func(*Run)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	schema, state, why := w.run.Schema, w.run.State, w.run.Why
	f(&w.run)
	w.run.Schema, w.run.State, w.run.Why = schema, state, why
	return w.keep(runFile, w.writeRun())
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
		// The journal goes before run.json is written: its space may be what
		// run.json needs, and Parquet is there already.
		w.keep(journalFile, w.removeJournal())
	}
	w.keep(hlogFile, w.gatherHistograms())
	_ = os.Remove(filepath.Join(w.dir, partsDir)) // where all of it was gathered
	w.run.State, w.run.Why = state, why
	if w.lost > 0 {
		w.run.Warnings = append(w.run.Warnings, fmt.Sprintf("%d values of series could not be written and are missing", w.lost))
	}
	w.keep(runFile, w.writeRun())
	return errors.Join(w.errs...)
}

// convert writes windows.parquet from the journal.
func (w *Writer) convert() error {
	t, err := openJournal(w.dir, w.window)
	if err != nil {
		return err
	}
	w.run.Resolution = t.grid.resolutions(w.window)
	return writeParquet(w.dir, t, w.window)
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
	return WriteJSON(w.dir, runFile, w.run)
}

func (w *Writer) closeFiles() {
	files := []*appendFile{w.slow}
	for _, s := range append(slices.Clone(w.open), w.hlogOpen) {
		if s != nil {
			files = append(files, s.file)
		}
	}
	for _, f := range files {
		if f != nil {
			w.keep(filepath.Base(f.path), f.close())
		}
	}
}
