package grpc

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/redline-go/redline/scenario/feeder"
)

// encoder appends a part of a message in protobuf's encoding.
// A message is compiled into encoders once. A request then neither parses JSON nor
// reflects on a schema, which would cost more CPU than all the rest of it.
type encoder interface {
	encode(dst []byte, e *encoding) ([]byte, error)
}

// encoding is the state of encoders: the rows of a request, and room.
type encoding struct {
	rows *feeder.Cursor
	text []byte
}

// fixed holds bytes that no data goes into.
type fixed []byte

func (f fixed) encode(dst []byte, _ *encoding) ([]byte, error) { return append(dst, f...), nil }

// sequence is one part after the other.
// Fields may follow one another in any order:
// https://protobuf.dev/programming-guides/encoding/#order
type sequence []encoder

func (s sequence) encode(dst []byte, e *encoding) (_ []byte, err error) {
	for _, part := range s {
		if dst, err = part.encode(dst, e); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// nested is a message within another one.
type nested struct {
	tag  []byte
	body encoder
}

func (n *nested) encode(dst []byte, e *encoding) ([]byte, error) {
	dst = append(append(dst, n.tag...), 0)
	begin := len(dst)
	dst, err := n.body.encode(dst, e)
	if err != nil {
		return dst, err
	}
	// The length mostly takes one byte; otherwise the message moves.
	length := uint64(len(dst) - begin)
	if more := protowire.SizeVarint(length) - 1; more > 0 {
		dst = append(dst, make([]byte, more)...)
		copy(dst[begin+more:], dst[begin:])
	}
	// In place: dst has the room already.
	protowire.AppendVarint(dst[:begin-1], length)
	return dst, nil
}

// scalar is a field whose value data fills in.
type scalar struct {
	tag   []byte
	field protoreflect.FieldDescriptor
	text  []piece
}

func (s *scalar) encode(dst []byte, e *encoding) ([]byte, error) {
	e.text = appendPieces(e.text[:0], s.text, e.rows)
	dst, err := appendScalar(append(dst, s.tag...), s.field, e.text)
	if err != nil {
		return dst, &valueError{s.field}
	}
	return dst, nil
}

func appendPieces(dst []byte, pieces []piece, rows *feeder.Cursor) []byte {
	for i := range pieces {
		dst = append(dst, pieces[i].text...)
		if pieces[i].data != nil {
			dst = pieces[i].data.Append(dst, rows)
		}
	}
	return dst
}

// valueError is a value that its field cannot hold. Its text omits the value, which
// may be a secret.
type valueError struct{ field protoreflect.FieldDescriptor }

func (e *valueError) Error() string {
	what := e.field.Kind().String()
	switch e.field.Kind() {
	case protoreflect.StringKind:
		what = "UTF-8 string"
	case protoreflect.BytesKind:
		what = "base64 value"
	case protoreflect.EnumKind:
		what = string(e.field.Enum().FullName())
	}
	return "field " + string(e.field.FullName()) + ": the data is not a valid " + what
}

var errValue = errors.New("not a value of the field's type")

// appendScalar appends a value without its tag. The text is the form that stands for it
// in protobuf's JSON, without quotes.
// https://protobuf.dev/programming-guides/json/
func appendScalar(dst []byte, field protoreflect.FieldDescriptor, text []byte) ([]byte, error) {
	switch field.Kind() {
	// proto3's strings are UTF-8, and servers refuse a message that holds others.
	case protoreflect.StringKind:
		if !utf8.Valid(text) {
			return dst, errValue
		}
		return protowire.AppendBytes(dst, text), nil
	case protoreflect.BytesKind:
		return appendBase64(dst, text)
	case protoreflect.BoolKind:
		switch string(text) {
		case "true":
			return append(dst, 1), nil
		case "false":
			return append(dst, 0), nil
		}
		return dst, errValue
	case protoreflect.EnumKind:
		if v := field.Enum().Values().ByName(protoreflect.Name(text)); v != nil {
			return protowire.AppendVarint(dst, uint64(v.Number())), nil
		}
		v, err := strconv.ParseInt(string(text), 10, 32)
		return protowire.AppendVarint(dst, uint64(v)), err
	case protoreflect.FloatKind:
		v, err := parseFloat(text, 32)
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v))), err
	case protoreflect.DoubleKind:
		v, err := parseFloat(text, 64)
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v)), err
	}
	return appendInteger(dst, field.Kind(), text)
}

// appendInteger appends a whole number. A negative int32 takes ten bytes, sign-extended, and
// a sint32 is a ZigZag: https://protobuf.dev/programming-guides/encoding/#signed-ints
func appendInteger(dst []byte, kind protoreflect.Kind, text []byte) ([]byte, error) {
	switch kind {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		v, err := strconv.ParseInt(string(text), 10, 32)
		switch kind {
		case protoreflect.Sint32Kind:
			return protowire.AppendVarint(dst, protowire.EncodeZigZag(v)), err
		case protoreflect.Sfixed32Kind:
			return binary.LittleEndian.AppendUint32(dst, uint32(v)), err
		}
		return protowire.AppendVarint(dst, uint64(v)), err
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		v, err := strconv.ParseInt(string(text), 10, 64)
		switch kind {
		case protoreflect.Sint64Kind:
			return protowire.AppendVarint(dst, protowire.EncodeZigZag(v)), err
		case protoreflect.Sfixed64Kind:
			return binary.LittleEndian.AppendUint64(dst, uint64(v)), err
		}
		return protowire.AppendVarint(dst, uint64(v)), err
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		v, err := strconv.ParseUint(string(text), 10, 32)
		if kind == protoreflect.Fixed32Kind {
			return binary.LittleEndian.AppendUint32(dst, uint32(v)), err
		}
		return protowire.AppendVarint(dst, v), err
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		v, err := strconv.ParseUint(string(text), 10, 64)
		if kind == protoreflect.Fixed64Kind {
			return binary.LittleEndian.AppendUint64(dst, v), err
		}
		return protowire.AppendVarint(dst, v), err
	}
	return dst, errValue
}

// parseFloat takes JSON's numbers and the three names that protobuf has for
// forms that JSON lacks; Go's hexadecimal and underscored forms are neither.
func parseFloat(text []byte, bits int) (float64, error) {
	switch string(text) {
	case "NaN":
		return math.NaN(), nil
	case "Infinity":
		return math.Inf(1), nil
	case "-Infinity":
		return math.Inf(-1), nil
	}
	for _, c := range text {
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return 0, errValue
		}
	}
	return strconv.ParseFloat(string(text), bits)
}

// appendBase64 appends the bytes that text encodes in either alphabet, padded or not, in one line
// or, as base64(1) writes them, in several. All of that is normalised in text itself, which is the
// caller's room, so that nothing is allocated. The length comes first, so none of text may be left
// for the decoder to skip.
func appendBase64(dst, text []byte) ([]byte, error) {
	kept := text[:0]
	for _, c := range text {
		switch c {
		case '\r', '\n':
			continue
		case '-':
			c = '+'
		case '_':
			c = '/'
		}
		kept = append(kept, c)
	}
	kept = bytes.TrimRight(kept, "=")
	dst = protowire.AppendVarint(dst, uint64(base64.RawStdEncoding.DecodedLen(len(kept))))
	return base64.RawStdEncoding.AppendDecode(dst, kept)
}
