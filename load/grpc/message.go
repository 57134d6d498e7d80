package grpc

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// prefix is the part before each message: a flag and its length.
// https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
const prefix = 5

// compileBody makes the messages of a request, prefixes included. It returns
// them in full when no data goes into them, else their encoders.
func compileBody(t feeder.Template, p *scenario.Plan, m protoreflect.MethodDescriptor, s *schema) ([]byte, encoder, error) {
	// A message of no field is a message: google.protobuf.Empty, and every request by default.
	if strings.TrimSpace(string(t)) == "" {
		t = "{}"
	}
	body, err := parseJSON(t, p)
	if err != nil {
		return nil, nil, err
	}
	// Only a client's stream takes several. For other methods a list is a mistake, named here
	// before protojson reports it in terms of its own.
	messages := []*node{body}
	if body.kind == listNode {
		if messages = body.inner; !m.IsStreamingClient() {
			return nil, nil, fmt.Errorf("method %s takes one message, and this is a list", m.Name())
		}
	}
	all := sequence{}
	for i, n := range messages {
		encoded, err := compileMessage(n, m.Input(), s)
		if err != nil && body.kind == listNode {
			err = fmt.Errorf("message %d: %w", i+1, err)
		}
		if err != nil {
			return nil, nil, err
		}
		all = append(all, &framed{encoded})
	}
	if body.filled {
		return nil, all, nil
	}
	// Not nil where it is empty: a stream of no message is sent, too.
	whole, err := all.encode([]byte{}, &encoding{})
	return whole, nil, err
}

// framed is a message with its prefix.
type framed struct{ message encoder }

func (f *framed) encode(dst []byte, e *encoding) ([]byte, error) {
	begin := len(dst)
	// The length is known only after the message, so room is left for it and filled in.
	dst, err := f.message.encode(append(dst, make([]byte, prefix)...), e)
	if err != nil {
		return dst, err
	}
	length := len(dst) - begin - prefix
	if length > math.MaxUint32 {
		return dst, fmt.Errorf("a message of %d bytes is longer than gRPC has", length)
	}
	binary.BigEndian.PutUint32(dst[begin+1:], uint32(length))
	return dst, nil
}

// compileMessage makes a message from its JSON. If data goes into it, fields are
// encoded one by one; types with a JSON form of their own, such as
// google.protobuf.Timestamp, make the whole message a rendered one.
func compileMessage(n *node, as protoreflect.MessageDescriptor, s *schema) (encoder, error) {
	// The whole message is one placeholder: only each row says what it is.
	if n.kind == bareNode {
		return &rendered{jsonPieces{n.text, []bool{false}}, as, s}, nil
	}
	if err := checkFields(n, as); err != nil {
		return nil, err
	}
	if !n.filled {
		return encodeJSON(n.json(), as, s)
	}
	encoded, err := compileFields(n, as, s)
	if errors.Is(err, errOwnJSON) {
		w := jsonPieces{}
		n.appendJSON(&w)
		return &rendered{w, as, s}, nil
	}
	return encoded, err
}

// rendered is a message that goes through JSON for each request. That allocates,
// and takes some twenty times as long as encoding its fields (5 us, not 0.2).
type rendered struct {
	json jsonPieces
	as   protoreflect.MessageDescriptor
	s    *schema
}

func (r *rendered) encode(dst []byte, e *encoding) ([]byte, error) {
	e.text = e.text[:0]
	for i, p := range r.json.pieces {
		// One buffer per encoding, kept from request to request.
		e.text = append(e.text, p.text...)
		switch {
		case p.data == nil:
		case r.json.quoted[i]:
			text, _ := json.Marshal(string(p.data.Append(nil, e.rows))) // a string always marshals
			e.text = append(e.text, text[1:len(text)-1]...)
		default:
			e.text = p.data.Append(e.text, e.rows)
		}
	}
	// Through JSON once more, so that a Timestamp or an Any of this row is checked and encoded
	// by the library's rules.
	encoded, err := encodeJSON(e.text, r.as, r.s)
	if err != nil {
		// Without the error, which has the value in it.
		return dst, fmt.Errorf("with the data of this row it is not a %s", r.as.FullName())
	}
	return append(dst, encoded...), nil
}

