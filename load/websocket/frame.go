package websocket

import (
	bin "encoding/binary"
	"errors"
	"math"
)

// opcode is a frame's kind (RFC 6455, section 5.2).
type opcode byte

const (
	continuation opcode = 0x0
	text         opcode = 0x1
	binary       opcode = 0x2
	closing      opcode = 0x8
	ping         opcode = 0x9
	pong         opcode = 0xa
)

func (o opcode) control() bool { return o >= closing }

// Bounds of a frame's parts, in bytes.
const (
	mostHead    = 10 // of a frame that is not masked
	mostControl = 125
	keyLength   = 4
)

// Bits of a head's first two bytes.
const (
	finBit      = 0x80
	reserved    = 0x70
	opcodeBits  = 0x0f
	maskBit     = 0x80
	lengthBits  = 0x7f
	lengthIn16  = 126 // the length follows in two bytes
	lengthIn64  = 127 // in eight
	highestSize = math.MaxInt64
)

// head gathers the head of one frame of the target. The zero head is ready.
type head struct {
	bytes [mostHead]byte
	have  uint8
}

// feed takes bytes until the head is complete and returns how many it took.
// A frame that no server may send is an error.
// It checks each byte as it comes: a head has at most ten, and a wrong first byte is
// refused even if the second never comes.
func (h *head) feed(in []byte) (n int, complete bool, err error) {
	for n < len(in) {
		h.bytes[h.have] = in[n]
		h.have++
		n++
		if err := h.check(); err != nil {
			return n, false, err
		}
		if int(h.have) == h.length() {
			return n, true, h.checkSize()
		}
	}
	return n, false, nil
}

// length is the head's length, as far as the bytes so far determine it.
// Until the second byte arrives it is the longest possible one, so that feed continues.
func (h *head) length() int {
	switch {
	case h.have < 2:
		return mostHead
	case h.bytes[1]&lengthBits == lengthIn16:
		return 4
	case h.bytes[1]&lengthBits == lengthIn64:
		return 10
	}
	return 2
}

// opcode is valid from the first byte on.
func (h *head) opcode() opcode { return opcode(h.bytes[0] & opcodeBits) }

// fin reports whether the frame is its message's last.
func (h *head) fin() bool { return h.bytes[0]&finBit != 0 }

// size is how many bytes of payload follow a complete head.
func (h *head) size() uint64 {
	switch h.length() {
	case 4:
		return uint64(bin.BigEndian.Uint16(h.bytes[2:]))
	case 10:
		return bin.BigEndian.Uint64(h.bytes[2:])
	}
	return uint64(h.bytes[1] & lengthBits)
}

// check checks the byte that was added last.
func (h *head) check() error {
	switch h.have {
	case 1:
		o := h.opcode()
		switch {
		case h.bytes[0]&reserved != 0:
			return errors.New("a reserved bit is set without a negotiated extension")
		case o > binary && o < closing || o > pong:
			return errors.New("unknown opcode")
		case o.control() && !h.fin():
			return errors.New("a control frame is fragmented")
		}
	case 2:
		switch {
		case h.bytes[1]&maskBit != 0:
			return errors.New("a frame of the server is masked")
		case h.opcode().control() && h.bytes[1] > mostControl:
			return errors.New("a control frame is longer than 125 bytes")
		}
	}
	return nil
}

// checkSize checks a complete head: a length must take as few bytes as possible.
func (h *head) checkSize() error {
	size := h.size()
	switch length := h.length(); {
	case length == 4 && size < lengthIn16, length == 10 && size <= math.MaxUint16:
		return errors.New("a frame's length takes more bytes than it needs")
	case size > highestSize:
		return errors.New("a frame's length has its highest bit set")
	}
	return nil
}

// appendFrame appends a whole message, or a control frame, masked by key.
func appendFrame(out []byte, o opcode, payload []byte, key uint32) []byte {
	out = appendHead(out, o, len(payload), key)
	begin := len(out)
	out = append(out, payload...)
	mask(out[begin:], key)
	return out
}

// appendHead appends the head of a frame that is masked by key.
func appendHead(out []byte, o opcode, size int, key uint32) []byte {
	out = append(out, finBit|byte(o))
	switch {
	case size < lengthIn16:
		out = append(out, maskBit|byte(size))
	case size <= math.MaxUint16:
		out = bin.BigEndian.AppendUint16(append(out, maskBit|lengthIn16), uint16(size))
	default:
		out = bin.BigEndian.AppendUint64(append(out, maskBit|lengthIn64), uint64(size))
	}
	return bin.LittleEndian.AppendUint32(out, key)
}

// headSize is how many bytes appendHead takes.
func headSize(size int) int {
	switch {
	case size < lengthIn16:
		return 2 + keyLength
	case size <= math.MaxUint16:
		return 4 + keyLength
	}
	return 10 + keyLength
}

// mask masks a payload in place (RFC 6455, section 5.3), eight bytes at a time.
func mask(b []byte, key uint32) {
	// Byte i goes with byte i mod 4 of the key. Eight bytes are two keys, so the key is in
	// phase again at the bytes that are left.
	wide := uint64(key)<<32 | uint64(key)
	for len(b) >= 8 {
		bin.LittleEndian.PutUint64(b, bin.LittleEndian.Uint64(b)^wide)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= byte(key >> (8 * (i % keyLength)))
	}
}
