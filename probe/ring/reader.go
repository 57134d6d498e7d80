package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// Reader reads samples in their order. Whatever the file holds, it returns an
// error or figures; it trusts no length. It has one user at a time.
type Reader struct {
	Header  Header
	Columns []Column

	src      io.ReaderAt
	file     *os.File // nil when src is not ours to close
	slots    uint64
	slotSize int
	slotsAt  int64
	namesAt  int64
	next     uint64 // index of the sample to read next
	lost     uint64
	torn     uint64
	buf      []byte
}

// ErrForeign is wrapped by errors about files that are not rings of a version
// that this reader knows.
var ErrForeign = errors.New("not a ring of redline's probe")

// Open opens the ring at path. Samples that it already holds are delivered.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open ring: %w", err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("open ring %s: %w: not a regular file", path, ErrForeign)
	}
	r, err := NewReader(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open ring %s: %w", path, err)
	}
	r.file = f
	return r, nil
}

// NewReader reads the ring in src.
func NewReader(src io.ReaderAt) (*Reader, error) {
	b := make([]byte, headerSize)
	if _, err := src.ReadAt(b, 0); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrForeign, err)
	}
	order := binary.NativeEndian
	if order.Uint64(b[atMagic:]) != magic {
		return nil, fmt.Errorf("%w: no magic number", ErrForeign)
	}
	if v := order.Uint32(b[atVersion:]); v != Version {
		return nil, fmt.Errorf("%w: its layout is version %d and this redline reads version %d (build the target with the "+
			"probe of this redline)", ErrForeign, v, Version)
	}
	r := &Reader{src: src}
	columns, table := order.Uint32(b[atColumns:]), order.Uint32(b[atTableSize:])
	slots, size, at := order.Uint32(b[atSlots:]), order.Uint32(b[atSlotSize:]), order.Uint32(b[atSlotsAt:])
	names := order.Uint32(b[atNamesAt:])
	switch {
	case columns == 0 || columns > MaxColumns || table > maxTable || slots == 0 || slots > MaxSlots:
		return nil, fmt.Errorf("%w: %d columns, table of %d bytes, %d slots", ErrForeign, columns, table, slots)
	case size < slotHeader+8*columns || size > 2*maxSlotSize || size%8 != 0:
		return nil, fmt.Errorf("%w: slots of %d bytes for %d columns", ErrForeign, size, columns)
	case names < headerSize+table || names > headerSize+2*maxTable || names%8 != 0:
		return nil, fmt.Errorf("%w: names begin at %d", ErrForeign, names)
	case at < names+MaxNames*nameSize || at > headerSize+4*maxTable || at%8 != 0:
		return nil, fmt.Errorf("%w: slots begin at %d", ErrForeign, at)
	}
	r.slots, r.slotSize, r.slotsAt, r.namesAt = uint64(slots), int(size), int64(at), int64(names)
	r.Header = decodeHeader(b)
	text := make([]byte, table)
	if _, err := src.ReadAt(text, headerSize); err != nil && table > 0 {
		return nil, fmt.Errorf("%w: table of columns: %w", ErrForeign, err)
	}
	var err error
	if r.Columns, err = decodeTable(text, int(columns)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	r.buf = make([]byte, slotHeader+8*len(r.Columns))
	return r, nil
}

// Next reads the next sample into s, reusing s.Values. It returns false when
// there is none yet. Samples overwritten before they were read are skipped and
// counted by Lost.
func (r *Reader) Next(s *Sample) (bool, error) {
	// Bounded, because a hostile file may claim ever more samples.
	for tries := uint64(0); tries <= r.slots; tries++ {
		written, err := r.word(atWritten)
		if err != nil {
			return false, fmt.Errorf("read ring: %w", err)
		}
		if written <= r.next {
			return false, nil
		}
		if held := r.slots - spare(r.slots); written-r.next > held {
			r.lost += written - held - r.next
			r.next = written - held
		}
		ok, err := r.read(r.next, s)
		if err != nil {
			return false, fmt.Errorf("read ring: %w", err)
		}
		r.next++
		if ok {
			return true, nil
		}
		r.torn++ // overwritten while we read, or damaged
	}
	return false, nil
}

