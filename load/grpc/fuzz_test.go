package grpc

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// FuzzMessages parses the same bytes in one piece and in pieces of one size.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02hi\x00\x00\x00\x00\x00"), 1)
	f.Add([]byte("\x01\x00\x00\x00\x00"), 3)
	f.Add([]byte("\x00\xff\xff\xff\xffshort"), 4)
	f.Fuzz(func(t *testing.T, in []byte, piece int) {
		piece = max(1, piece)
		whole, parts := messages{keep: true}, messages{}
		err := whole.feed(in)
		var partsErr error
		for rest := in; len(rest) > 0 && partsErr == nil; {
			n := min(piece, len(rest))
			partsErr, rest = parts.feed(rest[:n]), rest[n:]
		}
		if err != partsErr || whole.count != parts.count || whole.whole() != parts.whole() {
			t.Fatalf("%d messages (%v), in pieces %d (%v)", whole.count, err, parts.count, partsErr)
		}
		if err != nil || !whole.whole() {
			return
		}
		var again []byte
		count := 0
		_ = whole.each(func(m []byte) error {
			again = binary.BigEndian.AppendUint32(append(again, 0), uint32(len(m)))
			again = append(again, m...)
			count++
			return nil
		})
		if !bytes.Equal(again, in) || count != whole.count {
			t.Fatalf("%d messages, %x, of %x", count, again, in)
		}
	})
}

// FuzzWire gives arbitrary bytes to a call whose answer is checked.
func FuzzWire(f *testing.F) {
	plan := shopPlan(f, "Talk", `[{"count":1},{"count":2}]`)
	plan.Requests[0].Checks = []scenario.Check{{Name: "x", JSON: "$[0].count"}, {Name: "y", Header: "x-key"}}
	s := subject(f, plan, nil, loadtest.Want{})
	f.Add(append([]byte{200}, joined(begins(1), says(1, item, item), ends(1, "grpc-status", "0", "grpc-message", "%20"))...))
	f.Add(append([]byte{0}, joined(begins(1), says(1, item), frame(data, endStream, 1, []byte("\x01")))...))
	f.Add(append([]byte{9}, head(endStream, 1, ":status", "503", "grpc-status", "4294967296")...))
	f.Fuzz(func(t *testing.T, in []byte) { loadtest.Survive(t, s, in) })
}

// FuzzJSON compiles messages, and encodes those that take data with a row of it:
// a message that both ways of encoding accept must come out equal.
func FuzzJSON(f *testing.F) {
	s := shopSchema(f)
	f.Add(`{"userName":"{{d.a}}","item":{"count":{{d.b}}},"words":["{{d.a}}"]}`, "x", "7")
	f.Add(`{"at":"{{d.a}}","prices":{"1":{{d.b}}}}`, "2026-01-02T03:04:05Z", "1e3")
	f.Fuzz(func(t *testing.T, template, a, b string) {
		p := row(a, b)
		body, encode, err := compileBody(feeder.Template(template), p, shopMethod(t, s, "Buy"), s)
		if err != nil || encode == nil {
			if err == nil && len(body) < prefix {
				t.Errorf("%s: body %x", template, body)
			}
			return
		}
		out, err := encode.encode(nil, &encoding{rows: p.NewCursor(1)})
		if err != nil {
			return
		}
		d := decoder{as: shopMessage(t, s, "Order"), s: s}
		if _, err := d.append(nil, out[prefix:]); err != nil {
			t.Errorf("%s with %q and %q: %x: %v", template, a, b, out, err)
		}
	})
}
