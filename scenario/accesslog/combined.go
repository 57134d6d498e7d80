package accesslog

import (
	"bytes"
	"errors"
	"strconv"
	"time"

	"github.com/redline-go/redline/scenario/protocol"
)

// parseCombined parses a line of nginx's format "combined", which is Apache's
// too, and of longer formats that begin like it:
//
//	127.0.0.1 - - [31/Jan/2026:08:00:00 +0000] "GET /a?b=1 HTTP/1.1" 200 12 "-" "agent"
//
// Seconds may have a fraction. Fields after the request are ignored.
func parseCombined(line []byte) (Entry, error) {
	var e Entry
	_, rest, ok := bytes.Cut(line, []byte(" ["))
	stamp, rest, ok2 := bytes.Cut(rest, []byte("] \""))
	if !ok || !ok2 || len(stamp) > 64 {
		return e, errors.New(`it has no [time] "request"`)
	}
	at, err := time.Parse("02/Jan/2006:15:04:05 -0700", string(stamp))
	if err != nil {
		return e, errors.New("its time is not such as 31/Jan/2026:08:00:00 +0000")
	}
	if e.At, err = unixNano(at); err != nil {
		return e, err
	}
	request, ok := quoted(rest)
	if !ok {
		return e, errors.New("the request's quotes are not closed")
	}
	method, target, ok := bytes.Cut(request, []byte(" "))
	version := bytes.LastIndexByte(target, ' ')
	if !ok || version < 0 || !bytes.HasPrefix(target[version+1:], []byte("HTTP/")) {
		return e, errors.New("its request is not such as GET / HTTP/1.1")
	}
	if e.Method, err = protocol.CheckMethod(string(method)); err != nil {
		return e, errMethod
	}
	e.Path, err = logPath(unescapeLog(target[:version]))
	return e, err
}

// quoted returns the text before the closing quote; a backslash keeps the
// next character from closing.
func quoted(text []byte) ([]byte, bool) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[:i], true
		}
	}
	return nil, false
}

// unescapeLog undoes the escapes that servers write for characters that would break a
// line: \xHH, \" and \\.
func unescapeLog(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	var out []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		if text[i+1] == 'x' && i+3 < len(text) {
			if n, err := strconv.ParseUint(string(text[i+2:i+4]), 16, 8); err == nil {
				out = append(out, byte(n))
				i += 3
				continue
			}
		}
		i++
		out = append(out, text[i])
	}
	return out
}
