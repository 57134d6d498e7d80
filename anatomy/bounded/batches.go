package bounded

import "strings"

// maxBatches bounds the batches of a trace. The runtime's hold up to 64 KiB each; a
// reader takes some 2 KiB of memory for the smallest, so a hostile trace of only empty
// ones would take hundreds of times its size.
const maxBatches = 1 << 16

// batches counts the batches of a trace since Go 1.22 as its bytes go by. A batch
// is a type byte, four varints (generation, thread, time, size), and size bytes;
// one of the experimental type has a byte more before the varints.
type batches struct {
	n       int
	at      int64 // bytes seen of the header
	header  [headerSize]byte
	left    uint64 // bytes of the batch's body to skip
	varints int    // of the batch's head, to come
	shift   uint
	size    uint64
	first   bool   // the next byte is the first of the batch's body
	gen     uint64 // generation of the batch
	tables  tables
	full    bool // the tables of a generation are over their bounds
	skip    bool // the next byte is the experiment's
	foreign bool // of an unknown kind: its parser will report that
}

const (
	headerSize        = 16
	batchType         = 1
	experimentalType  = 49
	endGenerationType = 52
	headVarints       = 4
)

// see takes the next bytes, and returns how many of them lie within the bound.
func (b *batches) see(p []byte) int {
	for i := 0; i < len(p); {
		switch {
		case b.foreign:
			return len(p)
		case b.at < headerSize:
			b.header[b.at] = p[i]
			b.at++
			i++
			if b.at == headerSize {
				b.foreign = !batched(string(b.header[:]))
			}
		case b.left > 0 && b.first:
			b.first = false
			if b.full = b.full || !b.tables.begin(b.gen, p[i], b.left); b.full {
				return i
			}
		case b.left > 0:
			n := min(b.left, uint64(len(p)-i))
			b.left -= n
			i += int(n)
		case b.skip:
			b.skip = false
			i++
		case b.varints > 0:
			b.varint(p[i])
			i++
		case p[i] == endGenerationType:
			i++
		case p[i] != batchType && p[i] != experimentalType:
			b.foreign = true
		case b.n == maxBatches:
			return i
		default:
			b.n++
			b.varints, b.skip, b.shift, b.size = headVarints, p[i] == experimentalType, 0, 0
			i++
		}
	}
	return len(p)
}

// varint takes a byte of a batch's head, of which the last number is the size.
func (b *batches) varint(c byte) {
	b.size |= uint64(c&0x7f) << b.shift
	b.shift += 7
	if c&0x80 != 0 {
		return
	}
	if b.varints == headVarints {
		b.gen = b.size
	}
	if b.varints--; b.varints == 0 {
		b.left, b.first = b.size, true
	}
	b.shift, b.size = 0, 0
}

// batched reports whether a trace with this header consists of batches, as they
// do since Go 1.22.
func batched(header string) bool {
	return strings.HasPrefix(header, "go 1.") && header[5:7] >= "22"
}
