package jsonreply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// Writer writes answers. Its zero value is ready, and encodes as json.Marshal does. Its
// fields must not be changed once it is used, and it must not be copied. Its method may
// be called from any number of goroutines.
type Writer struct {
	// Append encodes a value to the end of dst, and returns the extended slice, as the
	// append-style functions of fast and of generated encoders do. It must not retain
	// dst. nil is encoding/json.
	Append func(dst []byte, value any) ([]byte, error)
	// KeepHTML leaves <, > and & in strings as they are; encoding/json escapes them
	// otherwise. It has no effect on Append.
	KeepHTML bool
	// MaxPooled is the largest buffer, in bytes, that is kept for another answer; 0 is
	// 64 KiB.
	MaxPooled int
	// MaxBody is the largest body, in bytes, that is written; 0 is no limit. It bounds
	// what goes out, not what encoding takes.
	MaxBody int

	pool sync.Pool // of *buffer
}

// EncodeError is why nothing was written: neither header nor body, so that the caller can
// still answer with an error.
type EncodeError struct{ Err error }

func (e *EncodeError) Error() string { return "jsonreply: " + e.Err.Error() }

func (e *EncodeError) Unwrap() error { return e.Err }

// Reasons of an [EncodeError] besides those of the encoder.
var (
	// ErrTooLarge reports a body beyond MaxBody.
	ErrTooLarge = errors.New("the body exceeds MaxBody")
	// ErrNoBody reports a status that allows no body: 1xx, 204 or 304.
	ErrNoBody = errors.New("the status allows no body")
)

var standard Writer

// Write answers with a status and the value as JSON, with the limits of the zero
// [Writer].
func Write(w http.ResponseWriter, status int, value any) error {
	return standard.Write(w, status, value)
}

// Write answers with a status and the value as JSON. It sets Content-Length, and
// Content-Type unless the caller has. An [EncodeError] means that nothing was written;
// any other error comes from writing, and the connection is unusable.
func (x *Writer) Write(w http.ResponseWriter, status int, value any) error {
	if status < 200 || status == http.StatusNoContent || status == http.StatusNotModified {
		return &EncodeError{fmt.Errorf("%w: %d", ErrNoBody, status)}
	}
	b, ok := x.pool.Get().(*buffer)
	if !ok {
		b = x.newBuffer()
	}
	body, err := b.encode(x, value)
	if err == nil && x.MaxBody > 0 && len(body) > x.MaxBody {
		err = fmt.Errorf("%w: %d bytes of at most %d", ErrTooLarge, len(body), x.MaxBody)
	}
	if err != nil {
		x.release(b)
		return &EncodeError{err}
	}
	header := w.Header()
	if header["Content-Type"] == nil {
		header["Content-Type"] = contentType
	}
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	n, err := w.Write(body)
	if err == nil && n < len(body) {
		err = io.ErrShortWrite
	}
	if err != nil {
		// The buffer is left to the garbage collector: it may still be read.
		return fmt.Errorf("jsonreply: %w", err)
	}
	x.release(b)
	return nil
}

var contentType = []string{"application/json; charset=utf-8"}

// buffer is where one answer at a time is encoded.
type buffer struct {
	// For encoding/json, whose Encoder is bound to its writer.
	out     bytes.Buffer
	encoder *json.Encoder
	// For Append.
	dst []byte
}

const firstSize = 512

func (x *Writer) newBuffer() *buffer {
	b := &buffer{}
	if x.Append != nil {
		b.dst = make([]byte, 0, firstSize)
		return b
	}
	b.encoder = json.NewEncoder(&b.out)
	b.encoder.SetEscapeHTML(!x.KeepHTML)
	return b
}

// encode returns the value's JSON, which is valid until the buffer is used again.
func (b *buffer) encode(x *Writer, value any) ([]byte, error) {
	if x.Append != nil {
		return b.append(x, value)
	}
	b.out.Reset()
	if err := b.encoder.Encode(value); err != nil {
		return nil, err
	}
	// Encode ends with a line, Marshal does not.
	return bytes.TrimSuffix(b.out.Bytes(), []byte("\n")), nil
}

func (b *buffer) append(x *Writer, value any) ([]byte, error) {
	body, err := x.Append(b.dst[:0], value)
	if err != nil {
		return nil, err
	}
	// What Append returns may be a larger array of its own, or something it keeps, such
	// as a constant answer. Only an array made here is known to be ours.
	if grown := cap(body) > 0 && &body[:1][0] != &b.dst[:1][0]; grown && len(body) <= x.maxPooled() {
		b.dst = make([]byte, 0, max(1, min(len(body)+len(body)/4, x.maxPooled())))
	}
	return body, nil
}

func (x *Writer) maxPooled() int {
	if x.MaxPooled > 0 {
		return x.MaxPooled
	}
	return 64 << 10
}

// release keeps the buffer for another answer, unless it has grown too large.
func (x *Writer) release(b *buffer) {
	if b.out.Cap() <= x.maxPooled() && cap(b.dst) <= x.maxPooled() {
		x.pool.Put(b)
	}
}
