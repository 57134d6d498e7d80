package http2

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/scenario"
)

// answer200 is an answer such as nginx makes, to a stream.
func answer200(out []byte, id uint32) []byte {
	block := AppendField(nil, ":status", "200", false)
	block = AppendField(block, "server", "nginx/1.22.1", false)
	block = AppendField(block, "date", "Sat, 21 Nov 2026 15:46:40 GMT", false)
	block = AppendField(block, "content-type", "text/plain", false)
	block = AppendField(block, "content-length", "13", false)
	out = appendFrame(out, len(block), frameHeaders, flagEndHeaders, id)
	out = append(out, block...)
	out = appendFrame(out, 13, frameData, flagEndStream, id)
	return append(out, "hello, world\n"...)
}

// hello is what a target sends first: its settings and, in its answer on stream 1, that
// it uses no table.
func hello() []byte {
	in := appendFrame(nil, 6, frameSettings, 0, 0)
	in = appendSetting(in, settingStreams, 1<<20)
	in = appendFrame(in, 2, frameHeaders, flagEndHeaders|flagEndStream, 1)
	return append(in, 0x20, 0x88)
}

// busy is a wire with as many exchanges as it has slots, again and again.
type busy struct {
	t         testing.TB
	wire      load.Wire
	exchanges []load.Exchange
	ended     []*load.Exchange
	in, out   []byte
	ids       []int // offsets of stream ids within in
	id        uint32
	now       time.Duration
}

func newBusy(t testing.TB, streams int) *busy {
	p, err := New(&scenario.Plan{
		Load:     scenario.Load{Streams: streams},
		Requests: []scenario.Request{{Name: "get", URL: "http://127.0.0.1:8080/"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &busy{t: t, wire: p.Wire(0), exchanges: make([]load.Exchange, streams)}
	for range streams {
		at := len(b.in)
		b.in = answer200(b.in, 0)
		body := at + frameHead + parseFrame(b.in[at:]).length
		b.ids = append(b.ids, at+5, body+5)
	}
	b.open()
	return b
}

func (b *busy) open() {
	b.out = b.wire.Open(b.out[:0])
	b.send(1)
	b.receive(hello(), 1)
	b.id = 3
}

func (b *busy) send(n int) {
	b.out = b.out[:0]
	for slot := range b.exchanges[:n] {
		b.exchanges[slot] = load.Exchange{Slot: slot}
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
		binary.BigEndian.PutUint32(b.in[at:], b.id+uint32(i&^1))
	}
	b.id += uint32(len(b.ids))
	b.send(len(b.exchanges))
	b.receive(b.in, len(b.exchanges))
}

// BenchmarkExchange is the wire's part in one exchange, with 32 streams at once.
func BenchmarkExchange(b *testing.B) {
	const streams = 32
	all := newBusy(b, streams)
	b.ReportAllocs()
	for done := 0; done < b.N; done += streams {
		all.round()
	}
}

func TestExchangesAllocateNothing(t *testing.T) {
	all := newBusy(t, 8)
	if n := testing.AllocsPerRun(100, all.round); n != 0 {
		t.Errorf("%v allocations in 8 exchanges", n)
	}
}
