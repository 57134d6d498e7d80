package http1

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/redline-go/redline/load/failure"
)

// Bounds on an answer without its body, in bytes.
const (
	maxHead      = 64 << 10 // status lines and headers, interim answers included; and trailers
	maxChunkLine = 4 << 10  // a chunk's size with its extensions
)

type state uint8

// States of the parser: the part that comes next.
const (
	statusLine state = iota
	headerLine
	body      // of known length
	untilEOF  // the rest of the connection is the body
	chunkSize // a line
	chunkData
	chunkEnd    // the line break after a chunk's data
	trailerLine // after the last chunk
	complete
)

// parser reads one answer (RFC 9112) in whatever pieces it arrives; the pieces
// make no difference to its result. The zero parser is not usable; reset
// readies one for an answer.
//
// There is one for each connection, so it holds no memory except for a line that
// arrived in part, until that is complete.
type parser struct {
	left   int64 // bytes of the body or chunk that are still to come
	length int64 // from Content-Length
	line   *[]byte
	watch  *watcher // sees the answer go by; nil for none
	room   int32    // bytes that lines may still take
	status int16

	state     state
	head      bool // the answer is to a HEAD request and has no body
	keep      bool // whether the connection can carry another request
	close     bool // Connection: close was given
	hasLength bool
	encoded   bool // Transfer-Encoding was given
	chunked   bool // and ends in chunked
}

// lines are the buffers of lines that arrived in part.
var lines = sync.Pool{New: func() any { return new([]byte) }}

func (p *parser) reset(head bool) {
	// Remains of an earlier answer, such as half a line, must not become part of this one.
	p.dropLine()
	*p = parser{head: head, room: maxHead}
}

// dropLine gives the buffer of a line back.
func (p *parser) dropLine() {
	if p.line != nil {
		*p.line = (*p.line)[:0]
		lines.Put(p.line)
		p.line = nil
	}
}

// feed takes the next bytes and returns how many belong to the answer. Once state is
// complete, the rest belongs to none of our requests.
func (p *parser) feed(b []byte) (used int, err error) {
	// Bodies pass in whole pieces. Only what frames them, heads and the sizes of chunks, is
	// taken line by line.
	for used < len(b) && p.state != complete {
		rest := b[used:]
		switch p.state {
		case body, chunkData:
			n := int(min(p.left, int64(len(rest))))
			if p.watch != nil {
				p.watch.body(rest[:n])
			}
			used += n
			if p.left -= int64(n); p.left > 0 {
				break
			}
			if p.state == chunkData {
				p.state, p.room = chunkEnd, maxChunkLine
			} else {
				p.state = complete
			}
		case untilEOF:
			if p.watch != nil {
				p.watch.body(rest)
			}
			used = len(b)
		default:
			n, err := p.takeLine(rest)
			if err != nil {
				return used, err
			}
			used += n
		}
	}
	return used, nil
}

// takeLine takes one line, or its beginning.
func (p *parser) takeLine(b []byte) (used int, err error) {
	// The usual line is whole in the read buffer and is parsed in place.
	end := bytes.IndexByte(b, '\n')
	if p.line != nil || end < 0 || end >= int(p.room) {
		return p.takePart(b, end)
	}
	p.room -= int32(end + 1)
	line := b[:end]
	if end > 0 && line[end-1] == '\r' {
		line = line[:end-1]
	}
	return end + 1, p.take(line)
}

// takePart takes the bytes so far of a line that came in pieces, up to its end if
// that is not negative.
func (p *parser) takePart(b []byte, end int) (used int, err error) {
	if used = end + 1; end < 0 {
		used = len(b)
	}
	if p.line == nil {
		p.line = lines.Get().(*[]byte)
	}
	// A line without its end needs at least one byte more.
	// Checked before it is copied: a head without end takes no memory beyond its bound.
	if need := len(*p.line) + used; need > int(p.room) || end < 0 && need == int(p.room) {
		return 0, p.tooLong()
	}
	*p.line = append(*p.line, b[:used]...)
	if end < 0 {
		return used, nil
	}
	// Whole now. The bytes are the pool's again once it is parsed.
	line := *p.line
	p.room -= int32(len(line))
	line = bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'})
	err = p.take(line)
	p.dropLine()
	return used, err
}

