// Package tlv packs elements as tag, length and value. Telegrams are made from
// their end, as the length of an element stands before what it holds.
package tlv

import (
	"encoding/binary"
	"slices"
)

// Packer puts elements before those it has.
type Packer interface {
	Reset()
	Put(tag byte, value []byte)
	Wrap(tag byte)
	Bytes() []byte
}

func header(dst []byte, tag byte, n int) []byte {
	dst = append(dst, tag, 0x84)
	return binary.BigEndian.AppendUint32(dst, uint32(n))
}

// Front is a packer that keeps its telegram at the front of its buffer.
type Front struct {
	buf  []byte
	head [8]byte
}

// NewFront makes a packer with room for n bytes.
func NewFront(n int) *Front { return &Front{buf: make([]byte, 0, n)} }

// Reset forgets all.
func (p *Front) Reset() { p.buf = p.buf[:0] }

// Put implements Packer.
func (p *Front) Put(tag byte, value []byte) {
	p.buf = slices.Insert(p.buf, 0, value...)
	p.buf = slices.Insert(p.buf, 0, header(p.head[:0], tag, len(value))...)
}

// Wrap implements Packer.
func (p *Front) Wrap(tag byte) {
	p.buf = slices.Insert(p.buf, 0, header(p.head[:0], tag, len(p.buf))...)
}

// Bytes returns the telegram.
func (p *Front) Bytes() []byte { return p.buf }

// Back is a packer that fills its buffer from the end.
type Back struct {
	buf  []byte
	from int
	head [8]byte
}

// NewBack makes a packer with room for n bytes.
func NewBack(n int) *Back { return &Back{buf: make([]byte, n), from: n} }

// Reset forgets all.
func (p *Back) Reset() { p.from = len(p.buf) }

func (p *Back) put(b []byte) {
	if len(b) > p.from {
		more := make([]byte, 2*len(p.buf)+len(b))
		from := len(more) - (len(p.buf) - p.from)
		copy(more[from:], p.buf[p.from:])
		p.buf, p.from = more, from
	}
	p.from -= len(b)
	copy(p.buf[p.from:], b)
}

// Put implements Packer.
func (p *Back) Put(tag byte, value []byte) {
	p.put(value)
	p.put(header(p.head[:0], tag, len(value)))
}

// Wrap implements Packer.
func (p *Back) Wrap(tag byte) { p.put(header(p.head[:0], tag, len(p.Bytes()))) }

// Bytes returns the telegram.
func (p *Back) Bytes() []byte { return p.buf[p.from:] }