// encodeJSON encodes a message that is whole.
func encodeJSON(text []byte, as protoreflect.MessageDescriptor, s *schema) (fixed, error) {
	m := dynamicpb.NewMessage(as)
	if err := (protojson.UnmarshalOptions{AllowPartial: true, Resolver: s.types, RecursionLimit: deepest}).Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("not a %s: %w", as.FullName(), err)
	}
	// Deterministic, or maps would come in another order each time and runs would differ in
	// their bytes.
	return proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(m)
}

// errOwnJSON is returned for messages that cannot be encoded field by field.
var errOwnJSON = errors.New("grpc: the message has a JSON form of its own")

// ownJSON reports whether a message's JSON is not an object of its fields.
func ownJSON(m protoreflect.MessageDescriptor) bool {
	// Timestamp is a string in JSON, ListValue a list, Any an object with "@type":
	// https://protobuf.dev/programming-guides/json/
	return m.ParentFile().Package() == "google.protobuf"
}

// fieldOf finds a field by the name that it has in JSON or in the schema.
func fieldOf(m protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	// lowerCamelCase in JSON, snake_case as declared: parsers must accept both.
	// https://protobuf.dev/programming-guides/json/#field-names
	if f := m.Fields().ByJSONName(name); f != nil {
		return f
	}
	return m.Fields().ByTextName(name)
}

// checkFields checks the names in a message, for an error that lists the known ones.
// Values are checked by encoding them. A bool that is one placeholder in quotes loses
// the quotes, because YAML cannot write it without.
func checkFields(n *node, as protoreflect.MessageDescriptor) error {
	if n.kind != objectNode || ownJSON(as) {
		return nil
	}
	for i, name := range n.names {
		f := fieldOf(as, name)
		switch {
		case f == nil && strings.HasPrefix(name, "["):
			continue // an extension
		case f == nil:
			return unknown(string(as.FullName())+" has no field", name, fieldNames(as))
		case f.Kind() == protoreflect.BoolKind:
			n.inner[i].unquote()
			continue
		case f.Message() == nil:
			continue
		}
		values := []*node{n.inner[i]}
		of := f.Message()
		if f.IsList() || f.IsMap() {
			values = n.inner[i].inner
		}
		if f.IsMap() {
			if of = f.MapValue().Message(); of == nil {
				continue
			}
		}
		for _, v := range values {
			if err := checkFields(v, of); err != nil {
				return err
			}
		}
	}
	return nil
}

func fieldNames(m protoreflect.MessageDescriptor) (names []string) {
	// As declared, which is how a reader finds them in the schema.
	for i := range m.Fields().Len() {
		names = append(names, m.Fields().Get(i).TextName())
	}
	return names
}

// compileFields encodes the fields of a message: those without data once, the
// others by encoders of their own.
func compileFields(n *node, as protoreflect.MessageDescriptor, s *schema) (encoder, error) {
	if n.kind != objectNode || ownJSON(as) {
		return nil, errOwnJSON
	}
	still := &node{kind: objectNode}
	encoders := sequence{nil}
	var given []protoreflect.Descriptor // fields and oneofs
	for i, name := range n.names {
		f, value := fieldOf(as, name), n.inner[i]
		if f == nil || f.Kind() == protoreflect.GroupKind {
			return nil, errOwnJSON
		}
		once := protoreflect.Descriptor(f)
		// Two members of a oneof in one message: parsers keep the last (proto3 language guide,
		// "Oneof"), so the other would be sent in vain.
		if of := f.ContainingOneof(); of != nil {
			once = of
		}
		if slices.Contains(given, once) {
			return nil, fmt.Errorf("%s is given twice in %s", once.Name(), as.FullName())
		}
		given = append(given, once)
		if !value.filled {
			still.names, still.inner = append(still.names, name), append(still.inner, value)
			continue
		}
		encoded, err := compileField(f, value, s)
		if err != nil {
			return nil, err
		}
		encoders = append(encoders, encoded)
	}
	// Fields without data are encoded once, before the rest: the order of fields has no
	// meaning.
	before, err := encodeJSON(still.json(), as, s)
	encoders[0] = before
	return encoders, err
}

