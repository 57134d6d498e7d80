package http2

import (
	"errors"
	"math/bits"
	"time"

	"github.com/redline-go/redline/load/failure"
)

// Windows that a session announces for its input. Bodies are dropped at once, so the
// peer never needs to wait for a window.
const (
	streamWindow  = 1 << 30
	sessionWindow = 1 << 30
)

// cautious is how many streams a session begins before the peer has announced how many
// it accepts. RFC 9113, section 6.5.2, recommends that peers accept no fewer.
const cautious = 100

// Config configures a session. Handler must be set.
type Config struct {
	// Streams is the maximum number of concurrent streams; zero means 1.
	Streams int
	// Handler handles the events of streams.
	Handler Handler
	// Keep lists the fields that Head.Fields holds, by lower-case name.
	Keep []string
	// Secure is set if the connection is encrypted; errors mention it.
	Secure bool
}

// Handler receives the events of streams, by the slots that they were begun in. Arguments
// are valid during the call only; none of the session's methods that append may be called
// in it. A stream is over, and its slot free, after a call with end or Failed. Returning an
// error cancels the stream: the peer gets RST_STREAM (CANCEL), and Failed the error.
type Handler interface {
	// Head receives an answer's head: any number of interim ones (Status below
	// 200), the final one, and trailers (Status is 0), which always end.
	Head(slot int, h *Head, end bool) error
	// Data receives a piece of the body, which is empty when only its end came.
	Data(slot int, data []byte, end bool) error
	// Failed is called when the stream failed; the connection may still be usable. The
	// error is a *failure.Error, or the error that Head or Data returned.
	Failed(slot int, err error)
}

// Message is a request for Begin.
type Message struct {
	Block []byte // the header block, see AppendField; copied
	Body  []byte
	// Lasts promises that Body does not change before the stream ends. Otherwise, what does
	// not fit into the peer's windows is copied.
	Lasts bool
	// More leaves the stream open for Write.
	More bool
}

// Session is the client's side of one HTTP/2 connection without the connection.
// Use NewSession, then Open for each new connection. Slots are small numbers that the
// caller gives to streams; no two streams in progress have the same.
type Session struct {
	config  Config
	streams []stream // by slot; grown as slots come into use
	recent  []int32  // slots by stream id modulo its length: a first guess, see slot
	active  int      // streams in progress
	next    uint32   // id of the next stream
	over    bool     // takes no more streams
	dead    error    // the reason of its end

	// The peer's settings.
	greeted     bool // they came
	peerStreams int
	peerWindow  int32 // of a new stream
	peerFrame   int

	window  int64 // the peer's window, over all streams
	waiting int   // streams whose body waits for a window
	owed    int64 // received and not yet given back

	leaving string // the peer's GOAWAY; empty before

	// State of receiving.
	now, began time.Duration // of the call; of the frame's first byte
	out        []byte        // the reply
	partial    []byte        // the beginning of a frame that is not DATA
	data       dataFrame
	block      headerBlock
	heads      heads
}

// stream is a stream in progress. Its id is 0 if there is none.
type stream struct {
	id      uint32
	window  int32 // the peer's window; negative after it shrank its windows
	owed    int32 // received and not yet given back
	head    bool  // the final head came
	more    bool  // Write may follow
	sent    bool  // our END_STREAM is out
	waits   bool  // its body waits for a window
	in, out int64
	upload  *upload // the rest to be sent; nil until a window held a body back
}

// NewSession returns a session. Call Open before anything else.
func NewSession(c Config) *Session {
	c.Streams = max(c.Streams, 1)
	return &Session{config: c, recent: make([]int32, 1<<bits.Len(uint(c.Streams-1)))}
}

// greeting begins every session.
var greeting = func() []byte {
	settings := appendSetting(nil, settingTableSize, 0)
	settings = appendSetting(settings, settingPush, 0)
	settings = appendSetting(settings, settingWindow, streamWindow)
	settings = appendSetting(settings, settingMaxHeaderList, maxHead)
	b := appendFrame([]byte(preface), len(settings), frameSettings, 0, 0)
	b = append(b, settings...)
	return appendWindow(b, 0, sessionWindow-firstWindow)
}()

// Open resets the session and appends the beginning of a connection. Streams in progress
// are dropped without a call of the handler. Requests may follow at once: a client need not
// wait for the server's settings (RFC 9113, section 3.4), and a round trip per connection
// would show in its first latency.
func (s *Session) Open(out []byte) []byte {
	for i := range s.streams {
		s.streams[i].clear()
	}
	*s = Session{
		config: s.config, streams: s.streams, recent: s.recent, next: 1,
		peerStreams: cautious, peerWindow: firstWindow, peerFrame: firstMaxFrame, window: firstWindow,
		partial: s.partial[:0], block: headerBlock{bytes: s.block.bytes[:0]},
		heads: s.heads.anew(),
	}
	return append(out, greeting...)
}

// Room returns how many more streams Begin takes now, and whether the session is over: none
// will ever begin. Streams in progress can still end.
func (s *Session) Room() (room int, over bool) {
	if s.over || s.next == 0 {
		return 0, true
	}
	return max(0, min(s.config.Streams, s.peerStreams)-s.active), false
}

// Begin begins a stream in a free slot and appends the request, as far as the
// peer's windows let it. It must not be called without Room.
// Ids are odd, ascend and do not wrap (section 5.1.1): a connection that has used them up
// takes no more streams and is replaced.
func (s *Session) Begin(slot int, m Message, out []byte) []byte {
	for len(s.streams) <= slot {
		s.streams = append(s.streams, stream{})
	}
	st := &s.streams[slot]
	*st = stream{id: s.next, window: s.peerWindow, more: m.More, upload: st.upload}
	s.recent[s.next>>1&uint32(len(s.recent)-1)] = int32(slot)
	s.active++
	if s.next += 2; s.next > maxStreamID {
		s.over = true
	}
	before := len(out)
	last := len(m.Body) == 0 && !m.More
	out = s.appendHead(st, m.Block, last, out)
	if last {
		st.sent = true
	} else {
		out = s.appendBody(st, m.Body, m.Lasts, out)
	}
	st.out += int64(len(out) - before)
	return out
}

