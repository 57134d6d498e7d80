package grpc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/http2"
	"github.com/redline-go/redline/scenario"
)

// checking is an answer under inspection; the zero checking looks at nothing.
type checking struct {
	set    *check.Set
	answer check.Answer
	name   []byte
	value  []byte
}

func (c *checking) reset(q *request) {
	if c.set = q.checks; c.set != nil {
		c.answer.Begin(c.set)
	}
}

// fields gives it the metadata of a head or of trailers.
func (c *checking) fields(h *http2.Head) {
	if c.set == nil {
		return
	}
	for i := range h.Fields {
		c.name = append(c.name[:0], h.Fields[i].Name...)
		c.value = append(c.value[:0], h.Fields[i].Value...)
		c.answer.Header(c.name, c.value)
	}
}

// codec turns the messages of checked answers into JSON. It allocates.
type codec struct {
	json    []byte
	compact bytes.Buffer
}

// decoder says what the messages of a request's answers are.
type decoder struct {
	as   protoreflect.MessageDescriptor
	s    *schema
	list bool // the method answers with a stream, so the JSON is a list
}

// newDecoder returns nil when no check looks at messages.
func newDecoder(q scenario.Request, m protoreflect.MethodDescriptor, s *schema) *decoder {
	if !slices.ContainsFunc(q.Checks, func(c scenario.Check) bool { return c.Body || c.JSON != "" }) {
		return nil
	}
	return &decoder{m.Output(), s, m.IsStreamingServer()}
}

// check judges a complete answer by the request's checks.
func (c *call) check(q *request, codec *codec) error {
	if c.checking.set == nil {
		return nil
	}
	switch {
	case q.decode == nil || !c.messages.whole():
	case c.messages.long:
		c.checking.answer.Long()
	default:
		if err := codec.decode(q.decode, &c.messages); err != nil {
			return err
		}
		c.checking.answer.Body(codec.compact.Bytes())
	}
	c.x.Failed, _ = c.checking.answer.End(c.x.Status)
	return nil
}

// decode makes JSON of an answer's messages: one value, or a list of them.
// Fields that have their default value are in it, for checks to find.
func (c *codec) decode(d *decoder, m *messages) error {
	c.json = c.json[:0]
	c.compact.Reset()
	if d.list {
		c.json = append(c.json, '[')
	}
	first := true
	err := m.each(func(message []byte) (err error) {
		if !first {
			c.json = append(c.json, ',')
		}
		first = false
		c.json, err = d.append(c.json, message)
		return err
	})
	if d.list {
		c.json = append(c.json, ']')
	}
	if err != nil || len(c.json) == 0 {
		return err
	}
	// The library puts blanks in at random, so that nobody relies on them.
	return json.Compact(&c.compact, c.json)
}

func (d *decoder) append(dst, message []byte) ([]byte, error) {
	m := dynamicpb.NewMessage(d.as)
	if err := (proto.UnmarshalOptions{AllowPartial: true, Resolver: d.s.types, RecursionLimit: deepest}).Unmarshal(message, m); err != nil {
		return dst, fault(load.KindBadResponse, "the answer is not a %s", d.as.FullName())
	}
	dst, err := protojson.MarshalOptions{AllowPartial: true, EmitDefaultValues: true, Resolver: d.s.types}.MarshalAppend(dst, m)
	if err != nil {
		return dst, fault(load.KindBadResponse, "the answer, a %s, has no JSON form", d.as.FullName())
	}
	return dst, nil
}

// checkedFields are the fields that checks of the plan look at.
func checkedFields(p *scenario.Plan) (names []string) {
	for _, q := range p.Requests {
		for _, c := range q.Checks {
			if name := strings.ToLower(c.Header); name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}
