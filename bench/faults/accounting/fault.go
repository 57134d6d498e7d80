package accounting

import (
	"crypto/tls"
	"slices"
	"time"

	"golang.org/x/net/http2"
)

// Faults by name. Those that concern one request hit the third one on each
// connection, so that a run has good answers too.
const (
	healthy          = "none"
	resetBefore      = "reset before the answer"
	resetWithin      = "reset within the answer"
	truncated        = "truncated"
	garbage          = "garbage"
	halfClose        = "half-close"
	slowLoris        = "slow loris"
	closeAfter       = "close after 3"
	closeIdle        = "close as the next arrives"
	burst            = "5xx burst"
	silent           = "never answers"
	zeroWindow       = "zero window"
	goAway           = "GOAWAY"
	goAwayError      = "GOAWAY with an error"
	resetStream      = "RST_STREAM"
	handshakeRefused = "handshake refused"
	closeNotify      = "close_notify within the answer"
	listenerStopped  = "listener stopped"
	processStopped   = "process stopped"
	processKilled    = "process killed"
)

// faults are all faults, with the protocols to which they apply.
var faults = []struct {
	name string
	to   func(protocol string) bool
}{
	{healthy, every}, {resetBefore, every}, {resetWithin, every}, {truncated, every}, {garbage, every}, {halfClose, every},
	{slowLoris, every}, {closeAfter, every}, {closeIdle, every}, {silent, every}, {zeroWindow, every},
	{burst, func(p string) bool { return p != websocket && p != raw }},
	{goAway, multiplexed}, {goAwayError, multiplexed}, {resetStream, multiplexed},
	{handshakeRefused, secure}, {closeNotify, secure},
	{listenerStopped, every}, {processStopped, every}, {processKilled, every},
}

// Protocols by name.
const (
	websocket = "websocket"
	raw       = "tcp"
)

var protocols = []string{"http/1.1", "https", "h2c", "h2", "grpc", websocket, raw}

func every(string) bool          { return true }
func multiplexed(p string) bool  { return slices.Contains([]string{"h2c", "h2", "grpc"}, p) }
func secure(p string) bool       { return p == "https" || p == "h2" }
func separate(fault string) bool { return fault == processStopped || fault == processKilled }
func repeatable(p string) bool   { return p != websocket && p != raw && p != "grpc" }

// treat answers a request that arrived whole, or applies the fault to it. False
// ends the connection.
func (c *session) treat(stream uint32) bool {
	third := c.n == 3
	switch {
	case c.fault == slowLoris:
		return c.loris(stream)
	case c.fault == burst:
		return c.say(stream, c.n/4%2 == 1)
	case c.fault == closeAfter && third:
		return c.say(stream, false) && false
	case c.fault == closeIdle && third:
		return c.say(stream, false) && c.closeOnNext()
	case c.fault == silent && c.n >= 3:
		return true
	case !third:
		return c.say(stream, false)
	}
	switch c.fault {
	case resetBefore:
		c.reset()
		return false
	case resetWithin:
		c.half(stream)
		c.reset()
		return false
	case truncated:
		c.half(stream)
		_ = c.raw.CloseWrite()
		c.drain()
		return false
	case closeNotify:
		c.half(stream)
		_ = c.rw.(*tls.Conn).CloseWrite()
		c.drain()
		return false
	case garbage:
		_, _ = c.rw.Write([]byte("\x00\xff\x13\x37 what is this \r\n\r\n"))
		c.drain()
		return false
	case halfClose:
		c.say(stream, false)
		_ = c.raw.CloseWrite()
		c.drain()
		return false
	}
	return c.treatStream(stream)
}

// treatStream applies the faults that only HTTP/2 has.
func (c *session) treatStream(stream uint32) bool {
	switch c.fault {
	case goAway, goAwayError:
		code := http2.ErrCodeNo
		if c.fault == goAwayError {
			code = http2.ErrCodeInternal
		}
		_ = c.frames().WriteGoAway(stream, code, nil)
		c.say(stream, false)
		_ = c.raw.CloseWrite()
		c.drain()
		return false
	case resetStream:
		return c.frames().WriteRSTStream(stream, http2.ErrCodeRefusedStream) == nil
	}
	return c.say(stream, false)
}

// loris writes an answer byte by byte, and lingers over every eighth one.
func (c *session) loris(stream uint32) bool {
	c.note(eventAnswer)
	whole := c.answer(stream, false)
	for i := range whole {
		if _, err := c.rw.Write(whole[i : i+1]); err != nil {
			return false
		}
		if i%64 == 63 {
			time.Sleep(time.Millisecond)
		}
	}
	return true
}

// closeOnNext closes once a byte of the next request is there but unread, as a server
// does whose idle timeout fires at that moment. The kernel then answers unread data with
// a RST.
func (c *session) closeOnNext() bool {
	_, _ = c.raw.Read(make([]byte, 1))
	return false
}
