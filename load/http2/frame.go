package http2

import "encoding/binary"

// preface begins a connection; RFC 9113, section 3.4.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Sizes of RFC 9113, sections 4.1, 4.2 and 6.9.
const (
	frameHead     = 9
	firstMaxFrame = 16 << 10 // before SETTINGS, and our own limit
	firstWindow   = 65535
	maxWindow     = 1<<31 - 1
	maxStreamID   = 1<<31 - 1
)

// Frame types; RFC 9113, section 6.
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	framePriority     = 0x2
	frameReset        = 0x3
	frameSettings     = 0x4
	framePush         = 0x5
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindow       = 0x8
	frameContinuation = 0x9
)

// Flags of frames; which of them a frame can have follows from its type.
const (
	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

// Settings; RFC 9113, section 6.5.2.
const (
	settingTableSize     = 0x1
	settingPush          = 0x2
	settingStreams       = 0x3
	settingWindow        = 0x4
	settingMaxFrame      = 0x5
	settingMaxHeaderList = 0x6
)

// Code is an error code of RST_STREAM and GOAWAY; RFC 9113, section 7.
type Code uint32

// Codes that redline sends.
const (
	NoError          Code = 0x0
	ProtocolError    Code = 0x1
	InternalError    Code = 0x2
	FlowControlError Code = 0x3
	FrameSizeError   Code = 0x6
	Cancel           Code = 0x8
	CompressionError Code = 0x9
	EnhanceYourCalm  Code = 0xb
)

var codeNames = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
	"STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
	"CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

// String returns the code's name in the RFC.
// RFC 9113, section 7: unknown codes have no special meaning.
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return "an unknown error"
}

// frame is a frame's first nine bytes, decoded.
type frame struct {
	length int
	kind   byte
	flags  byte
	stream uint32
}

func parseFrame(b []byte) frame {
	// One bounds check for all that follow.
	_ = b[frameHead-1]
	return frame{
		length: int(b[0])<<16 | int(b[1])<<8 | int(b[2]),
		kind:   b[3], flags: b[4],
		stream: binary.BigEndian.Uint32(b[5:]) & maxStreamID,
	}
}

func (f frame) has(flag byte) bool { return f.flags&flag != 0 }

// appendFrame appends a frame's first nine bytes.
func appendFrame(out []byte, length int, kind, flags byte, stream uint32) []byte {
	return append(out, byte(length>>16), byte(length>>8), byte(length), kind, flags,
		byte(stream>>24), byte(stream>>16), byte(stream>>8), byte(stream))
}

func appendReset(out []byte, stream uint32, code Code) []byte {
	out = appendFrame(out, 4, frameReset, 0, stream)
	return binary.BigEndian.AppendUint32(out, uint32(code))
}

func appendWindow(out []byte, stream, increment uint32) []byte {
	out = appendFrame(out, 4, frameWindow, 0, stream)
	return binary.BigEndian.AppendUint32(out, increment)
}

func appendSetting(out []byte, id uint16, value uint32) []byte {
	out = binary.BigEndian.AppendUint16(out, id)
	return binary.BigEndian.AppendUint32(out, value)
}
