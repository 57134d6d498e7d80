package http2

import (
	"strconv"

	// RFC 7541 with its tables; kept by the Go team.
	"golang.org/x/net/http2/hpack"

	"github.com/redline-go/redline/scenario/feeder"
)

// static is the table of RFC 7541, appendix A, from index 1 on. The library
// does not export it, so it is decoded.
var static = func() (table [62]hpack.HeaderField) {
	d := hpack.NewDecoder(0, nil)
	for i := 1; i < len(table); i++ {
		fields, err := d.DecodeFull([]byte{0x80 | byte(i)})
		if err != nil || len(fields) != 1 {
			panic("http2: hpack does not know static field " + strconv.Itoa(i))
		}
		table[i] = fields[0]
	}
	return table
}()

// staticIndex returns the index of a name in the static table, 0 for none, and
// whether the value is the entry's as well.
func staticIndex(name, value string) (index int, whole bool) {
	// Backwards, so that of entries with the same name the first is chosen, as by other
	// encoders.
	for i := len(static) - 1; i > 0; i-- {
		if static[i].Name != name {
			continue
		}
		if index = i; static[i].Value == value {
			return i, true
		}
	}
	return index, false
}

// AppendField appends a field to a header block. The block is valid on every stream and
// connection, because it uses no dynamic table. The name must be in lower case. A secret
// field is marked as never indexed (RFC 7541, section 7.1.3).
func AppendField(block []byte, name, value string, secret bool) []byte {
	if index, whole := staticIndex(name, value); whole && !secret {
		return append(block, 0x80|byte(index))
	}
	return AppendValue(AppendName(block, name, secret), value)
}

// AppendName appends the part of a field before its value, for values that differ between
// requests. AppendValue must follow.
func AppendName(block []byte, name string, secret bool) []byte {
	form := byte(0) // literal without indexing; RFC 7541, section 6.2.2
	if secret {
		form = 0x10 // never indexed; section 6.2.3
	}
	index, _ := staticIndex(name, "")
	block = appendNumber(block, form, 4, index)
	if index == 0 {
		block = AppendValue(block, name)
	}
	return block
}

// AppendValue appends the value of a field whose name was appended. It is not
// Huffman-coded: on the networks that carry generated load, the CPU costs both sides more
// than the saved bytes are worth.
func AppendValue[T string | []byte](block []byte, value T) []byte {
	block = appendNumber(block, 0, 7, len(value))
	return append(block, value...)
}

// appendNumber appends an integer with a prefix of the given number of bits, below the bits
// of form; RFC 7541, section 5.1.
func appendNumber(block []byte, form byte, prefix, n int) []byte {
	most := 1<<prefix - 1
	if n < most {
		return append(block, form|byte(n))
	}
	block = append(block, form|byte(most))
	for n -= most; n >= 0x80; n >>= 7 {
		block = append(block, byte(n)|0x80)
	}
	return append(block, byte(n))
}

// Block is a header block that data may go into.
type Block struct{ parts []part }

// part is a field of a block, or several that are fixed.
type part struct {
	fixed []byte
	value *feeder.Renderer // follows the fixed part, which ends with its name; nil for none
}

// Add appends a field. value renders its text; nil when it is text itself.
func (b *Block) Add(name, text string, value *feeder.Renderer, secret bool) {
	if value != nil && value.Static() {
		text, value = string(value.Append(nil, nil)), nil
	}
	// Fixed fields are encoded here and joined, so that a block without data is one piece,
	// copied in one go.
	if n := len(b.parts); n == 0 || b.parts[n-1].value != nil {
		b.parts = append(b.parts, part{})
	}
	last := &b.parts[len(b.parts)-1]
	// Secret values are marked never to be indexed by proxies (RFC 7541, section 6.2.3).
	if last.value = value; value == nil {
		last.fixed = AppendField(last.fixed, name, text, secret)
	} else {
		last.fixed = AppendName(last.fixed, name, secret)
	}
}

// Fixed returns the whole block when no data goes into it, else nil.
func (b *Block) Fixed() []byte {
	if len(b.parts) == 1 && b.parts[0].value == nil {
		return b.parts[0].fixed
	}
	return nil
}

// Append appends the block with the data of at to out. room is for a value, and returned for the
// next time.
func (b *Block) Append(out, room []byte, at *feeder.Cursor) (extended, used []byte) {
	for i := range b.parts {
		p := &b.parts[i]
		out = append(out, p.fixed...)
		if p.value != nil {
			room = p.value.Append(room[:0], at)
			out = AppendValue(out, room)
		}
	}
	return out, room
}
