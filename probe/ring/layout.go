// Package ring is the shared memory between the probe in a target and redline:
// its layout, its writer and its reader.
//
// The file begins with a header that names its own layout and with a table of
// columns (name, labels, unit, kind), so that a probe and an agent of different
// versions understand each other: the reader takes whatever columns the table
// names and knows none in advance. Names that come while the program runs (of its
// connection pools) have an area of their own, because the table is fixed.
// Slots follow, one per sample, reused in turn. Each has a sequence word (a
// sequence lock) and a checksum.
//
//	0    header, HeaderSize bytes
//	...  table of columns, TableSize bytes
//	...  names: MaxNames x 64 bytes, at NamesAt: length, then text, set once
//	...  slots: Slots x SlotSize bytes, at SlotsAt
//
// Integers have the byte order of the host: both ends are on one machine, and
// a magic number in another order is refused.
//
// The writer stores through a mapping and never waits. The reader uses pread on
// the same file instead of a mapping of its own: both see the same page cache,
// and a target that truncates or loses the file then causes an error, whereas a
// mapped page that vanished would kill redline with SIGBUS. pread promises no
// memory ordering, hence the checksum next to the sequence word.
//
// The file must be on a memory file system (TempDir): on a disk the
// kernel writes dirty pages back, and a store into a page under writeback can
// block the target.
//
// Rejected: a socket that the probe writes to (it blocks, or drops, when the
// agent does not read), and a fixed struct of known metrics (each Go release
// adds some).
package ring

import "time"

// Version is the layout described here.
const Version = 2

// magic is "RLprobe" with a high bit that text does not have.
const magic uint64 = 0xd2_4c_70_72_6f_62_65_01

// Bounds that a reader accepts and a writer keeps.
const (
	MaxColumns  = 512
	maxTable    = 64 << 10
	MaxSlots    = 4096
	MaxNames    = 16
	MaxNameText = nameSize - 8 // bytes of one of the names
	maxName     = 255          // bytes of a name or of a label text
	headerSize  = 320
	nameSize    = 64
	slotHeader  = 40 // sequence, checksum, since, before, after
	maxSlotSize = slotHeader + 8*MaxColumns
)

// Offsets in the header, in bytes.
const (
	atMagic     = 0   // u64
	atVersion   = 8   // u32
	atTableSize = 12  // u32
	atColumns   = 16  // u32
	atSlotSize  = 20  // u32
	atSlots     = 24  // u32
	atSlotsAt   = 28  // u32
	atPID       = 32  // u64
	atEpoch     = 40  // i64
	atWindow    = 48  // i64, ns
	atStart     = 56  // i64, CLOCK_MONOTONIC ns
	atClockErr  = 64  // i64, ns
	atProcs     = 72  // u32
	atCPUs      = 76  // u32
	atWritten   = 80  // u64, samples written so far; atomic
	atEnd       = 88  // u64, 1 once the writer was closed; atomic
	atGoVersion = 96  // text, zero padded
	lenVersion  = 32  //
	atNote      = 128 // text, zero padded
	lenNote     = 128
	atNamesAt   = 256 // u32
)

// Kind says how to read a column's values.
type Kind uint8

// Kinds of columns.
const (
	// Cumulative counts from a fixed start: its differences matter.
	Cumulative Kind = 1
	// Gauge is a state at the instant of the sample, or a figure about what
	// happened since the sample before. NaN means that there is none.
	Gauge Kind = 2
)

// Unit is a column's unit after the probe's conversion.
type Unit uint8

// Units of columns.
const (
	One         Unit = 1 // counts and ratios
	Nanoseconds Unit = 2
	Bytes       Unit = 3
)

// Column describes one of a sample's values.
type Column struct {
	Name   string // of runtime/metrics verbatim, or redline's own; at most 255 bytes
	Labels string // canonical text as in "q=p99"; empty for none
	// Named, if above zero, says that the values belong to the object whose name
	// is Reader.Name(Named-1), once that is set. Labels is then the label's key
	// alone.
	Named int
	Kind  Kind
	Unit  Unit
}

// Header describes the process that writes a ring.
type Header struct {
	PID            int
	EpochMonotonic int64         // the run's epoch, CLOCK_MONOTONIC ns
	Window         time.Duration // between samples
	StartMonotonic int64         // when the probe started
	// ClockError bounds the error of the probe's reading of CLOCK_MONOTONIC.
	ClockError time.Duration
	GOMAXPROCS int // at the start
	NumCPU     int
	GoVersion  string
	// Note names what the probe could not do ("control socket: ..."); empty
	// when all is well.
	Note string
}

// Sample is one reading of all columns. Instants are CLOCK_MONOTONIC ns.
type Sample struct {
	Index uint64 // 0 for the first
	// Since is when the previous sample was taken (its middle); it is
	// the probe's start for the first. Gauges of events describe the time since
	// then.
	Since int64
	// Before and After bracket the reading.
	Before, After int64
	Values        []float64 // one per column
}

// Middle is the instant to which a sample is dated.
func (s *Sample) Middle() int64 { return s.Before + (s.After-s.Before)/2 }

// checksum is FNV-1a by words: enough to distinguish a torn copy from a whole one.
func checksum(sum, word uint64) uint64 { return (sum ^ word) * 1099511628211 }

const checksumStart uint64 = 14695981039346656037
