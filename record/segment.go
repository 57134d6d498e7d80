package record

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/record/windows"
)

// openSegments is how many slots take points at once: a point may be a slot late.
const openSegments = 2

// unknownSlot is the slot of a file that holds nothing yet.
const unknownSlot = -1 << 62

// segment is a file that one slot's data is being written to.
type segment struct {
	slot   int64
	name   string // in the bundle
	file   *disk.Appender
	points *windows.Encoder // of a journal; nil for histograms
	values int              // written
}

// segmentOf returns the open segment that takes a window's points. Points older than
// every open segment go to the oldest.
func (w *Writer) segmentOf(window int64) (*segment, error) {
	slot := windows.FloorDiv(window, w.slot)
	newest := w.open[len(w.open)-1]
	if newest.slot == unknownSlot {
		newest.slot = max(0, slot) // values before the epoch belong to the first minute
		w.journal.begin(newest.slot)
	}
	if slot > newest.slot {
		return w.openSegment(slot, newest)
	}
	for _, s := range slices.Backward(w.open) {
		if s.slot <= slot {
			return s, nil
		}
	}
	return w.open[0], nil
}

// openSegment opens the segment of a slot after the newest one. If that fails, the
// newest stays in use.
func (w *Writer) openSegment(slot int64, newest *segment) (*segment, error) {
	s := &segment{slot: slot, name: partPath(slot, slot, 1, journalExt), points: w.encoder()}
	var err error
	if s.file, err = w.createPart(s.name, []byte(windows.JournalMagic)); err != nil {
		return newest, w.keep(journalFile, err)
	}
	w.open = append(w.open, s)
	w.journal.begin(slot)
	if len(w.open) > openSegments {
		err = w.closeSegment(w.open[0])
		w.open = slices.Delete(w.open, 0, 1)
	}
	return s, err
}

// Pin keeps the minute around an instant at full resolution, however long the run
// becomes, so that a span which begins or ends there is exact. It has no effect on
// minutes that are already joined.
func (w *Writer) Pin(at time.Duration) {
	slot := max(0, windows.FloorDiv(timebase.Window(at, w.window), w.slot))
	w.journal.pin(slot)
	w.histograms.pin(slot)
}

// createPart makes a file of the journal's folder, with its header.
func (w *Writer) createPart(name string, header []byte) (*disk.Appender, error) {
	if err := os.MkdirAll(filepath.Join(w.dir, partsDir), disk.DirMode); err != nil {
		return nil, err
	}
	f, err := disk.NewAppender(filepath.Join(w.dir, name))
	if err != nil {
		return nil, err
	}
	if err := f.Append(header); err != nil {
		_ = f.Close() // the first error is the one to report
		_ = os.Remove(f.Path)
		return nil, err
	}
	return f, nil
}

// closeSegment writes the rest of a segment and passes it to the thinner.
func (w *Writer) closeSegment(s *segment) error {
	err := w.flushSegment(s)
	if e := s.file.Close(); e != nil && err == nil {
		err = w.keep(s.name, e)
	}
	name := partPath(s.slot, s.slot, 1, journalExt)
	if s.name != name {
		if e := os.Rename(filepath.Join(w.dir, s.name), filepath.Join(w.dir, name)); e != nil {
			return w.keep(s.name, e) // it stays where it is, as it is
		}
	}
	w.journal.add(part{first: s.slot, last: s.slot, factor: 1, ext: journalExt, path: name, size: s.file.Size, points: s.values})
	w.thinner.kick()
	return err
}

// flushSegment writes the pending frame. Points that cannot be written are dropped
// and counted: keeping them would take ever more memory on a full disk.
func (w *Writer) flushSegment(s *segment) error {
	frame, points := s.points.Seal()
	if frame == nil {
		return nil
	}
	err := s.file.Append(frame)
	if err != nil {
		w.lost += points
		w.keep(journalFile, err)
	} else {
		s.values += points
	}
	s.points.Done(err == nil)
	return err
}

// chain knows the closed files of one kind and which slots there have been. Ages are
// counted in slots that hold data, not by a clock, so that one wrong window far in the
// future does not make everything old.
type chain struct {
	ext   string
	tiers []windows.Tier

	mu     sync.Mutex
	begun  []int64 // slots, in order
	parts  []part  // in order
	pinned map[int64]bool
}

func newChain(ext string, tiers []windows.Tier) *chain {
	return &chain{ext: ext, tiers: tiers, pinned: map[int64]bool{}}
}

// begin notes a slot with data.
func (c *chain) begin(slot int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, known := slices.BinarySearch(c.begun, slot); !known {
		c.begun = slices.Insert(c.begun, at, slot)
	}
}

func (c *chain) add(p part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parts = current(append(c.parts, p))
}

// pin keeps a slot at full resolution.
func (c *chain) pin(slot int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pinned[slot] = true
}

// joint is a step of thinning: files that become one of a larger factor.
type joint struct {
	parts  []part
	factor int64
}

func (j joint) path() string {
	return partPath(j.parts[0].first, j.parts[len(j.parts)-1].last, j.factor, j.parts[0].ext)
}

// next returns the next step; ok is false if there is none. If there are more values in
// total than half of a reader's bound, files age faster.
func (c *chain) next() (j joint, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := 0
	for _, p := range c.parts {
		total += p.points
	}
	for haste := int64(1); ; haste *= 2 {
		for i := 1; i < len(c.tiers); i++ {
			t := c.tiers[i]
			t.After = max(1, t.After/haste)
			if j, ok := c.due(t, c.tiers[i-1].Factor); ok {
				return j, true
			}
		}
		if total <= windows.MaxPoints/2 || haste > 1<<12 {
			return joint{}, false
		}
	}
}

// due returns the oldest files of factor from that belong in one file of the tier.
func (c *chain) due(t windows.Tier, from int64) (j joint, ok bool) {
	j.factor = t.Factor
	group := int64(0)
	for _, p := range c.parts {
		fits := p.factor == from && !c.pinned[p.first]
		g := windows.FloorDiv(p.first, t.Group)
		if len(j.parts) > 0 && (!fits || g != group) {
			break
		}
		// All of the group's slots must be old, so that nothing is added to it any more.
		if fits && c.newer((g+1)*t.Group-1) >= t.After {
			j.parts, group = append(j.parts, p), g
		}
	}
	return j, len(j.parts) > 0
}

// newer returns how many slots with data came after one.
func (c *chain) newer(slot int64) int64 {
	at, _ := slices.BinarySearch(c.begun, slot+1)
	return int64(len(c.begun) - at)
}

// done replaces the files of a step by the one made from them.
func (c *chain) done(j joint, size int64, points int) {
	made := part{first: j.parts[0].first, last: j.parts[len(j.parts)-1].last, factor: j.factor, ext: c.ext,
		path: j.path(), size: size, points: points}
	c.add(made) // drops those that it covers
}

// String names the step in errors.
func (j joint) String() string { return fmt.Sprintf("join %d files to %s", len(j.parts), j.path()) }
