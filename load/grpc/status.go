package grpc

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/redline-go/redline/redact"
)

// Status codes that the code refers to.
// https://github.com/grpc/grpc/blob/master/doc/statuscodes.md
const (
	codeOK               = 0
	codeUnknown          = 2
	codeDeadlineExceeded = 4
	codePermissionDenied = 7
	codeUnimplemented    = 12
	codeInternal         = 13
	codeUnavailable      = 14
	codeUnauthenticated  = 16
)

var codeNames = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
	"UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

func codeName(code int) string {
	if code >= 0 && code < len(codeNames) {
		return codeNames[code]
	}
	return strconv.Itoa(code)
}

// codeOf is the code that stands for an HTTP status, for answers without a gRPC
// status, such as a proxy's.
// https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md
func codeOf(status int) int {
	switch status {
	case 400:
		return codeInternal
	case 401:
		return codeUnauthenticated
	case 403:
		return codePermissionDenied
	case 404:
		return codeUnimplemented
	case 429, 502, 503, 504:
		return codeUnavailable
	}
	return codeUnknown
}

// parseStatus reads a grpc-status. An undefined code is UNKNOWN, as statuscodes.md
// requires.
func parseStatus(text string) (code int, ok bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	switch {
	case err != nil:
		return codeUnknown, false
	case n >= uint64(len(codeNames)):
		return codeUnknown, true
	}
	return int(n), true
}

// maxQuoted bounds the part of a server's message that an error quotes.
const maxQuoted = 200

// quote makes a grpc-message fit for an error: its escapes undone, without
// secrets, in one line.
// It is percent-encoded (PROTOCOL-HTTP2.md, "Responses"), so up to three bytes stand for
// one; a broken escape is kept as it is, as that document requires.
func quote(message string) string {
	message = message[:min(len(message), 4*maxQuoted)]
	var b strings.Builder
	for i := 0; i < len(message); i++ {
		if c := message[i]; c == '%' && i+2 < len(message) {
			if v, err := strconv.ParseUint(message[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 2
				continue
			}
		}
		b.WriteByte(message[i])
	}
	text := redact.Text(strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == utf8.RuneError {
			return ' '
		}
		return c
	}, b.String()))
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "..."
	}
	return text
}

// timeoutText is a grpc-timeout: at most eight digits and a unit. A remainder is
// rounded up, so that the plan's own timeout comes first.
// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md ("Requests", TimeoutValue)
func timeoutText(d time.Duration) string {
	for _, unit := range []struct {
		name string
		is   time.Duration
	}{
		{"n", time.Nanosecond}, {"u", time.Microsecond}, {"m", time.Millisecond},
		{"S", time.Second}, {"M", time.Minute}, {"H", time.Hour},
	} {
		if n := (d-1)/unit.is + 1; n <= 99_999_999 {
			return strconv.FormatInt(int64(n), 10) + unit.name
		}
	}
	return "99999999H"
}
