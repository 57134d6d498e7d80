package http2

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/redline-go/redline/load/failure"
)

// maxQuoted bounds the part of a GOAWAY's debug data that an error quotes.
const maxQuoted = 100

// settings takes the peer's settings and acknowledges them.
// The acknowledgement goes out with whatever else the call appends. From it on the peer
// may count on all of its settings (RFC 9113, section 6.5.3).
func (s *Session) settings(f frame, payload []byte) error {
	switch {
	case f.stream != 0:
		return violates(ProtocolError, "SETTINGS for stream %d", f.stream)
	case f.has(flagAck) && f.length != 0 || f.length%6 != 0:
		return violates(FrameSizeError, "SETTINGS of %d bytes", f.length)
	case f.has(flagAck):
		return nil
	}
	if !s.greeted {
		s.greeted = true
		// Until now the session stayed within cautious: without the setting there is no limit
		// (section 6.5.2).
		s.peerStreams = math.MaxInt32 // unless it says otherwise
	}
	for ; len(payload) > 0; payload = payload[6:] {
		if err := s.setting(binary.BigEndian.Uint16(payload), binary.BigEndian.Uint32(payload[2:])); err != nil {
			return err
		}
	}
	s.out = appendFrame(s.out, 0, frameSettings, flagAck, 0)
	s.resumeAll()
	return nil
}

func (s *Session) setting(id uint16, value uint32) error {
	switch id {
	case settingPush:
		if value != 0 {
			return violates(ProtocolError, "the target sets ENABLE_PUSH to %d, which only a client may", value)
		}
	// It may fall below the number of streams in progress. Those continue; Room is 0 until
	// enough have ended.
	case settingStreams:
		s.peerStreams = int(min(value, math.MaxInt32))
	case settingMaxFrame:
		if value < firstMaxFrame || value >= 1<<24 {
			return violates(ProtocolError, "the target's setting MAX_FRAME_SIZE is %d", value)
		}
		s.peerFrame = int(value)
	case settingWindow:
		if value > maxWindow {
			return violates(FlowControlError, "the target's setting INITIAL_WINDOW_SIZE is %d", value)
		}
		// Streams in progress change by the difference, even below zero (6.9.2).
		by := int64(value) - int64(s.peerWindow)
		s.peerWindow = int32(value)
		for i := range s.streams {
			st := &s.streams[i]
			if st.id == 0 {
				continue
			}
			if int64(st.window)+by > maxWindow {
				return violates(FlowControlError, "the target's setting INITIAL_WINDOW_SIZE makes a window too large")
			}
			st.window = int32(int64(st.window) + by)
		}
	}
	return nil // our requests use no table; other settings do not concern us
}

func (s *Session) ping(f frame, payload []byte) error {
	switch {
	case f.stream != 0:
		return violates(ProtocolError, "PING for stream %d", f.stream)
	case f.length != 8:
		return violates(FrameSizeError, "PING of %d bytes", f.length)
	case f.has(flagAck):
		return nil
	}
	s.out = appendFrame(s.out, 8, framePing, flagAck, 0)
	// The same eight bytes back (section 6.7): servers drop connections whose pings are not
	// answered, and some measure their round trip by them.
	s.out = append(s.out, payload...)
	return nil
}

// grow takes a WINDOW_UPDATE.
// An error in a stream's window ends the stream, one in the connection's window the
// connection (section 6.9.1).
func (s *Session) grow(f frame, payload []byte) error {
	if f.length != 4 {
		return violates(FrameSizeError, "WINDOW_UPDATE of %d bytes", f.length)
	}
	// The highest bit is reserved and ignored (section 6.9).
	by := int64(binary.BigEndian.Uint32(payload) & maxWindow)
	if f.stream == 0 {
		if by == 0 {
			return violates(ProtocolError, "WINDOW_UPDATE by nothing")
		}
		if s.window+by > maxWindow {
			return violates(FlowControlError, "WINDOW_UPDATE by %d of a window of %d", by, s.window)
		}
		s.window += by
		s.resumeAll()
		return nil
	}
	if err := s.known(f); err != nil {
		return err
	}
	slot := s.slot(f.stream)
	if slot < 0 {
		return nil
	}
	st := &s.streams[slot]
	if by == 0 || int64(st.window)+by > maxWindow {
		s.giveUp(slot, FlowControlError, failure.New(failure.BadResponse, "WINDOW_UPDATE by %d of a window of %d", by, st.window))
		return nil
	}
	st.window += int32(by)
	s.resume(st)
	return nil
}

// reset takes a RST_STREAM.
func (s *Session) reset(f frame, payload []byte) error {
	if err := s.known(f); err != nil {
		return err
	}
	if f.length != 4 {
		return violates(FrameSizeError, "RST_STREAM of %d bytes", f.length)
	}
	if slot := s.slot(f.stream); slot >= 0 {
		s.streams[slot].in += frameHead + int64(f.length)
		code := Code(binary.BigEndian.Uint32(payload))
		s.fail(slot, failure.New(failure.StreamReset, "the target reset the stream with %s (%d)", code, code))
	}
	return nil
}

// goAway takes a GOAWAY: the streams above its last one were not processed, the others
// may still end.
func (s *Session) goAway(f frame, payload []byte) error {
	switch {
	case f.stream != 0:
		return violates(ProtocolError, "GOAWAY for stream %d", f.stream)
	case f.length < 8:
		return violates(FrameSizeError, "GOAWAY of %d bytes", f.length)
	}
	last := binary.BigEndian.Uint32(payload) & maxStreamID
	code := Code(binary.BigEndian.Uint32(payload[4:]))
	s.over = true
	// Kept for the errors of streams that end later: the peer's reason explains them.
	s.leaving = fmt.Sprintf(" after GOAWAY with %s (%d)", code, code)
	if debug := payload[8:min(len(payload), 8+maxQuoted)]; len(debug) > 0 {
		s.leaving += fmt.Sprintf(": %q", debug)
	}
	for slot := range s.streams {
		if s.streams[slot].id > last {
			s.fail(slot, &failure.Error{Kind: failure.StreamReset, Unseen: code == NoError,
				Err: fmt.Errorf("the target refused the request unprocessed%s", s.leaving)})
		}
	}
	return nil
}
