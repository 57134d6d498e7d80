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

	"github.com/redline-go/redline/load/check"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/http2"
	"github.com/redline-go/redline/scenario"
)

// checking is an answer under inspection, with room for it.
type checking struct {
	answer      check.Answer
	name, value []byte
	kept        []byte       // messages
	json        []byte       // of the messages
	compact     bytes.Buffer // the same without blanks
}

// keptRoom is how much room of each kind stays for the next answer.
const keptRoom = 64 << 10

// begin readies it for an answer, whose messages are kept if checks look at
// them.
func (c *checking) begin(q *request, m *messages) {
	c.answer.Begin(q.checks)
	m.keep, m.kept = q.decode != nil, c.kept[:0]
}

// end takes back begin's additions to m.
func (c *checking) end(m *messages) {
	if c.kept = m.kept; cap(c.kept) > keptRoom {
		c.kept = nil
	}
	if cap(c.json) > keptRoom {
		c.json, c.compact = nil, bytes.Buffer{}
	}
}

// fields checks the metadata of a head or of trailers.
func (c *checking) fields(h *http2.Head) {
	c.name, c.value = h.Check(&c.answer, c.name, c.value)
}

// decoder describes the messages of a request's answers.
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

// check checks a complete answer by the request's checks.
func (c *checking) check(q *request, of *call) (failed uint64, err error) {
	switch {
	// An answer that ended within a message fails anyway; its checks see no body.
	case q.decode == nil || !of.messages.whole():
	case of.messages.long:
		c.answer.Long()
	default:
		if err := c.decode(q.decode, &of.messages); err != nil {
			return 0, err
		}
		c.answer.Body(c.compact.Bytes())
	}
	failed, _ = c.answer.End(of.x.Status)
	return failed, nil
}

// decode makes JSON of an answer's messages: one value, or a list of them.
// Fields that have their default value are in it, for checks to find.
func (c *checking) decode(d *decoder, m *messages) error {
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
	// The library inserts blanks at random, so that no code relies on its output.
	return json.Compact(&c.compact, c.json)
}

func (d *decoder) append(dst, message []byte) ([]byte, error) {
	m := dynamicpb.NewMessage(d.as)
	if err := (proto.UnmarshalOptions{AllowPartial: true, Resolver: d.s.types, RecursionLimit: deepest}).Unmarshal(message, m); err != nil {
		return dst, failure.New(failure.BadResponse, "the answer is not a %s", d.as.FullName())
	}
	dst, err := protojson.MarshalOptions{AllowPartial: true, EmitDefaultValues: true, Resolver: d.s.types}.MarshalAppend(dst, m)
	if err != nil {
		return dst, failure.New(failure.BadResponse, "the answer, a %s, has no JSON form", d.as.FullName())
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
