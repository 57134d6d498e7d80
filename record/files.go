package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/timebase"
)

// Bounds on a bundle's files. Writers keep to them. A bundle that exceeds them is
// refused with an error that names the file, because it would otherwise determine how
// much memory its reader takes.
const (
	MaxRunJSON = 8 << 20   // bytes of run.json
	MaxJSON    = 64 << 20  // bytes of each other JSON file
	MaxJournal = 1 << 30   // bytes of windows.journal
	MaxParquet = 512 << 20 // bytes of windows.parquet
	MaxHlog    = 1 << 30   // bytes of latency.hlog
	MaxSlow    = 64 << 20  // bytes of slow.jsonl
	MaxSpans   = 64 << 20  // bytes of spans.jsonl
	MaxProfile = 64 << 20  // bytes of one profile
	MaxTrace   = 256 << 20 // bytes of one execution trace
	MaxFiles   = 100_000   // profiles, and traces, of one bundle

	// MaxWindowWidth bounds Run.Window.
	MaxWindowWidth = time.Hour
)

// Profiles and traces are files of their own, named by type and window range
// for people and by their exact span in ns of run time for the reader:
//
//	profiles/cpu-w50-w149_5000000000-14999000000.pprof
//	traces/trace-w80-w99_8000123456-9999870000.trace
//
// The second window is the last that the span touches. The span is in the name and not
// in a separate index, because a run may be killed between two writes, and the two
// could then disagree.
const (
	profilesDir = "profiles"
	tracesDir   = "traces"
	traceType   = "trace"
	slowType    = "slow" // a trace of a slow window
)

var (
	fileType = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
	fileName = regexp.MustCompile(`^([a-z][a-z0-9_]{0,31})-w-?\d{1,19}-w-?\d{1,19}_(-?\d{1,19})-(-?\d{1,19})\.(pprof|trace)$`)
)

// spanName returns the file name of a profile or trace.
func spanName(typ string, s timebase.Span, width time.Duration, ext string) string {
	last := max(s.From, s.To-1)
	return fmt.Sprintf("%s-w%d-w%d_%d-%d.%s", typ, timebase.Window(s.From, width), timebase.Window(last, width),
		int64(s.From), int64(s.To), ext)
}

// parseSpanName is its inverse.
func parseSpanName(name string) (typ, ext string, s timebase.Span, ok bool) {
	m := fileName.FindStringSubmatch(name)
	if m == nil {
		return "", "", timebase.Span{}, false
	}
	from, err1 := strconv.ParseInt(m[2], 10, 64)
	to, err2 := strconv.ParseInt(m[3], 10, 64)
	if err1 != nil || err2 != nil || to < from {
		return "", "", timebase.Span{}, false
	}
	return m[1], m[4], timebase.Span{From: time.Duration(from), To: time.Duration(to)}, true
}

// Profile stores one pprof file. Type and span together must be new.
func (w *Writer) Profile(p Profile) error {
	if !fileType.MatchString(p.Type) || p.Type == traceType {
		return fmt.Errorf("write profile: %.40q is not a type of profile", p.Type)
	}
	if err := w.store(profilesDir, p.Type, "pprof", p.Span, p.Data, MaxProfile, w.hide.Profile); err != nil || p.Span.Len() == 0 {
		return err
	}
	w.profiles.add(stored{typ: p.Type, Span: p.Span, path: path.Join(profilesDir, spanName(p.Type, p.Span, w.window, "pprof"))})
	w.thinner.kick()
	return nil
}

// Trace stores one execution trace. Its span must be new.
func (w *Writer) Trace(t Trace) error {
	typ := traceType
	if t.Slow {
		typ = slowType
	}
	return w.store(tracesDir, typ, "trace", t.Span, t.Data, MaxTrace, w.hide.Trace)
}

func (w *Writer) store(dir, typ, ext string, s timebase.Span, data []byte, bound int, hide func([]byte) []byte) error {
	w.mu.Lock()
	closed := w.closed
	w.mu.Unlock()
	if closed {
		return ErrClosed
	}
	name := path.Join(dir, spanName(typ, s, w.window, ext))
	var err error
	switch {
	case s.To < s.From:
		err = fmt.Errorf("the span %v to %v ends before it begins", s.From, s.To)
	case len(data) > bound:
		err = fmt.Errorf("%d bytes, at most %d are allowed", len(data), bound)
	default:
		err = w.files.take(name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(w.dir, name), err)
	}
	// The file is written without the lock: a trace takes long, and the points of the
	// windows must not wait for it.
	if err := disk.Write(w.dir, name, hide(data)); err != nil {
		w.files.free(name)
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.keep(dir, err)
	}
	return nil
}

