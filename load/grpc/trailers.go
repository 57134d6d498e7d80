package grpc

import (
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/http2"
)

// trailers is the content of an answer's last head. It is kept as the head's note, so
// that an answer identical to an earlier one costs nothing.
type trailers struct {
	given, valid bool // there is a grpc-status; it is one
	code         int
	message      string
	known        []statusError
}

// statusError is an error that was made of trailers before.
type statusError struct {
	kind   failure.Kind
	expect int
	err    error
}

// trailersOf reads a head once: identical heads share one, with its note.
func trailersOf(h *http2.Head) *trailers {
	if t, ok := h.Note.(*trailers); ok {
		return t
	}
	t := &trailers{}
	for _, f := range h.Fields {
		switch f.Name {
		case "grpc-status":
			t.given = true
			t.code, t.valid = parseStatus(f.Value)
		case "grpc-message":
			t.message = quote(f.Value)
		}
	}
	h.Note = t
	return t
}

// failure returns the error for a status that is not the expected one.
func (t *trailers) failure(kind failure.Kind, expect int) error {
	for _, f := range t.known {
		if f.kind == kind && f.expect == expect {
			return f.err
		}
	}
	text := "status " + codeName(t.code)
	if expect != codeOK {
		text += " where " + codeName(expect) + " is expected"
	}
	if t.message != "" {
		text += ": " + t.message
	}
	err := failure.New(kind, "%s", text)
	t.known = append(t.known, statusError{kind, expect, err})
	return err
}