// take takes one line, without its end.
func (p *parser) take(line []byte) error {
	switch p.state {
	case statusLine:
		return p.takeStatus(line)
	case headerLine:
		return p.takeHeader(line)
	case chunkSize:
		return p.takeChunkSize(line)
	case chunkEnd:
		if len(line) > 0 {
			return bad("a chunk's data does not end where its size says")
		}
		p.state, p.room = chunkSize, maxChunkLine
	case trailerLine:
		// Trailers are read to their end but not examined: nothing in a plan refers to them.
		if len(line) == 0 {
			p.state = complete
		}
	}
	return nil
}

func (p *parser) tooLong() error {
	if p.state == chunkSize || p.state == chunkEnd {
		return bad("a chunk's size line is over %d bytes", maxChunkLine)
	}
	return &failure.Error{Kind: failure.HeaderTooLarge, Err: fmt.Errorf("the answer's head is over %d bytes", maxHead)}
}

// takeStatus parses "HTTP/1.1 200 OK".
func (p *parser) takeStatus(line []byte) error {
	// RFC 9112, section 4: the reason after the status may be empty. Some servers also leave
	// out the blank before it, which is accepted too.
	const version = "HTTP/1."
	if len(line) < 12 || string(line[:len(version)]) != version || !digit(line[7]) || line[8] != ' ' ||
		!digit(line[9]) || line[9] == '0' || !digit(line[10]) || !digit(line[11]) || len(line) > 12 && line[12] != ' ' {
		return bad("%.60q is not an HTTP/1 status line", line)
	}
	p.status = int16(line[9]-'0')*100 + int16(line[10]-'0')*10 + int16(line[11]-'0')
	p.keep = line[7] != '0' // HTTP/1.0 closes unless it says otherwise
	p.length, p.hasLength, p.encoded, p.chunked = 0, false, false, false
	p.state = headerLine
	if p.watch != nil {
		p.watch.begin()
	}
	return nil
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// takeHeader examines the three headers that frame an answer.
func (p *parser) takeHeader(line []byte) error {
	if len(line) == 0 {
		p.endHead()
		return nil
	}
	colon := bytes.IndexByte(line, ':')
	// White space in or before the name is how answers are smuggled: no two
	// readers agree on its meaning (RFC 9112, section 5.1).
	if colon <= 0 || blank(line[0]) || blank(line[colon-1]) {
		return bad("%.60q is not a header line", line)
	}
	if p.watch != nil {
		p.watch.header(line[:colon], trim(line[colon+1:]))
	}
	// Length first, then the usual spelling: most headers are skipped without comparing their
	// letters, and the three that count seldom need folding.
	switch name := line[:colon]; colon {
	case len("Connection"):
		if string(name) == "Connection" || is(name, "connection") {
			p.takeConnection(trim(line[colon+1:]))
		}
	case len("Content-Length"):
		if string(name) == "Content-Length" || is(name, "content-length") {
			return p.takeLength(trim(line[colon+1:]))
		}
	case len("Transfer-Encoding"):
		if string(name) == "Transfer-Encoding" || is(name, "transfer-encoding") {
			value := trim(line[colon+1:])
			// The last coding frames the body (RFC 9112, section 6.1); with another in its place the
			// body ends with the connection.
			p.encoded = true
			last := value[bytes.LastIndexByte(value, ',')+1:]
			p.chunked = is(trim(last), "chunked")
		}
	}
	return nil
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// trim is a cheaper bytes.Trim for blanks; that costs more than the rest of a line.
func trim(b []byte) []byte {
	for len(b) > 0 && blank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && blank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// is compares ASCII text without case; want is in lower case.
func is(b []byte, want string) bool {
	if len(b) != len(want) {
		return false
	}
	for i := range b {
		c := b[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return true
}

func (p *parser) takeConnection(value []byte) {
	// Nearly every server that sends the header sends this; the list is for the others.
	if string(value) == "keep-alive" {
		p.keep = !p.close
		return
	}
	for len(value) > 0 {
		var token []byte
		// A list of options, perhaps over several lines; close wins wherever it stands (RFC 9112,
		// section 9.6).
		token, value, _ = bytes.Cut(value, []byte{','})
		switch token = trim(token); {
		case is(token, "close"):
			p.keep, p.close = false, true
		case is(token, "keep-alive"):
			p.keep = !p.close
		}
	}
}

// takeLength parses a Content-Length, which may be repeated only if it stays
// the same (RFC 9110, section 8.6).
func (p *parser) takeLength(value []byte) error {
	// One number, once: nearly every answer.
	if n, ok := parseUint(value, 10); ok && !p.hasLength {
		p.length, p.hasLength = n, true
		return nil
	}
	for {
		text, rest, more := bytes.Cut(value, []byte{','})
		n, ok := parseUint(trim(text), 10)
		if !ok {
			return bad("Content-Length %.40q is not a number", text)
		}
		if p.hasLength && n != p.length {
			return bad("two lengths, %d and %d", p.length, n)
		}
		p.length, p.hasLength = n, true
		if value = rest; !more {
			return nil
		}
	}
}

// endHead decides the framing of the body (RFC 9112, section 6.3).
func (p *parser) endHead() {
	switch {
	case p.status == 101:
		// The connection speaks another protocol from here on.
		p.state, p.keep = complete, false
	case p.status < 200:
		p.state = statusLine
	// No body whatever the headers say: to HEAD they describe the body of a GET.
	case p.head, p.status == 204, p.status == 304:
		p.state = complete
	case p.chunked:
		// With both framings the length is ignored, and the connection not
		// trusted any further.
		p.keep = p.keep && !p.hasLength
		p.state, p.room = chunkSize, maxChunkLine
	case p.encoded || !p.hasLength:
		p.state, p.keep = untilEOF, false
	case p.length == 0:
		p.state = complete
	default:
		p.state, p.left = body, p.length
	}
}

func (p *parser) takeChunkSize(line []byte) error {
	// Section 7.1.1: extensions that are not known are ignored. Blanks before the line's end
	// are no part of the grammar; servers that pad sizes to a fixed width send them.
	size, _, _ := bytes.Cut(line, []byte{';'})
	n, ok := parseUint(bytes.TrimRight(size, " \t"), 16)
	if !ok {
		return bad("%.40q is not a chunk size", line)
	}
	if p.left = n; n > 0 {
		p.state = chunkData
	} else {
		p.state, p.room = trailerLine, maxHead
	}
	return nil
}

// parseUint parses digits of a base up to 16, and nothing else.
// strconv.ParseInt also accepts a sign, which RFC 9110 does not allow: two readers of one
// answer could disagree about where it ends.
func parseUint(b []byte, base int64) (n int64, ok bool) {
	for _, c := range b {
		var d int64
		switch {
		case digit(c):
			d = int64(c - '0')
		case base == 16 && c >= 'a' && c <= 'f':
			d = int64(c-'a') + 10
		case base == 16 && c >= 'A' && c <= 'F':
			d = int64(c-'A') + 10
		default:
			return 0, false
		}
		// A length that wraps around would end the body somewhere in its middle.
		if n > (math.MaxInt64-d)/base {
			return 0, false
		}
		n = n*base + d
	}
	return n, len(b) > 0
}

// end returns what the connection's end means for the answer: nil if it completes it.
// Before an answer begins, the server may have closed the connection because it was idle
// (failure.EOF), and the request may be sent again; within a body that is never so.
func (p *parser) end() error {
	switch p.state {
	case complete:
		return nil
	case untilEOF:
		p.state = complete
		return nil
	case statusLine, headerLine:
		return &failure.Error{Kind: failure.EOF, Err: errors.New("the target closed the connection before it answered")}
	case body:
		return &failure.Error{Kind: failure.ShortBody,
			Err: fmt.Errorf("the target closed the connection %d bytes before the body's end", p.left)}
	default:
		return &failure.Error{Kind: failure.ShortBody, Err: errors.New("the target closed the connection before the last chunk")}
	}
}

func bad(format string, args ...any) error {
	return &failure.Error{Kind: failure.BadResponse, Err: fmt.Errorf(format, args...)}
}
