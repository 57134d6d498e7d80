package http2

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/net/http2/hpack"
)

// peer is the other end of a connection, which answers requests by a script.
// It is a target of loadtest's.
type peer struct {
	// first are the frames that it begins with.
	first []byte
	// answer returns the bytes sent on a complete request, and whether the
	// connection is then closed.
	answer func(p *peer, id uint32, path string, body []byte) (out []byte, shut bool)

	in      []byte
	greeted bool
	decoder *hpack.Decoder
	path    string
	bodies  map[uint32][]byte
	paths   map[uint32]string
	block   []byte
	resets  []uint32
	said    int // answers so far
	last    Code
}

func (p *peer) take(sent []byte) (out []byte, shut bool) {
	if p.decoder == nil {
		p.decoder = hpack.NewDecoder(4096, func(f hpack.HeaderField) {
			if f.Name == ":path" {
				p.path = f.Value
			}
		})
		p.bodies, p.paths = map[uint32][]byte{}, map[uint32]string{}
	}
	p.in = append(p.in, sent...)
	if !p.greeted {
		if len(p.in) < len(preface) {
			return nil, false
		}
		if !bytes.HasPrefix(p.in, []byte(preface)) {
			panic("no preface")
		}
		p.greeted, p.in, out = true, p.in[len(preface):], p.first
	}
	for len(p.in) >= frameHead && !shut {
		f := parseFrame(p.in)
		if len(p.in) < frameHead+f.length {
			break
		}
		payload := p.in[frameHead : frameHead+f.length]
		p.in = p.in[frameHead+f.length:]
		switch f.kind {
		case frameHeaders, frameContinuation:
			if p.block = append(p.block, payload...); f.has(flagEndHeaders) {
				if _, err := p.decoder.Write(p.block); err != nil || p.decoder.Close() != nil {
					panic("the request's head cannot be decoded")
				}
				p.paths[f.stream], p.block = p.path, nil
			}
		case frameData:
			p.bodies[f.stream] = append(p.bodies[f.stream], payload...)
			if out = out[:len(out):len(out)]; f.length > 0 {
				out = appendWindow(out, 0, uint32(f.length))
			}
			if f.length > 0 && !f.has(flagEndStream) {
				out = appendWindow(out, f.stream, uint32(f.length))
			}
		case frameReset:
			p.resets = append(p.resets, f.stream)
		case frameGoAway:
			p.last = Code(binary.BigEndian.Uint32(payload[4:]))
		}
		if (f.kind == frameHeaders || f.kind == frameData) && f.has(flagEndStream) {
			var more []byte
			more, shut = p.answer(p, f.stream, p.paths[f.stream], p.bodies[f.stream])
			out = append(out[:len(out):len(out)], more...)
			p.said++
		}
	}
	return out, shut
}

// settings makes a SETTINGS frame of pairs of id and value.
func settings(pairs ...uint32) []byte {
	out := appendFrame(nil, len(pairs)/2*6, frameSettings, 0, 0)
	for i := 0; i < len(pairs); i += 2 {
		out = appendSetting(out, uint16(pairs[i]), pairs[i+1])
	}
	return out
}

// fields makes a header block of pairs of name and value.
func fields(pairs ...string) (block []byte) {
	for i := 0; i < len(pairs); i += 2 {
		block = AppendField(block, pairs[i], pairs[i+1], false)
	}
	return block
}

// framed makes a frame.
func framed(kind, flags byte, id uint32, payload ...byte) []byte {
	return append(appendFrame(nil, len(payload), kind, flags, id), payload...)
}

// heading makes a HEADERS frame.
func heading(flags byte, id uint32, pairs ...string) []byte {
	return framed(frameHeaders, flags|flagEndHeaders, id, fields(pairs...)...)
}

func number(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

func joined(all ...[]byte) []byte { return bytes.Join(all, nil) }
