package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"unsafe"
)

// defaultSlots is how many samples a ring holds by default: 25 s of windows of
// 100 ms, so that an agent that was stopped for a while loses nothing.
const defaultSlots = 256

// Writer puts samples into a ring. It has one user at a time.
type Writer struct {
	mem      []byte
	columns  int
	slots    uint64
	slotSize int
	slotsAt  int
	namesAt  int
	next     uint64
}

// Create makes the ring at path and maps it. slots 0 means defaultSlots.
//
// The file appears under its name complete, and replaces an existing one: a
// service that restarts within a run makes a new ring, and a reader of the old
// one can finish.
func Create(path string, h Header, columns []Column, slots int) (*Writer, error) {
	if slots == 0 {
		slots = defaultSlots
	}
	if slots < 1 || slots > MaxSlots || len(columns) == 0 || len(columns) > MaxColumns {
		return nil, fmt.Errorf("create ring: %d slots of %d columns", slots, len(columns))
	}
	table, err := encodeTable(columns)
	if err != nil {
		return nil, fmt.Errorf("create ring: %w", err)
	}
	w := &Writer{
		columns:  len(columns),
		slots:    uint64(slots),
		slotSize: slotHeader + 8*len(columns),
		namesAt:  headerSize + (len(table)+7)&^7,
	}
	w.slotsAt = w.namesAt + MaxNames*nameSize
	image := make([]byte, w.slotsAt+slots*w.slotSize)
	w.encodeHeader(image, h, len(table))
	copy(image[headerSize:], table)
	if w.mem, err = install(path, image); err != nil {
		return nil, fmt.Errorf("create ring: %w", err)
	}
	return w, nil
}

// errGone means a mapping whose file was truncated by another process.
var errGone = errors.New("write ring: its memory is gone")

// Write stores one sample: values has one entry per column. It allocates
// nothing and never waits.
func (w *Writer) Write(since, before, after int64, values []float64) (err error) {
	defer guard(debug.SetPanicOnFault(true), &err)
	if len(values) != w.columns {
		return errors.New("write sample: wrong number of values")
	}
	if w.mem == nil {
		return errors.New("write sample: ring is closed")
	}
	at := w.slotsAt + int(w.next%w.slots)*w.slotSize
	// Subtle: all stores are atomic, because on machines with weak ordering a plain
	// one may overtake the odd sequence word that must precede it.
	w.store(at, 2*w.next+1)
	sum := checksum(checksumStart, w.next)
	put := func(offset int, word uint64) {
		sum = checksum(sum, word)
		w.store(at+offset, word)
	}
	put(16, uint64(since))
	put(24, uint64(before))
	put(32, uint64(after))
	for i, v := range values {
		put(slotHeader+8*i, math.Float64bits(v))
	}
	w.store(at+8, sum)
	w.store(at, 2*w.next+2)
	w.next++
	w.store(atWritten, w.next)
	return nil
}

// Name sets the i-th name, cut to MaxNameText bytes. A name is set once: a
// second call for the same i does nothing. It allocates nothing.
func (w *Writer) Name(i int, name string) (err error) {
	defer guard(debug.SetPanicOnFault(true), &err)
	if i < 0 || i >= MaxNames || name == "" {
		return errors.New("name a column: no such name")
	}
	if w.mem == nil {
		return errors.New("name a column: ring is closed")
	}
	at := w.namesAt + i*nameSize
	if atomic.LoadUint64((*uint64)(unsafe.Pointer(&w.mem[at]))) != 0 {
		return nil
	}
	if len(name) > MaxNameText {
		name = name[:MaxNameText]
	}
	var word [8]byte
	for from := 0; from < len(name); from += len(word) {
		word = [8]byte{}
		copy(word[:], name[from:])
		w.store(at+8+from, binary.NativeEndian.Uint64(word[:]))
	}
	// The length comes last: it says that the text is there.
	w.store(at, uint64(len(name)))
	return nil
}