// Name returns the i-th name, "" while it is not set.
func (r *Reader) Name(i int) (string, error) {
	if i < 0 || i >= MaxNames {
		return "", fmt.Errorf("read ring: no name %d", i)
	}
	at := r.namesAt + int64(i)*nameSize
	size, err := r.word(at)
	if err != nil {
		return "", fmt.Errorf("read ring: name: %w", err)
	}
	if size == 0 || size > MaxNameText {
		return "", nil
	}
	b := make([]byte, size)
	if _, err := r.src.ReadAt(b, at+8); err != nil {
		return "", fmt.Errorf("read ring: name: %w", err)
	}
	return text(b), nil
}

// Lost returns how many samples were written and never seen.
func (r *Reader) Lost() uint64 { return r.lost + r.torn }

// Ended reports whether the writer closed the ring.
func (r *Reader) Ended() bool {
	end, err := r.word(atEnd)
	return err == nil && end != 0
}

// Same reports whether path still names the file that r reads. A target
// that restarts puts a new ring in its place.
func (r *Reader) Same(path string) bool {
	if r.file == nil {
		return true
	}
	mine, err := r.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err != nil || os.SameFile(mine, there)
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// read copies the slot of sample index; false means that it does not hold it
// whole.
func (r *Reader) read(index uint64, s *Sample) (bool, error) {
	at := r.slotsAt + int64(index%r.slots)*int64(r.slotSize)
	if _, err := r.src.ReadAt(r.buf, at); err != nil {
		return false, err
	}
	order := binary.NativeEndian
	again, err := r.word(at)
	if err != nil {
		return false, err
	}
	if seq := order.Uint64(r.buf); seq != 2*index+2 || again != seq {
		return false, nil
	}
	sum := checksum(checksumStart, index)
	for i := 16; i < len(r.buf); i += 8 {
		sum = checksum(sum, order.Uint64(r.buf[i:]))
	}
	if sum != order.Uint64(r.buf[8:]) {
		return false, nil
	}
	s.Index = index
	s.Since = int64(order.Uint64(r.buf[16:]))
	s.Before = int64(order.Uint64(r.buf[24:]))
	s.After = int64(order.Uint64(r.buf[32:]))
	s.Values = s.Values[:0]
	for i := range r.Columns {
		s.Values = append(s.Values, math.Float64frombits(order.Uint64(r.buf[slotHeader+8*i:])))
	}
	// A sample without a valid bracket cannot be dated.
	return s.Before > 0 && s.After >= s.Before && s.Since <= s.Before, nil
}

func (r *Reader) word(at int64) (uint64, error) {
	var b [8]byte
	if _, err := r.src.ReadAt(b[:], at); err != nil {
		return 0, err
	}
	return binary.NativeEndian.Uint64(b[:]), nil
}

func decodeHeader(b []byte) Header {
	order := binary.NativeEndian
	return Header{
		PID:            int(order.Uint64(b[atPID:])),
		EpochMonotonic: int64(order.Uint64(b[atEpoch:])),
		Window:         time.Duration(order.Uint64(b[atWindow:])),
		StartMonotonic: int64(order.Uint64(b[atStart:])),
		ClockError:     time.Duration(order.Uint64(b[atClockErr:])),
		GOMAXPROCS:     int(order.Uint32(b[atProcs:])),
		NumCPU:         int(order.Uint32(b[atCPUs:])),
		GoVersion:      text(b[atGoVersion : atGoVersion+lenVersion]),
		Note:           text(b[atNote : atNote+lenNote]),
	}
}

func decodeTable(b []byte, columns int) ([]Column, error) {
	list := make([]Column, 0, columns)
	for len(list) < columns {
		if len(b) < 5 {
			return nil, errors.New("table of columns ends early")
		}
		c := Column{Kind: Kind(b[0]), Unit: Unit(b[1]), Named: int(b[2])}
		name, labels := int(b[3]), int(b[4])
		b = b[5:]
		if c.Named > MaxNames {
			return nil, errors.New("table of columns names what has no name")
		}
		if len(b) < name+labels || name == 0 {
			return nil, errors.New("table of columns ends early")
		}
		c.Name, c.Labels = string(b[:name]), string(b[name:name+labels])
		b = b[name+labels:]
		if !printable(c.Name) || !printable(c.Labels) {
			return nil, errors.New("table of columns holds what is no name")
		}
		list = append(list, c)
	}
	return list, nil
}

// text returns a zero-padded text, with what a terminal should not see removed.
func text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
}

func printable(s string) bool {
	for _, r := range s {
		if r <= ' ' || r == 0x7f || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// spare is the number of slots that must not be relied on: the oldest, which is
// the one that the writer overwrites next. A ring of one slot has none to spare.
func spare(slots uint64) uint64 {
	if slots > 1 {
		return 1
	}
	return 0
}
