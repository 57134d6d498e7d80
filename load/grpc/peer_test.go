package grpc

import (
	"bytes"
	"encoding/binary"

	"github.com/redline-go/redline/load/http2"
)

// Frames, as far as the peer needs them; RFC 9113, section 6.
const (
	preface      = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHead    = 9
	data         = 0
	headers      = 1
	reset        = 3
	settings     = 4
	window       = 8
	endStream    = 1
	endHeaders   = 4
	windowOption = 4 // SETTINGS_INITIAL_WINDOW_SIZE
)

// peer is the other end of a connection, which answers complete calls by a
// script. It is a target of loadtest's.
type peer struct {
	first  []byte // what it begins with
	answer func(id uint32, body []byte) (out []byte, shut bool)

	in      []byte
	greeted bool
	bodies  map[uint32][]byte
}

func (p *peer) take(sent []byte) (out []byte, shut bool) {
	p.in = append(p.in, sent...)
	if !p.greeted {
		if len(p.in) < len(preface) {
			return nil, false
		}
		p.greeted, p.in = true, p.in[len(preface):]
		p.bodies = map[uint32][]byte{}
		out = bytes.Clone(p.first)
	}
	for len(p.in) >= frameHead && !shut {
		length := int(p.in[0])<<16 | int(p.in[1])<<8 | int(p.in[2])
		kind, flags, id := p.in[3], p.in[4], binary.BigEndian.Uint32(p.in[5:])
		if len(p.in) < frameHead+length {
			break
		}
		payload := p.in[frameHead : frameHead+length]
		if kind == data {
			p.bodies[id] = append(p.bodies[id], payload...)
			if length > 0 {
				grown := binary.BigEndian.AppendUint32(nil, uint32(length))
				out = append(out, frame(window, 0, 0, grown)...)
				if flags&endStream == 0 {
					out = append(out, frame(window, 0, id, grown)...)
				}
			}
		}
		if (kind == headers || kind == data) && flags&endStream != 0 {
			var more []byte
			more, shut = p.answer(id, p.bodies[id])
			out = append(out, more...)
			delete(p.bodies, id)
		}
		p.in = p.in[frameHead+length:]
	}
	return out, shut
}

func frame(kind, flags byte, id uint32, payload []byte) []byte {
	n := len(payload)
	out := []byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}
	return append(binary.BigEndian.AppendUint32(out, id), payload...)
}

// head makes a HEADERS frame of pairs of name and value.
func head(flags byte, id uint32, pairs ...string) []byte {
	var block []byte
	for i := 0; i < len(pairs); i += 2 {
		block = http2.AppendField(block, pairs[i], pairs[i+1], false)
	}
	return frame(headers, flags|endHeaders, id, block)
}

// begins is the head of an answer.
func begins(id uint32) []byte {
	return head(0, id, ":status", "200", "content-type", "application/grpc", "x-key", "value")
}

// says is a DATA frame with messages.
func says(id uint32, messages ...string) []byte {
	var body []byte
	for _, m := range messages {
		body = append(body, 0)
		body = binary.BigEndian.AppendUint32(body, uint32(len(m)))
		body = append(body, m...)
	}
	return frame(data, 0, id, body)
}

// ends are the trailers of an answer.
func ends(id uint32, pairs ...string) []byte { return head(endStream, id, pairs...) }

func joined(all ...[]byte) []byte { return bytes.Join(all, nil) }