// compileField encodes a field that data goes into. A list may be packed or
// not, whatever its field says: parsers take both.
// https://protobuf.dev/programming-guides/encoding/#packed
func compileField(f protoreflect.FieldDescriptor, value *node, s *schema) (encoder, error) {
	switch {
	case f.IsMap():
		return compileMap(f, value, s)
	case !f.IsList():
		return compileValue(f, value, s)
	case value.kind != listNode:
		return nil, errOwnJSON
	}
	var elements sequence
	for _, v := range value.inner {
		encoded, err := compileElement(f, v, s)
		if err != nil {
			return nil, err
		}
		elements = append(elements, encoded)
	}
	return elements, nil
}

func compileElement(f protoreflect.FieldDescriptor, v *node, s *schema) (encoder, error) {
	if v.filled {
		return compileValue(f, v, s)
	}
	one := &node{kind: objectNode, names: []string{f.TextName()}, inner: []*node{{kind: listNode, inner: []*node{v}}}}
	return encodeJSON(one.json(), f.ContainingMessage(), s)
}

// compileMap encodes a map: a list of messages of a key and a value.
func compileMap(f protoreflect.FieldDescriptor, value *node, s *schema) (encoder, error) {
	if value.kind != objectNode {
		return nil, errOwnJSON
	}
	var entries sequence
	for i, v := range value.inner {
		key := f.MapKey()
		before, err := appendScalar(tagOf(key), key, []byte(value.names[i]))
		if err != nil {
			return nil, fmt.Errorf("%.100q cannot be a key of %s", value.names[i], f.FullName())
		}
		encoded, err := compileValue(f.MapValue(), v, s)
		if err != nil {
			return nil, err
		}
		entries = append(entries, &nested{tagOf(f), sequence{fixed(before), encoded}})
	}
	return entries, nil
}

// compileValue encodes a single value, with its tag.
func compileValue(f protoreflect.FieldDescriptor, v *node, s *schema) (encoder, error) {
	if m := f.Message(); m != nil {
		if !v.filled {
			inner, err := encodeJSON(v.json(), m, s)
			return &nested{tagOf(f), inner}, err
		}
		inner, err := compileFields(v, m, s)
		return &nested{tagOf(f), inner}, err
	}
	pieces, ok := v.scalar()
	if !ok || v.kind == literalNode && v.literal == "null" {
		return nil, fmt.Errorf("field %s takes one value of type %s", f.FullName(), f.Kind())
	}
	switch f.Kind() {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.EnumKind:
		if v.kind != textNode {
			return nil, errOwnJSON // the data includes its quotes
		}
	}
	return &scalar{tagOf(f), f, pieces}, nil
}

// tagOf is the tag before a value of a field.
func tagOf(f protoreflect.FieldDescriptor) []byte {
	return protowire.AppendTag(nil, f.Number(), wireTypes[f.Kind()])
}

// wireTypes are the wire types of single values.
// https://protobuf.dev/programming-guides/encoding/#structure
var wireTypes = map[protoreflect.Kind]protowire.Type{
	protoreflect.BoolKind:     protowire.VarintType,
	protoreflect.EnumKind:     protowire.VarintType,
	protoreflect.Int32Kind:    protowire.VarintType,
	protoreflect.Sint32Kind:   protowire.VarintType,
	protoreflect.Uint32Kind:   protowire.VarintType,
	protoreflect.Int64Kind:    protowire.VarintType,
	protoreflect.Sint64Kind:   protowire.VarintType,
	protoreflect.Uint64Kind:   protowire.VarintType,
	protoreflect.Sfixed32Kind: protowire.Fixed32Type,
	protoreflect.Fixed32Kind:  protowire.Fixed32Type,
	protoreflect.FloatKind:    protowire.Fixed32Type,
	protoreflect.Sfixed64Kind: protowire.Fixed64Type,
	protoreflect.Fixed64Kind:  protowire.Fixed64Type,
	protoreflect.DoubleKind:   protowire.Fixed64Type,
	protoreflect.StringKind:   protowire.BytesType,
	protoreflect.BytesKind:    protowire.BytesType,
	protoreflect.MessageKind:  protowire.BytesType,
}
