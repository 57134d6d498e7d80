package http2

import (
	"bytes"
	"time"

	"github.com/redline-go/redline/load/failure"
)

// dataFrame is a DATA frame that is being received. Its payload is passed on in
// the pieces that arrive.
type dataFrame struct {
	frame
	is     bool
	left   int // of the payload, padding included
	padded bool
	pad    int // its length, once that came
}

// keptBlock is how much room a session keeps for heads of several frames.
const keptBlock = 8 << 10

// headerBlock is a header block that has not arrived in full.
type headerBlock struct {
	bytes  []byte
	stream uint32 // 0 when there is none
	end    bool   // END_STREAM was set
	size   int    // of its frames so far
}

// Receive takes the bytes that arrived at now, split anywhere, calls the handler, and
// appends the reply. After an error the session is unusable.
func (s *Session) Receive(in []byte, now time.Duration, out []byte) ([]byte, error) {
	// After a violation both sides disagree about what the bytes mean.
	if s.dead != nil {
		return out, s.dead
	}
	s.out, s.now = out, now
	err := s.receive(in)
	if err != nil {
		err = s.die(err)
	}
	out, s.out = s.out, nil
	return out, err
}

func (s *Session) receive(in []byte) (err error) {
	for len(in) > 0 {
		switch {
		case s.data.is:
			in, err = s.receiveData(in)
		// A frame's head may itself come in pieces, nine bytes in nine reads.
		case len(s.partial) > 0:
			in, err = s.collect(in)
		case len(in) < frameHead:
			s.partial = append(s.partial, in...)
			s.began, in = s.now, nil
		default:
			s.began = s.now
			in, err = s.begin(in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin handles a frame whose first nine bytes are there.
func (s *Session) begin(in []byte) (rest []byte, err error) {
	// Whole in one read, as most frames are: it is handled in place, without a copy.
	f := parseFrame(in)
	if err := s.admit(f, in); err != nil {
		return nil, err
	}
	if f.kind == frameData {
		return in[frameHead:], s.beginData(f)
	}
	end := frameHead + f.length
	if len(in) < end {
		s.partial = append(s.partial, in...)
		return nil, nil
	}
	return in[end:], s.handle(f, in[frameHead:end])
}

// collect adds to a frame that began in an earlier piece.
// All kinds except DATA are gathered: they are small, and most must be complete to mean
// anything. DATA is passed on in pieces, or a large body would be copied once more.
func (s *Session) collect(in []byte) (rest []byte, err error) {
	if n := frameHead - len(s.partial); n > 0 {
		n = min(n, len(in))
		s.partial = append(s.partial, in[:n]...)
		if in = in[n:]; len(s.partial) < frameHead {
			return in, nil
		}
		f := parseFrame(s.partial)
		if err := s.admit(f, s.partial); err != nil {
			return nil, err
		}
		if f.kind == frameData {
			s.partial = s.partial[:0]
			return in, s.beginData(f)
		}
	}
	f := parseFrame(s.partial)
	n := min(frameHead+f.length-len(s.partial), len(in))
	s.partial = append(s.partial, in[:n]...)
	if len(s.partial) < frameHead+f.length {
		return in[n:], nil
	}
	err = s.handle(f, s.partial[frameHead:])
	s.partial = s.partial[:0]
	return in[n:], err
}

// admit checks the rules for every frame. head begins with its first nine
// bytes.
// The greeting leaves the largest frame at its default, 16,384 bytes (section 4.2), which a
// peer must not exceed.
func (s *Session) admit(f frame, head []byte) error {
	switch {
	case !s.greeted:
		if err := s.foreign(head); err != nil {
			return err
		}
		// The server's preface is a SETTINGS frame, before anything else (section 3.4).
		if f.kind != frameSettings || f.has(flagAck) || f.length > firstMaxFrame {
			return violates(ProtocolError, "the target does not speak HTTP/2%s: it begins with %.9q", s.medium(), head)
		}
	case f.length > firstMaxFrame:
		return violates(FrameSizeError, "a frame of %d bytes, where %d are allowed", f.length, firstMaxFrame)
	// Header blocks are one unit on the wire, because the decoder's table is shared by all
	// streams (section 4.3).
	case s.block.stream != 0 && (f.kind != frameContinuation || f.stream != s.block.stream):
		return violates(ProtocolError, "a header block is interrupted by another frame")
	}
	return nil
}

// foreign returns an error for an answer of HTTP/1.
// That is how a port that speaks HTTP/1 answers the preface, and the most frequent reason.
func (s *Session) foreign(head []byte) error {
	if !bytes.HasPrefix(head, []byte("HTTP/1")) {
		return nil
	}
	return violates(ProtocolError, "the target does not speak HTTP/2%s: it answers in HTTP/1", s.medium())
}

func (s *Session) medium() string {
	if s.config.Secure {
		return " over TLS"
	}
	return " over plaintext"
}

// handle handles a complete frame other than DATA.
func (s *Session) handle(f frame, payload []byte) error {
	switch f.kind {
	case frameHeaders:
		return s.headers(f, payload)
	case frameContinuation:
		if s.block.stream == 0 {
			return violates(ProtocolError, "CONTINUATION without HEADERS")
		}
		return s.continued(f, payload)
	case frameReset:
		return s.reset(f, payload)
	case frameSettings:
		return s.settings(f, payload)
	// The greeting has refused it (SETTINGS_ENABLE_PUSH, section 6.6).
	case framePush:
		return violates(ProtocolError, "the target sends a push, although redline disabled it")
	case framePing:
		return s.ping(f, payload)
	case frameGoAway:
		return s.goAway(f, payload)
	case frameWindow:
		return s.grow(f, payload)
	}
	return nil // PRIORITY and extensions mean nothing to a client (sections 5.3.2 and 5.5)
}

// known checks that the peer may refer to a stream: one that was begun, whether or not
// it is still in progress.
func (s *Session) known(f frame) error {
	// A client's stream ids are odd and ascend (section 5.1.1), so comparing with the next one
	// shows what was begun, without remembering streams that ended.
	if f.stream == 0 || f.stream&1 == 0 || f.stream >= s.next {
		return violates(ProtocolError, "a frame of type %d for stream %d, which was never opened", f.kind, f.stream)
	}
	return nil
}

// unpad returns the payload of a HEADERS frame without padding and priority.
func unpad(f frame, payload []byte) ([]byte, error) {
	pad, front := 0, 0
	if f.has(flagPadded) {
		if len(payload) > 0 {
			pad = int(payload[0])
		}
		front++
	}
	if f.has(flagPriority) {
		// Priority, which RFC 9113 has deprecated and old servers still send (section 5.3.2).
		front += 5
	}
	if front+pad > len(payload) {
		return nil, violates(ProtocolError, "a HEADERS frame is shorter than its padding")
	}
	return payload[front : len(payload)-pad], nil
}

func (s *Session) headers(f frame, payload []byte) error {
	if err := s.known(f); err != nil {
		return err
	}
	block, err := unpad(f, payload)
	if err != nil {
		return err
	}
	// Counted on the wire, padding and frame heads included, so that it compares with HTTP/1.
	size := frameHead + f.length
	if f.has(flagEndHeaders) {
		return s.head(f.stream, block, f.has(flagEndStream), size)
	}
	s.block = headerBlock{append(s.block.bytes[:0], block...), f.stream, f.has(flagEndStream), size}
	return nil
}

func (s *Session) continued(f frame, payload []byte) error {
	b := &s.block
	// Frame heads count too, so that empty frames cannot go on forever.
	if b.size += frameHead + f.length; b.size > maxHead {
		return &violation{EnhanceYourCalm, errHeadTooLarge}
	}
	b.bytes = append(b.bytes, payload...)
	if !f.has(flagEndHeaders) {
		return nil
	}
	stream, block := b.stream, b.bytes
	b.stream = 0
	// One large head must not keep its memory for the rest of the run.
	if cap(block) > keptBlock {
		b.bytes = nil
	}
	return s.head(stream, block, b.end, b.size)
}

// head handles a complete header block.
func (s *Session) head(id uint32, block []byte, end bool, size int) error {
	head, err := s.heads.decode(block, s.config.Keep)
	if _, fatal := err.(*violation); fatal {
		return err
	}
	slot := s.slot(id)
	// RFC 7541, section 2.2: every block changes the decoder's state, so it is decoded even if
	// no stream waits for it.
	if slot < 0 {
		return nil // cancelled; decoded for the table's sake
	}
	st := &s.streams[slot]
	st.in += int64(size)
	if err == nil {
		err = st.follows(head, end)
	}
	if err != nil {
		s.giveUp(slot, ProtocolError, err)
		return nil
	}
	// Interim answers (1xx) come before the head and do not count as one (section 8.1).
	st.head = st.head || head.Status >= 200
	if end {
		s.end(st)
	}
	if err := s.config.Handler.Head(slot, head, end); err != nil {
		s.refuse(slot, id, end, err)
	}
	return nil
}

// follows checks that a head may come now; RFC 9113, section 8.1.
func (st *stream) follows(h *Head, end bool) error {
	switch {
	case !st.head && h.Status == 0:
		return failure.New(failure.BadResponse, "a malformed head: it has no :status")
	case !st.head && h.Status < 200 && end:
		return failure.New(failure.BadResponse, "the answer ends with an interim status, %d", h.Status)
	case st.head && h.Status != 0:
		return failure.New(failure.BadResponse, "a second head, of status %d", h.Status)
	case st.head && !end:
		return failure.New(failure.BadResponse, "trailers that do not end the answer")
	}
	return nil
}

// refuse gives up a stream because the handler returned an error.
func (s *Session) refuse(slot int, id uint32, ended bool, err error) {
	// An ended stream has no peer to notify: a RST_STREAM for it would be an error (section 5.1).
	if ended {
		s.config.Handler.Failed(slot, err)
		return
	}
	if s.streams[slot].id == id {
		s.giveUp(slot, Cancel, err)
	}
}

// beginData handles the first bytes of a DATA frame.
func (s *Session) beginData(f frame) error {
	if err := s.known(f); err != nil {
		return err
	}
	// The window is refilled when half of it is used, so that no peer exhausts it.
	// Frames of streams that were given up count as well, and padding: the peer charged
	// both against the connection's window (section 6.9.1).
	if s.owed += int64(f.length); s.owed >= sessionWindow/2 {
		s.out = appendWindow(s.out, 0, uint32(s.owed))
		s.owed = 0
	}
	s.data = dataFrame{frame: f, is: true, left: f.length, padded: f.has(flagPadded)}
	// The pad length itself takes a byte of the payload (section 6.1).
	if s.data.padded && f.length == 0 {
		return violates(ProtocolError, "a DATA frame is shorter than its padding")
	}
	slot := s.slot(f.stream)
	if slot >= 0 && !s.arrives(slot, f) {
		slot = -1
	}
	// No further byte will come that could end it.
	if f.length == 0 {
		s.endData(slot, nil)
	}
	return nil
}

// arrives counts a DATA frame of a stream. False means that the stream is given up.
func (s *Session) arrives(slot int, f frame) bool {
	st := &s.streams[slot]
	st.in += frameHead + int64(f.length)
	if !st.head {
		s.giveUp(slot, ProtocolError, failure.New(failure.BadResponse, "a body without a head"))
		return false
	}
	// A stream that ends needs no window any more: most bodies never cause an update.
	if st.owed += int32(f.length); st.owed >= streamWindow/2 && !f.has(flagEndStream) {
		s.out = appendWindow(s.out, f.stream, uint32(st.owed))
		st.owed = 0
	}
	return true
}

// receiveData passes on a piece of a DATA frame.
func (s *Session) receiveData(in []byte) (rest []byte, err error) {
	d := &s.data
	if d.padded {
		d.padded = false
		d.pad = int(in[0])
		if d.left--; d.pad > d.left {
			return nil, violates(ProtocolError, "a DATA frame is shorter than its padding")
		}
		if in = in[1:]; d.left > 0 {
			return in, nil
		}
	}
	n := min(d.left, len(in))
	// Padding is at the payload's end, so a piece holds as much body as is left before it.
	piece := in[:min(n, max(0, d.left-d.pad))]
	d.left -= n
	slot := s.slot(d.stream)
	if d.left == 0 {
		s.endData(slot, piece)
	} else if slot >= 0 && len(piece) > 0 {
		if err := s.config.Handler.Data(slot, piece, false); err != nil {
			s.refuse(slot, d.stream, false, err)
		}
	}
	return in[n:], nil
}

// endData passes on the last piece of a DATA frame.
func (s *Session) endData(slot int, piece []byte) {
	s.data.is = false
	if slot < 0 {
		return
	}
	end := s.data.has(flagEndStream)
	if end {
		s.end(&s.streams[slot])
	}
	// A piece of padding alone does not concern the handler.
	if !end && len(piece) == 0 {
		return
	}
	if err := s.config.Handler.Data(slot, piece, end); err != nil {
		s.refuse(slot, s.data.stream, end, err)
	}
}