// fileSet holds the names of the profiles and traces. It has a lock of its own: the thinner
// frees names, and Close waits for the thinner under the writer's lock.
type fileSet struct {
	mu    sync.Mutex
	names map[string]bool // paths in the bundle
}

// take reserves a name for a new file.
func (f *fileSet) take(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.names[name]:
		return errors.New("there is one of this span already")
	case len(f.names) >= MaxFiles:
		return fmt.Errorf("there are %d files already", MaxFiles)
	}
	f.names[name] = true
	return nil
}

// free forgets a name whose file is gone.
func (f *fileSet) free(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.names, name)
}

// replace forgets the names of a group for that of the profile made from it.
func (f *fileSet) replace(group []stored, made stored) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range group {
		delete(f.names, s.path)
	}
	f.names[made.path] = true
}

// stored is a profile or trace of an opened bundle.
type stored struct {
	typ string
	timebase.Span
	path string // in the bundle
}

// listStored lists a folder of profiles or traces in order of time. Other files in it
// are not redline's and are left out.
func listStored(dir, sub, ext string) ([]stored, error) {
	f, err := os.OpenInRoot(dir, sub)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", filepath.Join(dir, sub), disk.WithoutPath(err))
	}
	defer f.Close()
	names, err := f.Readdirnames(MaxFiles + 1)
	if err != nil && len(names) == 0 {
		names = nil // io.EOF: the folder is empty
	}
	if len(names) > MaxFiles {
		return nil, fmt.Errorf("open %s: more than %d files", filepath.Join(dir, sub), MaxFiles)
	}
	var all []stored
	for _, name := range names {
		if typ, e, span, ok := parseSpanName(name); ok && e == ext {
			all = append(all, stored{typ: typ, Span: span, path: path.Join(sub, name)})
		}
	}
	slices.SortFunc(all, func(a, b stored) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.path, b.path))
	})
	return all, nil
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
	s, err := r.storedProfile(p)
	if err != nil {
		return nil, err
	}
	return disk.Read(r.Dir, s.path, MaxProfile)
}

// ProfilePath returns where a listed profile is, for errors about what it holds.
func (r *Record) ProfilePath(p Profile) string {
	s, _ := r.storedProfile(p) // of one that is not listed it is the folder
	return filepath.Join(r.Dir, s.path)
}

func (r *Record) storedProfile(p Profile) (stored, error) {
	for _, s := range r.profiles {
		if s.typ == p.Type && s.Span == p.Span {
			return s, nil
		}
	}
	return stored{}, fmt.Errorf("read profile: %s holds no %s profile of %v to %v: %w", r.Dir, p.Type, p.Span.From, p.Span.To,
		fs.ErrNotExist)
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
	return disk.Read(r.Dir, s.path, MaxTrace)
}

func (r *Record) storedTrace(t Trace) (stored, error) {
	for _, s := range r.traces {
		if s.Span == t.Span && (s.typ == slowType) == t.Slow {
			return s, nil
		}
	}
	return stored{}, fmt.Errorf("read trace: %s holds none of %v to %v: %w", r.Dir, t.Span.From, t.Span.To, fs.ErrNotExist)
}

// OpenTrace opens a listed trace for streaming, and returns its size in bytes. The file
// is unchecked; its readers bound their own input.
func (r *Record) OpenTrace(t Trace) (io.ReadCloser, int64, error) {
	s, err := r.storedTrace(t)
	if err != nil {
		return nil, 0, err
	}
	f, size, err := disk.Open(r.Dir, s.path, MaxTrace)
	if err != nil {
		return nil, 0, err
	}
	return f, size, nil
}

// Spread returns which of n files of the given sizes to read within budget bytes: all if
// they fit, otherwise as many as fit, evenly spread over the list, including the first
// and the last if two fit.
func Spread(n int, size func(i int) int64, budget int64, most int) []int {
	for k := min(n, most); k > 0; k = min(k-1, k*7/8) {
		picked, sum := make([]int, 0, k), int64(0)
		for i := range k {
			at := i
			if k < n {
				at = (n - 1) / 2
				if k > 1 {
					at = i * (n - 1) / (k - 1)
				}
			}
			picked = append(picked, at)
			sum += size(at)
		}
		if sum <= budget {
			return picked
		}
	}
	return nil
}

// ProfileSize returns the size of a listed profile in bytes, 0 when it cannot be
// opened; ReadProfile then says why.
func (r *Record) ProfileSize(p Profile) int64 {
	s, err := r.storedProfile(p)
	if err != nil {
		return 0
	}
	f, size, err := disk.Open(r.Dir, s.path, MaxProfile)
	if err != nil {
		return 0
	}
	_ = f.Close() // nothing was written
	return size
}
