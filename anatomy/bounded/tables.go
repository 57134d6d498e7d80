package bounded

// A generation's strings, stacks and CPU samples are in batches of their own, and the
// reader turns each entry, which may take three bytes, into up to a hundred. A
// generation is a second of the target's time; large services fill a tenth of these.
const (
	maxStackBytes  = 16 << 20
	maxStringBytes = 8 << 20
	maxSampleBytes = 8 << 20
)

// maxOldBytes bounds a trace of Go 1.21 and before, which its parser reads as a whole: it
// turns an event of two bytes into some 80.
const maxOldBytes = 8 << 20

// Events that batches of tables begin with.
const (
	stacksEvent  = 2
	stringsEvent = 4
	samplesEvent = 6
)

// tables counts the bytes of a generation's tables.
type tables struct {
	generation uint64
	bytes      [samplesEvent + 1]uint64
}

// begin takes a batch of a generation by its first byte and its size, and reports
// whether it is still within the bounds.
func (t *tables) begin(generation uint64, first byte, size uint64) bool {
	if generation != t.generation {
		*t = tables{generation: generation}
	}
	bound := uint64(0)
	switch first {
	case stacksEvent:
		bound = maxStackBytes
	case stringsEvent:
		bound = maxStringBytes
	case samplesEvent:
		bound = maxSampleBytes
	default:
		return true
	}
	t.bytes[first] += size
	return t.bytes[first] <= bound
}
