package windows

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/redline-go/redline/record/series"
)

// The journal is a magic line followed by frames, each one a batch of points:
//
//	length   uint32, little endian: bytes of the payload
//	checksum uint32, little endian: CRC-32C of the payload
//	payload  entries, one after the other
//
// An entry begins with a uvarint. 0 defines the next series (ids count from 1
// in order of definition): name, labels and unit, each a uvarint length and
// bytes. Any other number is the id of a series and a point follows: the window
// as a varint difference to the entry before it in the frame, the value as 8
// bytes of a little-endian float64.
//
// A process may be killed inside a write, so a last frame that is short or
// whose checksum is wrong is dropped. Text lines were tried first; they are
// twice the size, and a torn number can read as another number.
//
// A thinned journal has another magic line, and after each value a uvarint: how many
// windows it was joined from. How many it stands for is in the file's name.
const (
	JournalMagic = "redline journal 1\n"
	thinnedMagic = "redline thinned 1\n"

	frameHeader = 8
	// frameFull is when a batch is written without waiting for the timer.
	frameFull = 64 << 10
	maxFrame  = 4 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encoder packs points into frames.
type Encoder struct {
	ids     map[series.Series]uint64
	Units   Units  // of all files of the run
	frame   []byte // header and payload so far; empty when there is no entry
	points  int    // in frame
	window  int64  // of the entry before
	pending []series.Series
	defined uint64                     // series of this file
	fresh   uint64                     // of these, the ones that the frame defines
	Hide    func(labels string) string // nil leaves them
}

// seriesKey is the key of a series.
type seriesKey struct{ name, labels string }

// Units holds the unit of each series of a run: one series has one unit in all files.
type Units map[seriesKey]string

// NewEncoder returns an encoder for one of the files that share the units of their
// series; hide removes secrets from labels, nil leaves them.
func NewEncoder(u Units, hide func(labels string) string) *Encoder {
	return &Encoder{ids: map[series.Series]uint64{}, Units: u, Hide: hide}
}

// Full reports whether the frame is to be written without waiting for more.
func (e *Encoder) Full() bool { return len(e.frame) >= frameFull }

// Add appends a point to the frame. NaN is absent data and takes no entry.
func (e *Encoder) Add(p series.Point) error { return e.addJoined(p, 0) }

// addJoined appends a value of a thinned journal, which was joined from count
// windows; 0 appends one of a plain journal.
func (e *Encoder) addJoined(p series.Point, count uint16) error {
	if math.IsNaN(p.Value) {
		return nil
	}
	if math.IsInf(p.Value, 0) || p.Window > MaxWindow || p.Window < -MaxWindow {
		return fmt.Errorf("series %s: value %g in window %d is out of range", seriesText(p.Series), p.Value, p.Window)
	}
	if len(e.frame) == 0 {
		e.frame = append(e.frame, make([]byte, frameHeader)...)
		e.window = 0
	}
	id, err := e.id(p.Series)
	if err != nil {
		return err
	}
	e.frame = binary.AppendUvarint(e.frame, id)
	e.frame = binary.AppendVarint(e.frame, p.Window-e.window)
	e.frame = binary.LittleEndian.AppendUint64(e.frame, math.Float64bits(p.Value))
	if count > 0 {
		e.frame = binary.AppendUvarint(e.frame, uint64(count))
	}
	e.window = p.Window
	e.points++
	return nil
}

// id returns the number of a series, which it defines if it is new.
func (e *Encoder) id(s series.Series) (uint64, error) {
	if id, ok := e.ids[s]; ok {
		return id, nil
	}
	if e.Hide != nil && s.Labels != "" {
		if clean := e.Hide(s.Labels); clean != s.Labels {
			id, err := e.id(series.Series{Name: s.Name, Labels: clean, Unit: s.Unit})
			if err == nil {
				e.ids[s] = id
				e.pending = append(e.pending, s)
			}
			return id, err
		}
	}
	if s.Name == "" || max(len(s.Name), len(s.Labels), len(s.Unit)) > series.MaxSeriesText {
		return 0, fmt.Errorf("series %.80q: the name is empty or a text is over %d bytes", s.Name, series.MaxSeriesText)
	}
	key := seriesKey{s.Name, s.Labels}
	unit, known := e.Units[key]
	if known && unit != s.Unit {
		return 0, fmt.Errorf("series %s has unit %q and now comes in %q", seriesText(s), unit, s.Unit)
	}
	if !known && len(e.Units) >= series.MaxSeries {
		return 0, fmt.Errorf("series %s: there are %d series already", seriesText(s), series.MaxSeries)
	}
	e.defined++
	e.fresh++
	id := e.defined // e.ids has series under a hidden name twice
	e.ids[s], e.Units[key] = id, s.Unit
	e.pending = append(e.pending, s)
	e.frame = binary.AppendUvarint(e.frame, 0)
	for _, text := range []string{s.Name, s.Labels, s.Unit} {
		e.frame = binary.AppendUvarint(e.frame, uint64(len(text)))
		e.frame = append(e.frame, text...)
	}
	return id, nil
}

// Seal completes the frame and returns it with the number of its points; nil if it is
// empty. The frame is valid until Done is called.
func (e *Encoder) Seal() (frame []byte, points int) {
	if len(e.frame) == 0 {
		return nil, 0
	}
	payload := e.frame[frameHeader:]
	binary.LittleEndian.PutUint32(e.frame, uint32(len(payload)))
	binary.LittleEndian.PutUint32(e.frame[4:], crc32.Checksum(payload, castagnoli))
	return e.frame, e.points
}

// Done drops the frame. If it was not written, the series that it defined become
// undefined again, or the points of later frames would belong to no series.
func (e *Encoder) Done(written bool) {
	if !written {
		for _, s := range e.pending {
			delete(e.ids, s)
		}
		e.defined -= e.fresh
	}
	e.pending, e.fresh, e.frame, e.points = e.pending[:0], 0, e.frame[:0], 0
}

// ReadJournal reads into t a journal whose values stand for factor windows each: 1 for a
// plain journal. It returns how many bytes at the end were dropped as torn.
func ReadJournal(r io.Reader, t *Table, factor int64) (torn int64, err error) {
	br := bufio.NewReaderSize(r, 256<<10)
	want := JournalMagic
	if factor > 1 {
		want = thinnedMagic
	}
	magic := make([]byte, len(want))
	n, err := io.ReadFull(br, magic)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	if !bytes.HasPrefix([]byte(want), magic[:n]) {
		return 0, errors.New("not a journal of windows")
	}
	if n < len(magic) {
		return int64(n), nil // killed before the first write was whole
	}
	var header [frameHeader]byte
	var payload []byte
	var known []int // id-1 to index in t
	for {
		n, err := io.ReadFull(br, header[:])
		if err != nil {
			return int64(n), dropEOF(err)
		}
		length := binary.LittleEndian.Uint32(header[:])
		if length > maxFrame {
			return 0, fmt.Errorf("a frame claims %d bytes, at most %d are allowed", length, maxFrame)
		}
		if int(length) > cap(payload) {
			payload = make([]byte, length)
		}
		payload = payload[:length]
		if k, err := io.ReadFull(br, payload); err != nil {
			return int64(n + k), dropEOF(err)
		}
		if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(header[4:]) {
			if _, err := br.Peek(1); errors.Is(err, io.EOF) {
				return int64(n) + int64(length), nil
			}
			return 0, errors.New("a frame in the middle has a wrong checksum")
		}
		if known, err = decodeFrame(payload, known, t, factor); err != nil {
			return 0, err
		}
	}
}

func dropEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

var errFrame = errors.New("a frame holds an invalid entry")

// decodeFrame adds a frame's points to t. known has the index in t of each series by id,
// and is extended by those that the frame defines.
func decodeFrame(b []byte, known []int, t *Table, factor int64) ([]int, error) {
	window := int64(0)
	for len(b) > 0 {
		id, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errFrame
		}
		b = b[n:]
		if id == 0 {
			var texts [3]string
			for i := range texts {
				length, n := binary.Uvarint(b)
				if n <= 0 || length > series.MaxSeriesText || length > uint64(len(b)-n) {
					return nil, errFrame
				}
				texts[i] = string(b[n : n+int(length)])
				b = b[n+int(length):]
			}
			index, err := t.define(series.Series{Name: texts[0], Labels: texts[1], Unit: texts[2]})
			if err != nil {
				return nil, err
			}
			known = append(known, index)
			continue
		}
		delta, n := binary.Varint(b)
		if n <= 0 || len(b) < n+8 || id > uint64(len(known)) {
			return nil, errFrame
		}
		value := math.Float64frombits(binary.LittleEndian.Uint64(b[n:]))
		b = b[n+8:]
		count := uint64(1)
		if factor > 1 {
			if count, n = binary.Uvarint(b); n <= 0 || count > MaxFactor {
				return nil, errFrame
			}
			b = b[n:]
		}
		// delta may be anything; keep the sum in the range before it is used.
		if delta > 2*MaxWindow || delta < -2*MaxWindow {
			return nil, errFrame
		}
		window += delta
		if err := t.addJoined(known[id-1], window, value, factor, uint16(count)); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// WriteThinned writes a table as a thinned journal.
func WriteThinned(out io.Writer, t *Table) error {
	b := bufio.NewWriterSize(out, frameFull)
	if _, err := b.WriteString(thinnedMagic); err != nil {
		return err
	}
	e := NewEncoder(Units{}, nil)
	for i := range t.series {
		c := &t.series[i]
		for k, w := range c.windows {
			if err := e.addJoined(series.Point{Window: int64(w), Series: c.Series, Value: c.values[k]}, c.count(k)); err != nil {
				return err
			}
			if e.Full() {
				frame, _ := e.Seal()
				if _, err := b.Write(frame); err != nil {
					return err
				}
				e.Done(true)
			}
		}
	}
	frame, _ := e.Seal()
	if _, err := b.Write(frame); err != nil {
		return err
	}
	return b.Flush()
}
