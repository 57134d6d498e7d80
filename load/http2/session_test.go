package http2

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/redline-go/redline/load/failure"
)

// notes is a handler that records its calls.
type notes struct {
	said  []string
	bytes int
	bad   error // returned by Data
}

func (n *notes) note(format string, args ...any) {
	n.said = append(n.said, fmt.Sprintf(format, args...))
}

func (n *notes) Head(slot int, h *Head, end bool) error {
	n.note("%d: head %d, end %v", slot, h.Status, end)
	return nil
}

func (n *notes) Data(slot int, data []byte, end bool) error {
	if n.bytes += len(data); end || n.bad != nil {
		n.note("%d: %d bytes, end %v", slot, n.bytes, end)
	}
	return n.bad
}

func (n *notes) Failed(slot int, err error) { n.note("%d: %v", slot, err) }

func (n *notes) took() string {
	all := strings.Join(n.said, "; ")
	n.said = nil
	return all
}

// opened returns a session to a peer that sent its settings.
func opened(t *testing.T, streams int, pairs ...uint32) (*Session, *notes) {
	t.Helper()
	reported := &notes{}
	s := NewSession(Config{Streams: streams, Handler: reported})
	s.Open(nil)
	out := receive(t, s, settings(pairs...))
	if want := framed(frameSettings, flagAck, 0); !bytes.Equal(out, want) {
		t.Fatalf("settings are answered with %x", out)
	}
	return s, reported
}

