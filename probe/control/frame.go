package control

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame is a type, a length (big endian) and that many bytes.
const (
	frameData  = 'D'
	frameError = 'E' // ends the answer; the bytes say why
	frameEnd   = 'Z' // ends the answer; the bytes are an Outcome
	frameHead  = 5
	maxFrame   = 64 << 10
	maxText    = 1 << 10 // of an error
)

// Outcome is how a whole answer ends.
type Outcome struct {
	// From and To are when the answer's subject began and ended, CLOCK_MONOTONIC
	// ns. For a profile of state they bracket its taking.
	From, To int64
	// Error bounds the error of From, and of To, in ns: a trace begins somewhere
	// within the call that starts it.
	Error int64
	// Previous is the sampling rate that Rate replaced, if the runtime reports
	// it (mutex); else -1.
	Previous int
	// Cut reports that MaxBytes, or the client, ended a trace or profile early.
	Cut bool
}

// ErrTooLarge is wrapped by Receive's error about an answer above its limit.
var ErrTooLarge = errors.New("answer is larger than its bound")

// RemoteError is what the probe answered in place of data.
type RemoteError struct{ Text string }

func (e *RemoteError) Error() string { return e.Text }

// Receive copies the data of an answer to w and returns how it ended. An error
// means that the data is incomplete: *RemoteError if the probe said so.
func Receive(r io.Reader, w io.Writer, limit int64) (Outcome, error) {
	var head [frameHead]byte
	var total int64
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return Outcome{}, fmt.Errorf("answer ends early: %w", noEOF(err))
		}
		size := int64(binary.BigEndian.Uint32(head[1:]))
		if size > maxFrame {
			return Outcome{}, fmt.Errorf("frame of %d bytes", size)
		}
		switch head[0] {
		case frameData:
			if total += size; total > limit {
				return Outcome{}, fmt.Errorf("%w of %d bytes", ErrTooLarge, limit)
			}
			if _, err := io.CopyN(w, r, size); err != nil {
				return Outcome{}, fmt.Errorf("answer ends early: %w", noEOF(err))
			}
		case frameError, frameEnd:
			text := make([]byte, size)
			if _, err := io.ReadFull(r, text); err != nil {
				return Outcome{}, fmt.Errorf("answer ends early: %w", noEOF(err))
			}
			if head[0] == frameError {
				return Outcome{}, &RemoteError{Text: clean(text)}
			}
			return parseOutcome(string(text))
		default:
			return Outcome{}, fmt.Errorf("frame of unknown type %q", head[0])
		}
	}
}

func (o Outcome) String() string {
	return fmt.Sprintf("%d %d %d %d %t", o.From, o.To, o.Error, o.Previous, o.Cut)
}

func parseOutcome(text string) (Outcome, error) {
	var o Outcome
	if _, err := fmt.Sscanf(text, "%d %d %d %d %t", &o.From, &o.To, &o.Error, &o.Previous, &o.Cut); err != nil {
		return Outcome{}, fmt.Errorf("end of answer %q: %w", clean([]byte(text)), err)
	}
	if o.From < 0 || o.To < o.From || o.Error < 0 {
		return Outcome{}, fmt.Errorf("end of answer: from %d to %d, error %d", o.From, o.To, o.Error)
	}
	return o, nil
}

// writeFrame writes one frame, or several when data is too long for one. It
// builds them in scratch, which it returns for the next call; nil is fine.
func writeFrame(w io.Writer, scratch []byte, kind byte, data []byte) ([]byte, error) {
	for {
		part := data
		if len(part) > maxFrame {
			part = part[:maxFrame]
		}
		data = data[len(part):]
		scratch = append(scratch[:0], kind, 0, 0, 0, 0)
		binary.BigEndian.PutUint32(scratch[1:], uint32(len(part)))
		scratch = append(scratch, part...)
		if _, err := w.Write(scratch); err != nil {
			return scratch, err
		}
		if len(data) == 0 {
			return scratch, nil
		}
	}
}

// clean bounds a text from the other side and removes what a terminal should
// not see.
func clean(b []byte) string {
	if len(b) > maxText {
		b = b[:maxText]
	}
	out := make([]byte, 0, len(b))
	for _, c := range b {
		if c < ' ' || c >= 0x7f {
			c = ' '
		}
		out = append(out, c)
	}
	return string(out)
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
