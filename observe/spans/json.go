package spans

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// decodeJSON reads an export in OTLP's JSON: protobuf's JSON, but ids are in
// hexadecimal and enums are numbers.
//
// Spans are decoded one by one as the text is read: all at once they could take
// a hundred times the memory of a hostile text.
func decodeJSON(data []byte, b *batch) error {
	d := json.NewDecoder(bytes.NewReader(data))
	err := object(d, func(key string) error {
		if key != "resourceSpans" {
			return skip(d)
		}
		return list(d, func() error { return b.resourceJSON(d) })
	})
	if err == nil && d.More() {
		err = errMalformed
	}
	return err
}

// resourceJSON reads a ResourceSpans (opentelemetry/proto/trace/v1/trace.proto in its
// JSON mapping). It walks the tokens itself, because a decoder into the generated types
// would build values that are thrown away next.
func (b *batch) resourceJSON(d *json.Decoder) error {
	first, service := len(b.spans), ""
	err := object(d, func(key string) error {
		switch key {
		case "resource":
			return object(d, func(key string) error {
				if key != "attributes" {
					return skip(d)
				}
				return list(d, func() error {
					var a jsonAttribute
					err := d.Decode(&a)
					if a.Key == "service.name" {
						service = b.texts.of(a.Value.value().text(), maxName)
					}
					return err
				})
			})
		case "scopeSpans":
			return list(d, func() error {
				return object(d, func(key string) error {
					if key != "spans" {
						return skip(d)
					}
					return list(d, func() error { return b.spanJSON(d) })
				})
			})
		}
		return skip(d)
	})
	// The resource may follow its spans.
	for i := first; i < len(b.spans); i++ {
		b.spans[i].service = service
	}
	return err
}

// jsonSpan has the fields of a Span that are kept. OTLP's JSON writes ids in
// hexadecimal, and 64-bit numbers as strings.
type jsonSpan struct {
	TraceID      jsonID          `json:"traceId"`
	SpanID       jsonID          `json:"spanId"`
	ParentSpanID jsonID          `json:"parentSpanId"`
	Name         string          `json:"name"`
	Kind         jsonNumber      `json:"kind"`
	Start        jsonNumber      `json:"startTimeUnixNano"`
	End          jsonNumber      `json:"endTimeUnixNano"`
	Attributes   []jsonAttribute `json:"attributes"`
	Status       struct {
		Code    jsonNumber `json:"code"`
		Message string     `json:"message"`
	} `json:"status"`
}

// jsonAttribute is a KeyValue.
type jsonAttribute struct {
	Key   string    `json:"key"`
	Value jsonValue `json:"value"`
}

// jsonValue is an AnyValue; lists, maps, bytes and doubles are not kept.
type jsonValue struct {
	String *string     `json:"stringValue"`
	Int    *jsonNumber `json:"intValue"`
	Bool   *bool       `json:"boolValue"`
}

// value returns the scalar; an empty text for a value that is not kept.
func (v jsonValue) value() anyValue {
	switch {
	case v.String != nil:
		return anyValue{string: []byte(*v.String)}
	case v.Int != nil:
		return anyValue{int: int64(*v.Int), kind: isInt}
	case v.Bool != nil:
		return anyValue{bool: *v.Bool, kind: isBool}
	}
	return anyValue{}
}

// jsonID is an id in hexadecimal; empty for none and for an invalid one.
type jsonID []byte

// UnmarshalJSON implements json.Unmarshaler.
func (id *jsonID) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	decoded, err := hex.DecodeString(s)
	if err != nil {
		decoded = []byte{0} // the span is counted as invalid
	}
	*id = decoded
	return nil
}

// jsonNumber is a number of 64 bits, as text or not.
type jsonNumber uint64

// UnmarshalJSON implements json.Unmarshaler.
func (n *jsonNumber) UnmarshalJSON(text []byte) error {
	digits := string(bytes.Trim(text, `"`))
	if digits == "null" || digits == "" {
		return nil
	}
	v, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		signed, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return errMalformed // without its text, which may be anything
		}
		v = uint64(signed)
	}
	*n = jsonNumber(v)
	return nil
}

// spanJSON reads one span.
func (b *batch) spanJSON(d *json.Decoder) error {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return err
	}
	b.all++
	if len(raw) > maxSpan {
		b.invalid++
		return nil
	}
	var j jsonSpan
	if err := json.Unmarshal(raw, &j); err != nil {
		return err
	}
	s := span{
		name: b.texts.of([]byte(j.Name), maxName), kind: kind(min(j.Kind, 255)),
		from: uint64(j.Start), to: uint64(j.End),
		status: status(min(j.Status.Code, 255)), message: b.texts.of([]byte(j.Status.Message), maxValue),
	}
	if !s.ids(j.TraceID, j.SpanID, j.ParentSpanID) {
		b.invalid++
		return nil
	}
	if !b.admit(j.TraceID) {
		return nil
	}
	var a attributes
	for i := range j.Attributes {
		a.add([]byte(j.Attributes[i].Key), j.Attributes[i].Value.value(), b.texts)
	}
	a.into(&s, b.shapes)
	b.spans = append(b.spans, s)
	return nil
}

// object calls f after each key of an object; f reads the value. A null is an
// empty object.
func object(d *json.Decoder, f func(key string) error) error {
	open, err := d.Token()
	if open == nil || err != nil {
		return err
	}
	if open != json.Delim('{') {
		return errMalformed
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := f(key.(string)); err != nil { // a key is always a string
			return err
		}
	}
	_, err = d.Token()
	return err
}

// list calls f for each element of a list; f reads it. A null is an empty list.
func list(d *json.Decoder, f func() error) error {
	open, err := d.Token()
	if open == nil || err != nil {
		return err
	}
	if open != json.Delim('[') {
		return errMalformed
	}
	for d.More() {
		if err := f(); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// skip skips a value.
func skip(d *json.Decoder) error {
	var raw json.RawMessage
	return d.Decode(&raw)
}
