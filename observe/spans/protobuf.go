package spans

import (
	// The Go team's reader of protobuf's encoding, field by field.
	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of the fields that are read, from opentelemetry/proto: trace.proto,
// resource.proto, common.proto.
const (
	exportResourceSpans protowire.Number = 1

	resourceSpansResource protowire.Number = 1
	resourceSpansScopes   protowire.Number = 2
	resourceAttributes    protowire.Number = 1
	scopeSpansSpans       protowire.Number = 2

	spanTrace      protowire.Number = 1
	spanID         protowire.Number = 2
	spanParent     protowire.Number = 4
	spanName       protowire.Number = 5
	spanKind       protowire.Number = 6
	spanStart      protowire.Number = 7
	spanEnd        protowire.Number = 8
	spanAttributes protowire.Number = 9
	spanStatus     protowire.Number = 15

	statusMessage protowire.Number = 2
	statusCode    protowire.Number = 3

	keyValueKey   protowire.Number = 1
	keyValueValue protowire.Number = 2

	anyString protowire.Number = 1
	anyBool   protowire.Number = 2
	anyInt    protowire.Number = 3
)

// field is one field of a message: bytes if it has a length, number of the
// rest.
type field struct {
	bytes  []byte
	number uint64
}

// eachField calls f for the fields of a message.
func eachField(data []byte, f func(n protowire.Number, v field) error) error {
	for len(data) > 0 {
		n, kind, size := protowire.ConsumeTag(data)
		if size < 0 {
			return errMalformed
		}
		data = data[size:]
		var v field
		switch kind {
		case protowire.BytesType:
			v.bytes, size = protowire.ConsumeBytes(data)
		case protowire.VarintType:
			v.number, size = protowire.ConsumeVarint(data)
		case protowire.Fixed64Type:
			v.number, size = protowire.ConsumeFixed64(data)
		default:
			// Fields of later versions are skipped, as protobuf asks of every reader.
			size = protowire.ConsumeFieldValue(n, kind, data)
		}
		if size < 0 {
			return errMalformed
		}
		data = data[size:]
		if err := f(n, v); err != nil {
			return err
		}
	}
	return nil
}

// decodeProtobuf reads an ExportTraceServiceRequest.
func decodeProtobuf(data []byte, b *batch) error {
	return eachField(data, func(n protowire.Number, v field) error {
		if n != exportResourceSpans {
			return nil
		}
		return b.resource(v.bytes)
	})
}

// resource reads ResourceSpans, twice: a resource may follow its spans.
// A field may come in any place and more than once, of which the last one counts
// (protobuf.dev/programming-guides/encoding, Field Order).
func (b *batch) resource(data []byte) error {
	service := ""
	err := eachField(data, func(n protowire.Number, v field) error {
		if n != resourceSpansResource {
			return nil
		}
		return eachField(v.bytes, func(n protowire.Number, v field) error {
			if n != resourceAttributes {
				return nil
			}
			key, value, err := keyValue(v.bytes)
			if string(key) == "service.name" {
				service = b.texts.of(value.text(), maxName)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	return eachField(data, func(n protowire.Number, v field) error {
		if n != resourceSpansScopes {
			return nil
		}
		return eachField(v.bytes, func(n protowire.Number, v field) error {
			if n != scopeSpansSpans {
				return nil
			}
			return b.span(v.bytes, service)
		})
	})
}

// span reads a Span.
func (b *batch) span(data []byte, service string) error {
	b.all++
	if len(data) > maxSpan {
		b.invalid++
		return nil
	}
	// First the fields that admission needs, then the rest: most spans of a flood end here,
	// before anything of them is kept.
	var trace, id, parent, name []byte
	var s span
	err := eachField(data, func(n protowire.Number, v field) error {
		switch n {
		case spanTrace:
			trace = v.bytes
		case spanID:
			id = v.bytes
		case spanParent:
			parent = v.bytes
		case spanName:
			name = v.bytes
		case spanKind:
			// An enum beyond its byte must not wrap around into a kind that exists.
			s.kind = kind(min(v.number, 255))
		case spanStart:
			s.from = v.number
		case spanEnd:
			s.to = v.number
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !s.ids(trace, id, parent) {
		b.invalid++
		return nil
	}
	if !b.admit(trace) {
		return nil
	}
	s.service, s.name = service, b.texts.of(name, maxName)
	if err := b.details(data, &s); err != nil {
		return err
	}
	b.spans = append(b.spans, s)
	return nil
}

// details reads the parts of a span that have parts themselves.
func (b *batch) details(data []byte, s *span) error {
	var a attributes
	err := eachField(data, func(n protowire.Number, v field) error {
		switch n {
		case spanStatus:
			return eachField(v.bytes, func(n protowire.Number, v field) error {
				switch n {
				case statusMessage:
					s.message = b.texts.of(v.bytes, maxValue)
				case statusCode:
					s.status = status(min(v.number, 255))
				}
				return nil
			})
		case spanAttributes:
			key, value, err := keyValue(v.bytes)
			if err == nil {
				a.add(key, value, b.texts)
			}
			return err
		}
		return nil
	})
	a.into(s, b.shapes)
	return err
}

// keyValue reads a KeyValue. Doubles, arrays and maps stay unread, because no
// attribute that is kept has one.
func keyValue(data []byte) (key []byte, value anyValue, err error) {
	err = eachField(data, func(n protowire.Number, v field) error {
		switch n {
		case keyValueKey:
			key = v.bytes
		case keyValueValue:
			return eachField(v.bytes, func(n protowire.Number, v field) error {
				switch n {
				case anyString:
					value = anyValue{string: v.bytes}
				case anyBool:
					value = anyValue{bool: v.number != 0, kind: isBool}
				case anyInt:
					// int64 and not sint64: no zigzag, a negative one comes as its two's complement.
					value = anyValue{int: int64(v.number), kind: isInt}
				}
				return nil
			})
		}
		return nil
	})
	return key, value, err
}
