package grpc

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/http2"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// busy is a wire with as many exchanges as it has slots, again and again. Every
// answer has the same frames, into which the streams' ids are put.
type busy struct {
	t         testing.TB
	wire      load.Wire
	answer    func(id uint32) []byte
	rows      *feeder.Cursor
	exchanges []load.Exchange
	ended     []*load.Exchange
	in, out   []byte
	ids       []int // offsets of ids within in
	per       int   // ids of one answer
	id        uint32
	now       time.Duration
}

func newBusy(t testing.TB, p load.Protocol, plan *scenario.Plan, answer func(id uint32) []byte) *busy {
	b := &busy{t: t, wire: p.Wire(0), answer: answer, exchanges: make([]load.Exchange, plan.Load.Streams)}
	if len(plan.Data) > 0 {
		b.rows = plan.NewCursor(1)
	}
	for range b.exchanges {
		at := len(b.in)
		b.in = append(b.in, answer(0)...)
		b.per = 0
		for at < len(b.in) {
			b.ids = append(b.ids, at+5)
			at += frameHead + int(b.in[at])<<16 + int(b.in[at+1])<<8 + int(b.in[at+2])
			b.per++
		}
	}
	b.open()
	return b
}

// open begins a connection with a call whose head says that the target uses no
// table, as servers do on request.
func (b *busy) open() {
	b.out = b.wire.Open(b.out[:0])
	b.send(1)
	first := b.answer(1)
	block := append([]byte{0x20}, first[frameHead:frameHead+int(first[2])]...)
	b.receive(joined(frame(settings, 0, 0, nil), frame(headers, first[4], 1, block), first[frameHead+int(first[2]):]), 1)
	b.id = 3
}

func (b *busy) send(n int) {
	b.out = b.out[:0]
	for slot := range b.exchanges[:n] {
		if b.rows != nil {
			b.rows.Next()
		}
		b.exchanges[slot] = load.Exchange{Slot: slot, Data: b.rows}
		b.out, _ = b.wire.Send(&b.exchanges[slot], b.out)
	}
}

func (b *busy) receive(in []byte, n int) {
	var err error
	b.now++
	b.out, b.ended, err = b.wire.Receive(in, b.now, b.out[:0], b.ended[:0])
	if err != nil || len(b.ended) != n || b.ended[n-1].Err != nil {
		b.t.Fatal(err, len(b.ended))
	}
}

// round carries one exchange in each slot.
func (b *busy) round() {
	if room, _ := b.wire.State(); room == 0 {
		b.open() // all ids are used up
	}
	for i, at := range b.ids {
		binary.BigEndian.PutUint32(b.in[at:], b.id+2*uint32(i/b.per))
	}
	b.id += 2 * uint32(len(b.exchanges))
	b.send(len(b.exchanges))
	b.receive(b.in, len(b.exchanges))
}

func bought(id uint32) []byte {
	return joined(head(0, id, ":status", "200", "content-type", "application/grpc"), says(id, item),
		head(endStream, id, "grpc-status", "0", "grpc-message", ""))
}

func page(id uint32) []byte {
	return joined(head(0, id, ":status", "200", "server", "nginx/1.22.1", "date", "Sat, 21 Nov 2026 15:46:40 GMT",
		"content-type", "text/plain", "content-length", "13"), frame(data, endStream, id, []byte("hello, world\n")))
}

// busies are wires to compare: plain HTTP/2, a call, calls with data that is
// encoded by field and through JSON, and a call whose answer is checked.
func busies(t testing.TB, streams int) map[string]*busy {
	web := &scenario.Plan{Requests: []scenario.Request{{Name: "get", URL: "http://127.0.0.1:8080/"}}}
	still := shopPlan(t, "Buy", `{"userName":"somebody","item":{"count":7}}`)
	rows := shopPlan(t, "Buy", `{"userName":"{{d.a}}","item":{"count":{{d.b}}}}`)
	rows.Data = row("somebody", "7").Data
	slow := shopPlan(t, "Buy", `{"userName":"{{d.a}}","item":{"count":{{d.b}}},"at":"2026-01-0{{d.b}}T00:00:00Z"}`)
	slow.Data = rows.Data
	checked := shopPlan(t, "Buy", `{}`)
	checked.Requests[0].Checks = []scenario.Check{{Name: "x", JSON: "$.userName", Contains: "x"}}
	for _, p := range []*scenario.Plan{web, still, rows, slow, checked} {
		p.Load.Streams = streams
	}
	plain, err := http2.New(web)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*busy{
		"http2":     newBusy(t, plain, web, page),
		"call":      newBusy(t, newProtocol(t, still), still, bought),
		"data":      newBusy(t, newProtocol(t, rows), rows, bought),
		"data-json": newBusy(t, newProtocol(t, slow), slow, bought),
		"checked": newBusy(t, newProtocol(t, checked), checked, func(id uint32) []byte {
			return joined(head(0, id, ":status", "200", "content-type", "application/grpc"), says(id, "\x0a\x01x"),
				head(endStream, id, "grpc-status", "0"))
		}),
	}
}

// BenchmarkExchange is the wire's part in one exchange, with 32 streams at once.
func BenchmarkExchange(b *testing.B) {
	const streams = 32
	all := busies(b, streams)
	for _, name := range []string{"http2", "call", "data", "data-json", "checked"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for done := 0; done < b.N; done += streams {
				all[name].round()
			}
		})
	}
}

func TestCallsAllocateNothing(t *testing.T) {
	if loadtest.Race {
		t.Skip("the race detector is on")
	}
	all := busies(t, 8)
	for _, name := range []string{"call", "data"} {
		if n := testing.AllocsPerRun(100, all[name].round); n != 0 {
			t.Errorf("%s: %v allocations in 8 calls", name, n)
		}
	}
}