func receive(t *testing.T, s *Session, in ...[]byte) []byte {
	t.Helper()
	out, err := s.Receive(joined(in...), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func begin(s *Session, slot int, body string) []byte {
	return s.Begin(slot, Message{Block: []byte{0x82}, Body: []byte(body)}, nil)
}

// frames says which frames there are, for comparison.
func frames(t *testing.T, out []byte) string {
	t.Helper()
	var all []string
	for len(out) > 0 {
		f := parseFrame(out)
		payload := out[frameHead : frameHead+f.length]
		text := fmt.Sprintf("%d/%d:%d", f.kind, f.stream, f.length)
		switch {
		case f.kind == frameWindow || f.kind == frameReset:
			text = fmt.Sprintf("%d/%d=%d", f.kind, f.stream, binary.BigEndian.Uint32(payload))
		case f.kind <= frameHeaders && f.has(flagEndStream):
			text += "!"
		}
		all = append(all, text)
		out = out[frameHead+f.length:]
	}
	return strings.Join(all, " ")
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestRoomIsWhatThePeerTakes(t *testing.T) {
	s := NewSession(Config{Streams: 1000, Handler: &notes{}})
	room := func(want int, wantOver bool) {
		t.Helper()
		if got, over := s.Room(); got != want || over != wantOver {
			t.Errorf("room %d, over %v, want %d, %v", got, over, want, wantOver)
		}
	}
	room(0, true)
	s.Open(nil)
	room(cautious, false)
	begin(s, 0, "")
	room(cautious-1, false)
	receive(t, s, settings())
	room(999, false)
	receive(t, s, settings(settingStreams, 3))
	room(2, false)
	begin(s, 1, "")
	receive(t, s, settings(settingStreams, 1))
	room(0, false)
	receive(t, s, heading(flagEndStream, 1, ":status", "200"), heading(flagEndStream, 3, ":status", "200"))
	room(1, false)
	s.next = maxStreamID
	begin(s, 0, "")
	room(0, true)
	receive(t, s, heading(flagEndStream, maxStreamID, ":status", "200"))
	room(0, true)
	s.Open(nil)
	room(cautious, false)
}

func TestBodyWaitsForWindows(t *testing.T) {
	body := strings.Repeat("x", 40000)
	s, reported := opened(t, 4, settingWindow, 30000)
	expect(t, "first", frames(t, begin(s, 0, body)), "1/1:1 0/1:16384 0/1:13616")
	expect(t, "second", frames(t, begin(s, 1, body)), "1/3:1 0/3:16384 0/3:13616")
	expect(t, "what the session's window leaves", frames(t, begin(s, 2, body)), "1/5:1 0/5:5535")
	expect(t, "nothing while it is empty", frames(t, receive(t, s, framed(frameWindow, 0, 1, number(20000)...))), "")
	expect(t, "the session's window", frames(t, receive(t, s, framed(frameWindow, 0, 0, number(50000)...))),
		"0/1:10000! 0/5:16384 0/5:8081")
	// A window may shrink below the part in use, and must grow from there.
	expect(t, "smaller windows", frames(t, receive(t, s, settings(settingWindow, 10))), "4/0:0")
	expect(t, "still used up", frames(t, receive(t, s, framed(frameWindow, 0, 3, number(29990)...))), "")
	expect(t, "a byte", frames(t, receive(t, s, framed(frameWindow, 0, 3, number(1)...))), "0/3:1")
	expect(t, "larger windows and frames", frames(t, receive(t, s,
		settings(settingWindow, 60000, settingMaxFrame, 20000))), "4/0:0 0/3:9999! 0/5:5535")
	// An answer that comes before all was sent ends the request too.
	begin(s, 3, strings.Repeat("x", 70000))
	expect(t, "an early answer", frames(t, receive(t, s, heading(flagEndStream, 7, ":status", "413"))), "3/7=8")
	expect(t, "told", reported.took(), "3: head 413, end true")
}

func TestWriteContinuesABody(t *testing.T) {
	s, _ := opened(t, 1, settingWindow, 5)
	out := s.Begin(0, Message{Block: []byte{0x82}, More: true}, nil)
	expect(t, "open", frames(t, out), "1/1:1")
	expect(t, "a message", frames(t, s.Write(0, []byte("abc"), false, nil)), "0/1:3")
	expect(t, "half a message", frames(t, s.Write(0, []byte("def"), false, nil)), "0/1:2")
	expect(t, "one behind it", frames(t, s.Write(0, []byte("ghi"), false, nil)), "")
	expect(t, "the end", frames(t, s.Write(0, nil, true, nil)), "")
	out = receive(t, s, framed(frameWindow, 0, 1, number(100)...))
	expect(t, "the rest", frames(t, out), "0/1:4!")
	if !bytes.HasSuffix(out, []byte("fghi")) {
		t.Errorf("the rest is %q", out)
	}
	if out := s.Write(0, []byte("late"), true, nil); len(out) > 0 {
		t.Errorf("after the end: %q", out)
	}
	receive(t, s, heading(flagEndStream, 1, ":status", "200"))
	expect(t, "an end of its own", frames(t,
		s.Write(0, nil, true, s.Begin(0, Message{Block: []byte{0x82}, More: true}, nil))), "1/3:1 0/3:0!")
}

func TestWindowsAreGivenBack(t *testing.T) {
	s, reported := opened(t, 1)
	begin(s, 0, "")
	receive(t, s, heading(0, 1, ":status", "200"))
	frame := framed(frameData, 0, 1, make([]byte, firstMaxFrame)...)
	var out []byte
	for range streamWindow / 2 / firstMaxFrame {
		out = append(out, receive(t, s, frame)...)
	}
	expect(t, "after half of them", frames(t, out), fmt.Sprintf("8/0=%d 8/1=%d", sessionWindow/2, streamWindow/2))
	receive(t, s, framed(frameData, flagEndStream, 1))
	expect(t, "told", reported.took(), fmt.Sprintf("0: head 200, end false; 0: %d bytes, end true", streamWindow/2))
}

func TestResetStreamsAreIgnored(t *testing.T) {
	s, reported := opened(t, 2)
	begin(s, 0, strings.Repeat("x", 100000))
	expect(t, "reset", frames(t, s.Reset(0, Cancel, nil)), "3/1=8")
	expect(t, "again", frames(t, s.Reset(0, Cancel, nil)), "")
	begin(s, 0, "")
	receive(t, s, heading(0, 1, ":status", "200"), framed(frameData, flagEndStream, 1, 1, 2, 3),
		framed(frameWindow, 0, 1, number(1)...), framed(frameReset, 0, 1, number(0)...))
	expect(t, "told", reported.took(), "")
	if s.owed != 3 {
		t.Errorf("%d bytes of the session's window are owed", s.owed)
	}
	// One that is reset within a frame, its slot taken again at once.
	receive(t, s, heading(0, 3, ":status", "200"), framed(frameData, 0, 3, make([]byte, 100)...)[:50])
	s.Reset(0, Cancel, nil)
	begin(s, 0, "")
	receive(t, s, make([]byte, 59), heading(flagEndStream, 5, ":status", "201"))
	expect(t, "told", reported.took(), "0: head 200, end false; 0: head 201, end true")
}

func TestHandlerGivesUp(t *testing.T) {
	s, reported := opened(t, 1)
	reported.bad = fmt.Errorf("enough")
	begin(s, 0, "")
	out := receive(t, s, heading(0, 1, ":status", "200"), framed(frameData, 0, 1, 1), framed(frameData, flagEndStream, 1, 1))
	expect(t, "reset", frames(t, out), "3/1=8")
	begin(s, 0, "")
	out = receive(t, s, heading(0, 3, ":status", "200"), framed(frameData, flagEndStream, 3, 1))
	expect(t, "complete", frames(t, out), "")
	expect(t, "told", reported.took(), "0: head 200, end false; 0: 1 bytes, end false; 0: enough; "+
		"0: head 200, end false; 0: 2 bytes, end true; 0: enough")
}

func TestStreamsAreFoundWhoeverLivesLong(t *testing.T) {
	s, reported := opened(t, 3)
	begin(s, 0, "")
	for i := range 100 {
		begin(s, 1+i%2, "")
		receive(t, s, heading(flagEndStream, uint32(3+2*i), ":status", "200"))
	}
	reported.took()
	receive(t, s, heading(flagEndStream, 1, ":status", "204"))
	expect(t, "told", reported.took(), "0: head 204, end true")
}

func TestGoAway(t *testing.T) {
	s, reported := opened(t, 3)
	for slot := range 3 {
		begin(s, slot, "")
	}
	receive(t, s, framed(frameGoAway, 0, 0, joined(number(3), number(uint32(EnhanceYourCalm)), []byte("slower"))...))
	why := ` after GOAWAY with ENHANCE_YOUR_CALM (11): "slower"`
	expect(t, "told", reported.took(), "2: stream-reset: the target refused the request unprocessed"+why)
	if room, over := s.Room(); room != 0 || !over {
		t.Errorf("room %d, over %v", room, over)
	}
	receive(t, s, heading(flagEndStream, 3, ":status", "200"))
	expect(t, "told", reported.took(), "1: head 200, end true")
	if err := s.Shut(); failure.Of(err) != failure.EOF || !strings.HasSuffix(err.Error(), why) {
		t.Error(err)
	}
}

func TestWhatEndsASession(t *testing.T) {
	for name, test := range map[string]struct {
		in   []byte
		code Code
		want string
	}{
		"SETTINGS for a stream":    {framed(frameSettings, 0, 1), ProtocolError, "SETTINGS for stream 1"},
		"half a setting":           {framed(frameSettings, 0, 0, 1), FrameSizeError, "SETTINGS of 1 bytes"},
		"an ACK with settings":     {framed(frameSettings, flagAck, 0, make([]byte, 6)...), FrameSizeError, "SETTINGS of 6"},
		"small frames":             {settings(settingMaxFrame, 100), ProtocolError, "MAX_FRAME_SIZE is 100"},
		"a large window":           {settings(settingWindow, 1<<31), FlowControlError, "INITIAL_WINDOW_SIZE"},
		"push":                     {settings(settingPush, 1), ProtocolError, "ENABLE_PUSH"},
		"a short PING":             {framed(framePing, 0, 0, 1), FrameSizeError, "PING of 1 bytes"},
		"PING for a stream":        {framed(framePing, 0, 1, make([]byte, 8)...), ProtocolError, "PING for stream 1"},
		"a short GOAWAY":           {framed(frameGoAway, 0, 0, 1), FrameSizeError, "GOAWAY of 1 bytes"},
		"GOAWAY for a stream":      {framed(frameGoAway, 0, 1, make([]byte, 8)...), ProtocolError, "GOAWAY for stream 1"},
		"a window by nothing":      {framed(frameWindow, 0, 0, number(0)...), ProtocolError, "WINDOW_UPDATE by nothing"},
		"a window too large":       {framed(frameWindow, 0, 0, number(maxWindow)...), FlowControlError, "WINDOW_UPDATE by"},
		"a short WINDOW_UPDATE":    {framed(frameWindow, 0, 0, 1), FrameSizeError, "WINDOW_UPDATE of 1 bytes"},
		"a short RST_STREAM":       {framed(frameReset, 0, 1, 1), FrameSizeError, "RST_STREAM of 1 bytes"},
		"a stream nobody began":    {framed(frameReset, 0, 3, number(0)...), ProtocolError, "stream 3, which was never opened"},
		"a stream of the target's": {framed(frameData, 0, 2), ProtocolError, "stream 2, which was never opened"},
		"DATA for the session":     {framed(frameData, 0, 0), ProtocolError, "stream 0, which was never opened"},
		"HEADERS all padding":      {framed(frameHeaders, flagPadded, 1, 1), ProtocolError, "shorter than its padding"},
		"DATA without its padding": {framed(frameData, flagPadded, 1), ProtocolError, "shorter than its padding"},
		"CONTINUATION of nothing":  {framed(frameContinuation, 0, 1), ProtocolError, "CONTINUATION without HEADERS"},
		"an index of no field":     {framed(frameHeaders, flagEndHeaders, 1, 0xbe), CompressionError, "cannot be decoded"},
		"half a field":             {framed(frameHeaders, flagEndHeaders, 1, 0, 1, 'x', 9), CompressionError, "cannot be decoded"},
		"a head that grows":        {framed(frameHeaders, flagEndHeaders, 1, bomb()...), EnhanceYourCalm, "a head of more than 65536 bytes"},
	} {
		s, _ := opened(t, 1)
		begin(s, 0, "")
		out, err := s.Receive(test.in, 1, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
			continue
		}
		if f := parseFrame(out[max(0, len(out)-17):]); f.kind != frameGoAway ||
			Code(binary.BigEndian.Uint32(out[len(out)-4:])) != test.code {
			t.Errorf("%s: the target is told %x", name, out)
		}
		if _, over := s.Room(); !over {
			t.Errorf("%s: the session goes on", name)
		}
		if _, again := s.Receive(settings(), 2, nil); again == nil {
			t.Errorf("%s: the session takes more", name)
		}
	}
}

// bomb is a small head that unpacks to a large one: a field that enters the
// table, again and again.
func bomb() []byte {
	block := append([]byte{0x88, 0x40, 1, 'x'}, appendNumber(nil, 0, 7, 3000)...)
	block = append(block, make([]byte, 3000)...)
	return append(block, bytes.Repeat([]byte{0xbe}, 10000)...)
}

func TestWhoDoesNotSpeakHTTP2(t *testing.T) {
	for name, test := range map[string]struct {
		in   string
		shut bool
		want string
	}{
		"HTTP/1":           {"HTTP/1.1 400 Bad Request\r\n", false, "bad-response: the target does not speak HTTP/2 over plaintext: it answers in HTTP/1"},
		"half of a head":   {"HTTP/1.1", true, "the target does not speak HTTP/2 over plaintext: it answers in HTTP/1"},
		"TLS":              {"\x15\x03\x01\x00\x02\x02\x50 ...", false, `bad-response: the target does not speak HTTP/2 over plaintext: it begins with "\x15\x03\x01`},
		"silence":          {"", true, "eof: the target closed the connection before it sent anything; does it speak HTTP/2 over plaintext?"},
		"another frame":    {string(framed(framePing, 0, 0, make([]byte, 8)...)), false, "bad-response: the target does not speak"},
		"an ACK of ours":   {string(framed(frameSettings, flagAck, 0)), false, "bad-response: the target does not speak"},
		"endless settings": {string(appendFrame(nil, 1<<20, frameSettings, 0, 0)), false, "bad-response: the target does not speak"},
	} {
		s := NewSession(Config{Handler: &notes{}})
		s.Open(nil)
		begin(s, 0, "")
		_, err := s.Receive([]byte(test.in), 1, nil)
		if err == nil && test.shut {
			err = s.Shut()
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", name, err, test.want)
		}
	}
}