// Close marks the ring as ended and unmaps it. The file stays: it is in the
// directory that redline made, and its last samples are still to be read.
func (w *Writer) Close() (err error) {
	defer guard(debug.SetPanicOnFault(true), &err)
	if w.mem == nil {
		return nil
	}
	mem := w.mem
	w.mem = nil
	defer func() {
		if e := unmap(mem); err == nil {
			err = e
		}
	}()
	store(mem, atEnd, 1)
	return nil
}

// guard turns the fault of a store into an error. A store into a mapping whose
// file was truncated raises SIGBUS, for which the runtime ends the process unless
// the goroutine asked for a panic: the target must not die because of what happens
// to redline's file. (The race detector stores from code where even that ends it.)
func guard(before bool, err *error) {
	debug.SetPanicOnFault(before)
	if recover() != nil {
		*err = errGone
	}
}

func (w *Writer) store(offset int, word uint64) { store(w.mem, offset, word) }

func store(mem []byte, offset int, word uint64) {
	// Offsets are multiples of 8 within a page-aligned mapping.
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&mem[offset])), word)
}

func (w *Writer) encodeHeader(b []byte, h Header, table int) {
	order := binary.NativeEndian
	order.PutUint64(b[atMagic:], magic)
	order.PutUint32(b[atVersion:], Version)
	order.PutUint32(b[atTableSize:], uint32(table))
	order.PutUint32(b[atColumns:], uint32(w.columns))
	order.PutUint32(b[atSlotSize:], uint32(w.slotSize))
	order.PutUint32(b[atSlots:], uint32(w.slots))
	order.PutUint32(b[atSlotsAt:], uint32(w.slotsAt))
	order.PutUint64(b[atPID:], uint64(h.PID))
	order.PutUint64(b[atEpoch:], uint64(h.EpochMonotonic))
	order.PutUint64(b[atWindow:], uint64(h.Window))
	order.PutUint64(b[atStart:], uint64(h.StartMonotonic))
	order.PutUint64(b[atClockErr:], uint64(h.ClockError))
	order.PutUint32(b[atProcs:], uint32(h.GOMAXPROCS))
	order.PutUint32(b[atCPUs:], uint32(h.NumCPU))
	copy(b[atGoVersion:atGoVersion+lenVersion], h.GoVersion)
	copy(b[atNote:atNote+lenNote], h.Note)
	order.PutUint32(b[atNamesAt:], uint32(w.namesAt))
}

// encodeTable lays columns out as kind, unit, named, length of name, length of
// labels (a byte each), name, labels.
func encodeTable(columns []Column) ([]byte, error) {
	var table []byte
	for _, c := range columns {
		if c.Name == "" || len(c.Name) > maxName || len(c.Labels) > maxName {
			return nil, fmt.Errorf("column %q: name or labels too long or empty", c.Name)
		}
		if c.Named < 0 || c.Named > MaxNames {
			return nil, fmt.Errorf("column %q: name %d of %d", c.Name, c.Named, MaxNames)
		}
		table = append(table, byte(c.Kind), byte(c.Unit), byte(c.Named), byte(len(c.Name)), byte(len(c.Labels)))
		table = append(table, c.Name...)
		table = append(table, c.Labels...)
	}
	if len(table) > maxTable {
		return nil, fmt.Errorf("table of columns takes %d bytes, above %d", len(table), maxTable)
	}
	return table, nil
}

// install writes image to a new file, maps it and moves it to path.
func install(path string, image []byte) (mem []byte, err error) {
	temp := path + "." + strconv.Itoa(os.Getpid())
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			_ = os.Remove(temp)
		}
	}()
	// Written, not merely truncated to size: the pages then exist, and a full
	// memory file system is an error here instead of a SIGBUS at a later store.
	if _, err := f.Write(image); err != nil {
		return nil, err
	}
	if mem, err = mapFile(f, len(image)); err != nil {
		return nil, err
	}
	if err := os.Rename(temp, path); err != nil {
		_ = unmap(mem)
		return nil, err
	}
	return mem, nil
}