// appendHead appends a header block in as many frames as it takes.
func (s *Session) appendHead(st *stream, block []byte, last bool, out []byte) []byte {
	flags := byte(flagEndHeaders)
	if last {
		flags |= flagEndStream
	}
	if len(block) <= s.peerFrame {
		out = appendFrame(out, len(block), frameHeaders, flags, st.id)
		return append(out, block...)
	}
	kind := byte(frameHeaders)
	flags &^= flagEndHeaders
	// Nothing may come between these frames (section 6.10), so they leave together.
	for len(block) > s.peerFrame {
		out = appendFrame(out, s.peerFrame, kind, flags, st.id)
		out = append(out, block[:s.peerFrame]...)
		block, kind, flags = block[s.peerFrame:], frameContinuation, 0
	}
	out = appendFrame(out, len(block), kind, flagEndHeaders, st.id)
	return append(out, block...)
}

// Write adds to the body of a stream that was begun with More, and ends it with
// last. The part that the peer's windows hold back is copied.
func (s *Session) Write(slot int, body []byte, last bool, out []byte) []byte {
	st := &s.streams[slot]
	if st.id == 0 || !st.more {
		return out // the peer has ended it already
	}
	st.more = !last
	before := len(out)
	out = s.appendBody(st, body, false, out)
	st.out += int64(len(out) - before)
	return out
}

// Reset cancels the stream of a slot and frees the slot. Without a stream it appends
// nothing.
func (s *Session) Reset(slot int, code Code, out []byte) []byte {
	if slot >= len(s.streams) || s.streams[slot].id == 0 {
		return out
	}
	out = appendReset(out, s.streams[slot].id, code)
	s.free(&s.streams[slot])
	return out
}

// Bytes returns the bytes received and sent in frames of the slot's current stream, else of
// its last one.
func (s *Session) Bytes(slot int) (in, out int64) {
	return s.streams[slot].in, s.streams[slot].out
}

// Began returns the run time at which the first byte of the current frame arrived. Only a
// handler may call it.
func (s *Session) Began() time.Duration { return s.began }

// Shut is called when the peer sends no more. Streams whose body is incomplete
// fail; the error is that of the others, nil when there are none.
func (s *Session) Shut() error {
	s.over = true
	for slot := range s.streams {
		if st := &s.streams[slot]; st.id != 0 && st.head {
			s.fail(slot, failure.New(failure.ShortBody, "the target closed the connection within the body%s", s.leaving))
		}
	}
	switch {
	case s.active == 0:
		return nil
	case !s.greeted:
		if err := s.foreign(s.partial); err != nil {
			return err
		}
		return failure.New(failure.EOF, "the target closed the connection before it sent anything; does it speak HTTP/2%s?", s.medium())
	}
	return failure.New(failure.EOF, "the target closed the connection before it answered%s", s.leaving)
}

// slot returns the slot of a stream in progress, -1 when there is none.
// It is called for every frame. A map would hash and allocate where an index mostly hits.
func (s *Session) slot(id uint32) int {
	// Ids in progress are mostly close together, so no two of them share an entry of
	// recent. A long-lived one may have lost its entry.
	if slot := int(s.recent[id>>1&uint32(len(s.recent)-1)]); slot < len(s.streams) && s.streams[slot].id == id {
		return slot
	}
	for slot := range s.streams {
		if s.streams[slot].id == id {
			return slot
		}
	}
	return -1
}

// end frees a slot whose answer is complete, before the handler is called.
func (s *Session) end(st *stream) {
	if !st.sent {
		// The answer did not wait for all of the request (RFC 9113, section 8.1).
		s.out = appendReset(s.out, st.id, Cancel)
	}
	s.free(st)
}

func (s *Session) free(st *stream) {
	if st.waits {
		s.waiting--
	}
	s.active--
	st.clear()
}

// clear leaves the slice of Bytes, and room for a body that waits.
func (st *stream) clear() {
	*st = stream{in: st.in, out: st.out, upload: st.upload}
	st.upload.clear()
}

// fail frees a slot and calls the handler.
func (s *Session) fail(slot int, err error) {
	s.free(&s.streams[slot])
	s.config.Handler.Failed(slot, err)
}

// giveUp resets a stream and calls the handler.
func (s *Session) giveUp(slot int, code Code, err error) {
	s.out = appendReset(s.out, s.streams[slot].id, code)
	s.fail(slot, err)
}

// violation is an error of the peer that ends the session.
type violation struct {
	code Code
	err  error
}

func (v *violation) Error() string { return v.err.Error() }

// violates returns a violation that counts as a bad response.
func violates(code Code, format string, args ...any) error {
	return &violation{code, failure.New(failure.BadResponse, format, args...)}
}

// die ends the session: the peer and the caller get the reason.
func (s *Session) die(err error) error {
	var v *violation
	if errors.As(err, &v) {
		s.out = appendFrame(s.out, 8, frameGoAway, 0, 0)
		// The last stream id is 0: a client's GOAWAY is about pushed streams, and there are none.
		s.out = append(s.out, 0, 0, 0, 0, byte(v.code>>24), byte(v.code>>16), byte(v.code>>8), byte(v.code))
		err = v.err
	}
	s.over, s.dead = true, err
	return err
}
