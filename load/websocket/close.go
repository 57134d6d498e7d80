package websocket

import (
	bin "encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Codes of a close frame (RFC 6455, section 7.4.1).
const (
	goingAway     = 1001
	protocolError = 1002
)

// codeNames are from the registry of close codes:
// https://www.iana.org/assignments/websocket/websocket.xhtml
var codeNames = map[uint16]string{
	1000: "normal", goingAway: "going away", protocolError: "protocol error", 1003: "unsupported data",
	1007: "invalid data", 1008: "policy violation", 1009: "message too big", 1010: "missing extension",
	1011: "internal error", 1012: "service restart", 1013: "try again later", 1014: "bad gateway",
}

// closed is the target's reason for closing the connection.
type closed struct {
	code   uint16 // 0 when it gave none
	reason string
}

func (c *closed) Error() string {
	if c.code == 0 {
		return "the target closed the connection without a code"
	}
	text := "the target closed the connection with code " + strconv.Itoa(int(c.code))
	if name := codeNames[c.code]; name != "" {
		text += " (" + name + ")"
	}
	if c.reason != "" {
		text += fmt.Sprintf(": %q", c.reason)
	}
	return text
}

// parseClose reads the payload of a close frame.
// Section 7.4: 1004 is reserved; 1005, 1006 and 1015 stand for frames that never came, so
// no peer may send them; 3000 to 4999 are for libraries and applications.
func parseClose(payload []byte) (*closed, error) {
	if len(payload) == 0 {
		return &closed{}, nil
	}
	if len(payload) == 1 {
		return nil, errors.New("the code of a close frame is cut short")
	}
	c := &closed{code: bin.BigEndian.Uint16(payload), reason: string(payload[2:])}
	switch {
	case c.code < 1000 || c.code >= 1004 && c.code <= 1006 || c.code >= 1015 && c.code < 3000 || c.code >= 5000:
		return nil, fmt.Errorf("a close frame has the code %d, which is not allowed", c.code)
	case !utf8.ValidString(c.reason):
		return nil, errors.New("the reason of a close frame is not UTF-8")
	}
	return c, nil
}

// appendClose appends a close frame; code 0 gives none.
func appendClose(out []byte, code uint16, key uint32) []byte {
	var payload [2]byte
	bin.BigEndian.PutUint16(payload[:], code)
	if code == 0 {
		return appendFrame(out, closing, nil, key)
	}
	return appendFrame(out, closing, payload[:], key)
}
