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

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
)

const hlogFile = "latency.hlog"

// hlogWhole is the line after the header of a log that was put together from parts:
// parts that still exist are included in it.
const hlogWhole = "#[Joined: this log is whole]\n"

// hlogSegment opens the log for the lines of a slot. Late lines go to the log that is
// open.
func (w *Writer) hlogSegment(at time.Duration) error {
	slot := windows.FloorDiv(timebase.Window(at, w.window), w.slot)
	if w.hlogOpen.slot == unknownSlot {
		w.hlogOpen.slot = max(0, slot)
		w.histograms.begin(w.hlogOpen.slot)
	}
	if slot <= w.hlogOpen.slot {
		return nil
	}
	next := &segment{slot: slot, name: partPath(slot, slot, 1, hlogExt)}
	var err error
	if next.file, err = w.createPart(next.name, histogram.LogHeader(w.run.Clock.EpochWall)); err != nil {
		return w.keep(hlogFile, err) // the old one stays in use
	}
	old := w.hlogOpen
	w.hlogOpen = next
	w.histograms.begin(slot)
	err = w.keep(old.name, old.file.Close())
	name := partPath(old.slot, old.slot, 1, hlogExt)
	if old.name != name {
		if e := os.Rename(filepath.Join(w.dir, old.name), filepath.Join(w.dir, name)); e != nil {
			return w.keep(old.name, e)
		}
	}
	w.histograms.add(part{first: old.slot, last: old.slot, factor: 1, ext: hlogExt, path: name, size: old.file.Size})
	w.thinner.kick()
	return err
}

// joinHistograms does the next step of the latency log.
func (w *Writer) joinHistograms() (did bool, err error) {
	j, ok := w.histograms.next()
	if !ok {
		return false, nil
	}
	err = disk.WriteFile(w.dir, j.path(), func(out io.Writer) error {
		b := bufio.NewWriterSize(out, 64<<10)
		if _, err := b.Write(histogram.LogHeader(w.epoch)); err != nil {
			return err
		}
		if err := w.joinLines(b, j); err != nil {
			return fmt.Errorf("%v: %w", j, err)
		}
		return b.Flush()
	})
	if err != nil {
		return false, err
	}
	return true, w.replace(w.histograms, j, 0)
}

// located is a line of a log: its span and kind, and where its payload lies.
type located struct {
	histogram.Interval
	bin     int64
	file    int
	offset  int64
	payload int
}

// joinLines writes one line for all lines of a tag that begin in the same window of the
// step's factor. In memory it holds the positions of the lines and one histogram.
func (w *Writer) joinLines(out io.Writer, j joint) error {
	files := make([]*os.File, len(j.parts))
	defer func() {
		for _, f := range files {
			if f != nil {
				_ = f.Close() // it was only read
			}
		}
	}()
	var lines []located
	for n, p := range j.parts {
		var err error
		if files[n], _, err = disk.Open(w.dir, p.path, MaxHlog); err != nil {
			return err
		}
		err = histogram.ScanLog(files[n], func(i histogram.Interval, offset int64, payload []byte) error {
			lines = append(lines, located{Interval: i, bin: windows.FloorDiv(timebase.Window(i.From, w.window), j.factor),
				file: n, offset: offset, payload: len(payload)})
			return nil
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(lines, func(a, b located) int {
		return cmp.Or(cmp.Compare(a.bin, b.bin), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.From, b.From))
	})
	e := w.encoders.Get()
	defer w.encoders.Put(e)
	var d histogram.Decoder
	var sum histogram.Counts
	var payload []byte
	for len(lines) > 0 {
		first := lines[0]
		span := first.Span
		sum.Reset()
		n := 0
		for ; n < len(lines) && lines[n].bin == first.bin && lines[n].Step == first.Step && lines[n].Kind == first.Kind; n++ {
			l := lines[n]
			payload = slices.Grow(payload[:0], l.payload)[:l.payload]
			if _, err := files[l.file].ReadAt(payload, l.offset); err != nil {
				return err
			}
			if err := d.AddTo(&sum, payload); err != nil {
				return err
			}
			span.To = max(span.To, l.To)
		}
		lines = lines[n:]
		line, err := histogram.LogLine(e, first.Step, first.Kind, span, &sum)
		if err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// gatherHistograms makes latency.hlog from the parts, if there are any, and removes
// them.
func (w *Writer) gatherHistograms() error {
	parts, err := listParts(w.dir, hlogExt)
	if err != nil || len(parts) == 0 {
		return err
	}
	err = disk.WriteFile(w.dir, hlogFile, func(out io.Writer) error {
		header := histogram.LogHeader(w.epoch)
		if _, err := out.Write(append(header, hlogWhole...)); err != nil {
			return err
		}
		return eachHlog(w.dir, func(name string, f io.Reader) error {
			b := bufio.NewReaderSize(f, 256<<10)
			for {
				line, err := b.ReadSlice('\n')
				switch {
				case errors.Is(err, io.EOF):
					return nil
				case err != nil && !errors.Is(err, bufio.ErrBufferFull):
					return err
				case err == nil && (line[0] == '#' || line[0] == '"'):
					continue
				}
				if _, err := out.Write(line); err != nil {
					return err
				}
			}
		})
	})
	if err != nil {
		return err
	}
	for _, p := range parts {
		err = errors.Join(err, os.Remove(filepath.Join(w.dir, p.path)))
	}
	return err
}

// eachHlog calls yield with every file of the latency log that counts, in order of
// time.
func eachHlog(dir string, yield func(name string, f io.Reader) error) error {
	parts, err := listParts(dir, hlogExt)
	if err != nil {
		return err
	}
	whole, err := eachPart(dir, hlogFile, yield)
	if err != nil || whole {
		return err
	}
	for _, p := range parts {
		if _, err := eachPart(dir, p.path, yield); err != nil {
			return err
		}
	}
	return nil
}

// eachPart yields one file, if it exists, and reports whether it is marked as whole.
func eachPart(dir, name string, yield func(name string, f io.Reader) error) (whole bool, err error) {
	f, _, err := disk.Open(dir, name, MaxHlog)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 1<<10)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read %s: %w", filepath.Join(dir, name), disk.WithoutPath(err))
	}
	return bytes.Contains(head[:n], []byte(hlogWhole)), yield(name, f)
}

// Counts appends one interval to latency.hlog like Histogram, at less cost. It does not
// keep c.
func (w *Writer) Counts(step string, kind histogram.Kind, s timebase.Span, c *histogram.Counts) error {
	if c.Total() == 0 {
		return nil
	}
	if s.To < s.From {
		return fmt.Errorf("write %s: the span %v to %v ends before it begins", hlogFile, s.From, s.To)
	}
	e := w.encoders.Get()
	defer w.encoders.Put(e)
	line, err := histogram.LogLine(e, w.hide.Sweep(step), kind, s, c)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(w.dir, hlogFile), err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	if err := w.hlogSegment(s.From); err != nil {
		return err
	}
	return w.keep(hlogFile, w.hlogOpen.file.Append(line))
}
