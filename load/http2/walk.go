package http2

import "golang.org/x/net/http2/hpack"

// walk takes the fields of a self-contained block: one that neither refers to the
// peer's table nor adds to it. stateless says that nothing can be added. False means
// that the block is not self-contained, or not valid, which hpack's Decoder then
// decides.
//
// That decoder would do for all blocks, but it makes a string of every field, and
// remembering heads does not help against targets that give each answer a new id.
func (r *headReader) walk(block []byte, stateless bool) bool {
	for len(block) > 0 && r.size <= maxHead {
		b := block[0]
		// An indexed field: name and value from a table (RFC 7541, section 6.1).
		if b&0x80 != 0 {
			index, rest, ok := readNumber(block, 7)
			if !ok || index == 0 || index >= len(static) {
				return false
			}
			block = rest
			r.field(staticNames[index], staticValues[index])
			continue
		}
		prefix := 4
		// A literal that goes into the table (6.2.1), one that does not (6.2.2 and 6.2.3), or a
		// new size of the table (6.3).
		if b&0x40 != 0 {
			if prefix = 6; !stateless {
				return false
			}
		} else if b&0x20 != 0 {
			return false // a table's size
		}
		index, rest, ok := readNumber(block, prefix)
		if !ok || index >= len(static) {
			return false
		}
		name := staticNames[index]
		if index == 0 {
			if name, rest, ok = r.name.read(rest, true); !ok {
				return false
			}
		}
		value, rest, ok := r.value.read(rest, r.looksAt(name))
		if !ok {
			return false
		}
		block = rest
		r.field(name, value)
	}
	return true
}

// eachField splits a block made by AppendField and its like. raw is the field in its
// encoded form.
func eachField(block []byte, f func(name, value, raw []byte)) {
	for len(block) > 0 {
		whole, prefix := block[0]&0x80 != 0, 4
		if whole {
			prefix = 7
		}
		index, rest, ok := readNumber(block, prefix)
		if !ok || index >= len(static) {
			return
		}
		name, value := staticNames[index], staticValues[index]
		var none scratch // nothing is Huffman-coded
		if index == 0 {
			name, rest, ok = none.read(rest, false)
		}
		if ok && !whole {
			value, rest, ok = none.read(rest, false)
		}
		if !ok {
			return
		}
		f(name, value, block[:len(block)-len(rest)])
		block = rest
	}
}

// staticNames and staticValues are static as bytes.
var staticNames, staticValues = func() (names, values [len(static)][]byte) {
	for i, f := range static {
		names[i], values[i] = []byte(f.Name), []byte(f.Value)
	}
	return names, values
}()

// longestNumber bounds the bytes of an integer; more would not fit into a block.
const longestNumber = 4

// readNumber reads an integer with a prefix of the given number of bits; RFC 7541, section 5.1.
func readNumber(b []byte, prefix int) (n int, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	most := 1<<prefix - 1
	if n = int(b[0]) & most; n < most {
		return n, b[1:], true
	}
	for i := 1; i < len(b) && i <= longestNumber; i++ {
		n += int(b[i]&0x7f) << (7 * (i - 1))
		if b[i] < 0x80 {
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}

// scratch is room for a string that is Huffman-coded.
type scratch []byte

func (s *scratch) Write(p []byte) (int, error) {
	*s = append(*s, p...)
	return len(p), nil
}

// read reads a string; RFC 7541, section 5.2. Without decode, one that is
// Huffman-coded is returned as it stands.
func (s *scratch) read(b []byte, decode bool) (text, rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, nil, false
	}
	coded := b[0]&0x80 != 0
	n, rest, ok := readNumber(b, 7)
	if !ok || n > len(rest) {
		return nil, nil, false
	}
	text, rest = rest[:n], rest[n:]
	if !coded || !decode {
		return text, rest, true
	}
	*s = (*s)[:0]
	if _, err := hpack.HuffmanDecode(s, text); err != nil {
		return nil, nil, false
	}
	return *s, rest, true
}
