package http2

// keptUpload is how much room a slot keeps for the next body that waits.
const keptUpload = 64 << 10

// upload is the rest of a body that the peer's windows hold back.
type upload struct {
	rest []byte // may be the caller's
	own  []byte // room for rest
}

func (u *upload) clear() {
	if u == nil {
		return
	}
	u.rest = nil
	if cap(u.own) > keptUpload {
		u.own = nil
	}
}

// appendBody appends as much of a body as the windows let through and keeps the
// rest, after data that waits already.
func (s *Session) appendBody(st *stream, body []byte, lasts bool, out []byte) []byte {
	if st.waits {
		st.upload.own = append(append(st.upload.own[:0], st.upload.rest...), body...)
		st.upload.rest = st.upload.own
		return out
	}
	if body, out = s.appendData(st, body, out); st.sent || len(body) == 0 && st.more {
		return out
	}
	if st.upload == nil {
		st.upload = &upload{}
	}
	if st.upload.rest = body; !lasts {
		st.upload.own = append(st.upload.own[:0], body...)
		st.upload.rest = st.upload.own
	}
	st.waits = true
	s.waiting++
	return out
}

// appendData appends DATA frames, the last of them with END_STREAM unless more
// is to come, and returns the part that the windows held back.
// Both windows count payload alone, and an empty frame with END_STREAM passes a window that
// is full (RFC 9113, section 6.9.1).
func (s *Session) appendData(st *stream, body, out []byte) (rest, extended []byte) {
	for len(body) > 0 {
		n := min(len(body), s.peerFrame, int(st.window), int(min(s.window, maxWindow)))
		if n <= 0 {
			return body, out
		}
		flags := byte(0)
		if n == len(body) && !st.more {
			flags, st.sent = flagEndStream, true
		}
		out = appendFrame(out, n, frameData, flags, st.id)
		out = append(out, body[:n]...)
		body = body[n:]
		st.window -= int32(n)
		s.window -= int64(n)
	}
	if !st.sent && !st.more {
		out = appendFrame(out, 0, frameData, flagEndStream, st.id)
		st.sent = true
	}
	return body, out
}

// resume sends the waiting part of a stream's body, as far as the windows let it.
func (s *Session) resume(st *stream) {
	if !st.waits {
		return
	}
	before := len(s.out)
	st.upload.rest, s.out = s.appendData(st, st.upload.rest, s.out)
	st.out += int64(len(s.out) - before)
	if len(st.upload.rest) == 0 {
		st.waits = false
		s.waiting--
		st.upload.clear()
	}
}

// resumeAll does so for all streams, after the session's window or those of all
// streams grew.
// Streams go by slot, so the first ones finish their bodies first. Taking turns would keep
// all of them unfinished for longer.
func (s *Session) resumeAll() {
	for slot := 0; slot < len(s.streams) && s.waiting > 0; slot++ {
		s.resume(&s.streams[slot])
	}
}
