package loadtest

import (
	"runtime"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
)

// steady is how many exchanges are watched for allocations, after as many that may still grow buffers.
const steady = 100

// allocations fails when wires allocate per exchange. Only calls of the wire
// are counted: the target may allocate freely.
func allocations(t *testing.T, s Subject, opened int) {
	if Race {
		t.Skip("the race detector is on")
	}
	for _, w := range s.Exchanges {
		if w.Kind != "" {
			t.Skip("not all exchanges succeed")
		}
	}
	if opened != 1 {
		t.Skip("not all exchanges go over one connection")
	}
	a := &allocator{d: newDialogue(t, s, nil), x: load.Exchange{}}
	for round := range 2 * steady {
		a.counting = round >= steady
		a.exchange(s.Exchanges[round%len(s.Exchanges)].Request)
	}
	// The runtime's own allocations meanwhile are far below one per exchange.
	if a.objects >= steady/2 {
		t.Errorf("%d allocations in %d exchanges", a.objects, steady)
	}
}

// allocator drives one exchange at a time through buffers of its own.
type allocator struct {
	d        *dialogue
	x        load.Exchange
	out      []byte
	ended    []*load.Exchange
	counting bool
	objects  uint64
}

func (a *allocator) exchange(request int) {
	d := a.d
	if d.wire == nil {
		host := d.s.Protocol.Host(request)
		d.wire, d.target = d.s.Protocol.Wire(host), d.s.Target()
		a.flush(d.wire.Open(nil))
	}
	for {
		if room, _ := d.wire.State(); room > 0 {
			break
		}
		a.receive()
	}
	if d.cursor != nil {
		d.cursor.Next()
	}
	a.x = load.Exchange{Request: request, Data: d.cursor}
	// Buffers go from call to call, as the loop's do: what a wire appends must fit or grow
	// them, and afterwards cost nothing.
	a.count(func() { a.out, _ = d.wire.Send(&a.x, a.out[:0]) })
	a.ended = a.ended[:0]
	a.flush(a.out)
	for len(a.ended) == 0 {
		a.receive()
	}
}

func (a *allocator) receive() {
	d := a.d
	if len(d.pending) == 0 {
		d.t.Fatal("the target has no more to say")
	}
	in := d.pending
	d.now += time.Millisecond
	a.count(func() { a.out, a.ended, _ = d.wire.Receive(in, d.now, a.out[:0], a.ended) })
	d.pending = d.pending[:0]
	a.flush(a.out)
}

func (a *allocator) flush(out []byte) {
	if len(out) > 0 {
		answer, _ := a.d.target(out)
		a.d.pending = append(a.d.pending, answer...)
	}
	if drainer, ok := a.d.wire.(load.Drainer); ok {
		a.ended = drainer.Drained(a.d.now, a.ended)
	}
}

// count adds the objects that call allocates.
func (a *allocator) count(call func()) {
	if !a.counting {
		call()
		return
	}
	var before, after runtime.MemStats
	// It stops the world, which is fine here: what counts is objects, not time.
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	a.objects += after.Mallocs - before.Mallocs
}
