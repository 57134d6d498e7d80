package loadtest

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/scenario/feeder"
)

// dialogue drives wires through a subject's exchanges as the event loop does,
// without a socket, and asserts the rules of load.Wire on the way.
type dialogue struct {
	t      *testing.T
	s      Subject
	cut    func(pending int) int // how many of the pending bytes to deliver next
	cursor *feeder.Cursor

	wires  map[int]load.Wire // of each host
	first  bool              // the next open is the wire's first
	host   int
	wire   load.Wire // open now; nil for none
	target func([]byte) ([]byte, bool)
	shut   bool

	now       time.Duration
	pending   []byte // from the target
	delivered int
	opened    int

	next     int // exchange to send
	underWay []*pendingExchange
	became   []outcome
	done     []*load.Exchange // ended, and emptied since
}

type pendingExchange struct {
	load.Exchange
	index int
}

var marker = []byte("before")

func newDialogue(t *testing.T, s Subject, cut func(int) int) *dialogue {
	d := &dialogue{t: t, s: s, cut: cut, wires: map[int]load.Wire{}, now: time.Second, became: make([]outcome, len(s.Exchanges))}
	if s.Plan != nil && len(s.Plan.Data) > 0 {
		d.cursor = s.Plan.NewCursor(1)
	}
	return d
}

func (d *dialogue) run() { d.runTo(-1) }

// runTo drives the dialogue to its end, or until the given number of bytes was delivered.
func (d *dialogue) runTo(limit int) {
	d.t.Helper()
	for steps := 0; ; steps++ {
		if d.t.Failed() {
			d.t.FailNow()
		}
		// No clock: a wire that makes no progress is found by its steps, however slow the host.
		if steps > 1<<22 {
			d.t.Fatal("the dialogue does not end")
		}
		// Cut within the bytes of an answer, for what a connection that ends there leaves.
		if limit >= 0 && d.delivered >= limit && (d.delivered > 0 || d.opened > 0) {
			return
		}
		if d.next == len(d.s.Exchanges) && len(d.underWay) == 0 {
			d.checkDone()
			return
		}
		d.step()
	}
}

// step does the one thing that is next: open, send, deliver or shut.
func (d *dialogue) step() {
	var host int
	if d.next < len(d.s.Exchanges) {
		host = d.s.Protocol.Host(d.s.Exchanges[d.next].Request)
	}
	// The loop replaces a connection only when nothing is in progress on it.
	if d.wire != nil && len(d.underWay) == 0 {
		if _, over := d.wire.State(); over || d.host != host {
			d.wire = nil
		}
	}
	if d.wire == nil {
		d.open(host)
		return
	}
	room, over := d.state()
	switch {
	// What is on its way while nothing is in progress comes first, or what became
	// of the next exchange would depend on the pieces.
	case len(d.underWay) == 0 && len(d.pending) > 0:
		d.receive(d.cut(len(d.pending)))
	case len(d.underWay) == 0 && d.shut:
		d.end()
	case d.next < len(d.s.Exchanges) && room > 0 && host == d.host && len(d.underWay) < max(1, d.s.Streams):
		d.send()
	case len(d.pending) > 0:
		d.receive(d.cut(len(d.pending)))
	case d.shut:
		d.end()
	case over:
		d.t.Error("the wire is over and left exchanges neither ended nor failed")
	default:
		d.t.Errorf("stuck: the target has no more to say, %d exchanges are under way, room %d", len(d.underWay), room)
	}
}

// state returns the wire's state; over must have no room.
func (d *dialogue) state() (room int, over bool) {
	room, over = d.wire.State()
	if room < 0 || over && room != 0 {
		d.t.Errorf("State is room %d, over %v", room, over)
	}
	return room, over
}

func (d *dialogue) open(host int) {
	// One wire per host for the whole dialogue, as a link keeps its wire: state that should go
	// with the connection and stays is found by the second Open.
	w := d.wires[host]
	if w == nil {
		w = d.s.Protocol.Wire(host)
		d.wires[host] = w
	}
	d.wire, d.host, d.pending, d.shut = w, host, nil, false
	// The target begins anew with each connection.
	d.target = d.s.Target()
	d.opened++
	d.flush(w.Open(d.before()))
	if _, over := d.state(); over {
		d.t.Fatal("the wire is over right after Open")
	}
}

// before is the content of out before a wire is called.
// It holds a marker, with room behind it: a wire that writes over what other wires of the
// loop have gathered is caught, and so is one that keeps the slice, which flush clears.
func (d *dialogue) before() []byte { return append(make([]byte, 0, 256), marker...) }

// flush hands a wire's output to the target.
func (d *dialogue) flush(out []byte) {
	sent, ok := bytes.CutPrefix(out, marker)
	if !ok {
		d.t.Fatalf("out begins with %q and not with what it held before", out[:min(len(out), 20)])
	}
	if len(sent) > 0 && !d.shut {
		answer, shut := d.target(sent)
		d.pending, d.shut = append(d.pending, answer...), shut
	}
	clear(out)
	if drainer, ok := d.wire.(load.Drainer); ok {
		d.now += time.Millisecond
		d.ended(drainer.Drained(d.now, nil), true)
	}
}

func (d *dialogue) send() {
	// A new exchange each time: checkDone must still find the ended ones untouched.
	p := &pendingExchange{index: d.next}
	p.Request, p.Data, p.Slot = d.s.Exchanges[d.next].Request, d.cursor, d.slot()
	d.next++
	room, _ := d.wire.State()
	out, err := d.wire.Send(&p.Exchange, d.before())
	if err != nil {
		if !bytes.Equal(out, marker) {
			d.t.Errorf("Send fails (%v) and appends %q", err, out)
		}
		d.became[p.index] = outcome{kind: failure.Of(err), ended: true}
		return
	}
	p.Sent = d.now
	d.underWay = append(d.underWay, p)
	// Without this a loop would hand out one more request than the wire takes.
	if now, over := d.state(); now >= room && !over {
		d.t.Errorf("room is %d after Send, and was %d before", now, room)
	}
	d.flush(out)
	if d.cursor != nil {
		d.cursor.Next()
	}
}

// slot returns the lowest one that no exchange in progress has.
func (d *dialogue) slot() int {
	for slot := 0; ; slot++ {
		taken := false
		for _, p := range d.underWay {
			taken = taken || p.Slot == slot
		}
		if !taken {
			return slot
		}
	}
}

func (d *dialogue) receive(n int) {
	d.now += time.Millisecond
	// A copy, overwritten below: a wire that keeps a slice of it reads garbage later, as it
	// would with the loop's one read buffer.
	in := bytes.Clone(d.pending[:n])
	d.pending = d.pending[n:]
	d.delivered += n
	wasOver := d.over()
	// ended begins with a nil of the caller's: a wire appends, and does not start over.
	out, ended, err := d.wire.Receive(in, d.now, d.before(), []*load.Exchange{nil})
	for i := range in {
		in[i] = 0xa5 // the caller's again
	}
	if len(ended) == 0 || ended[0] != nil {
		d.t.Fatal("ended lost what it held before")
	}
	if wasOver && !d.over() {
		d.t.Error("the wire was over and is no more, without Open")
	}
	d.ended(ended[1:], false)
	if err != nil {
		d.fail(err)
		return
	}
	d.flush(out)
}

func (d *dialogue) over() bool { _, over := d.state(); return over }

// end notifies the wire that the target sends no more.
func (d *dialogue) end() {
	d.now += time.Millisecond
	ended, err := d.wire.Shut(d.now, nil)
	d.ended(ended, false)
	if len(d.underWay) > 0 && err == nil {
		d.t.Errorf("Shut says nothing of %d exchanges under way", len(d.underWay))
	}
	d.fail(err)
}

// fail ends the exchanges in progress with err, and the connection.
func (d *dialogue) fail(err error) {
	// As the loop does: every exchange in progress on a connection fails with it.
	for _, p := range d.underWay {
		d.became[p.index] = outcome{kind: failure.Of(err), status: p.Status, bytesIn: p.BytesIn, ended: true}
	}
	if len(d.underWay) == 0 && err != nil && d.next < len(d.s.Exchanges) {
		// The wire's own handshake failed: so did the exchanges that wait for it.
		d.became[d.next] = outcome{kind: failure.Of(err), ended: true}
		d.next++
	}
	d.underWay, d.wire = nil, nil
}

// ended takes the exchanges that a call ended.
func (d *dialogue) ended(all []*load.Exchange, sent bool) {
	for _, x := range all {
		var p *pendingExchange
		for i := range d.underWay {
			if &d.underWay[i].Exchange == x {
				p = d.underWay[i]
				d.underWay = append(d.underWay[:i], d.underWay[i+1:]...)
				break
			}
		}
		if p == nil {
			d.t.Fatalf("an exchange ended that is not under way (a second time?): %+v", x)
		}
		// The clock moves with each call, so that a time of another call stands out.
		if x.Done != d.now || x.FirstByte > x.Done || x.FirstByte == 0 && x.BytesIn > 0 || x.FirstByte == 0 && !sent && x.Err == nil {
			d.t.Errorf("exchange %d ended at %v with FirstByte %v and Done %v", p.index, d.now, x.FirstByte, x.Done)
		}
		if x.BytesOut <= 0 {
			d.t.Errorf("exchange %d: %d bytes out", p.index, x.BytesOut)
		}
		d.became[p.index] = outcome{
			kind: failure.Of(x.Err), status: x.Status, failed: x.Failed, bytesIn: x.BytesIn,
			redirect: string(x.Redirect), ended: true,
		}
		// Emptied as the loop does when it begins the next request with it; checkDone finds
		// wires that still write to it.
		*x = load.Exchange{}
		d.done = append(d.done, x)
	}
}

// cancel gives up everything that is in progress.
func (d *dialogue) cancel() {
	d.t.Helper()
	for len(d.underWay) > 0 {
		p := d.underWay[0]
		d.underWay = d.underWay[1:]
		d.became[p.index] = outcome{ended: true, given: true}
		// A wire that cannot drop one exchange gives up the connection, and all others on it.
		out, keep := d.wire.Cancel(&p.Exchange, d.before())
		p.Exchange = load.Exchange{}
		d.done = append(d.done, &p.Exchange)
		if !keep {
			for _, other := range d.underWay {
				d.became[other.index] = outcome{ended: true, given: true}
			}
			d.underWay, d.wire = nil, nil
			return
		}
		d.flush(out)
	}
}

// checkDone looks for exchanges that were touched after they ended.
func (d *dialogue) checkDone() {
	d.t.Helper()
	for _, x := range d.done {
		if !reflect.ValueOf(*x).IsZero() {
			d.t.Fatalf("an exchange was touched after it ended: %+v", *x)
		}
	}
}

func (d *dialogue) compare(want []outcome) {
	d.t.Helper()
	for i, got := range d.became {
		w := want[i]
		// How far a given-up exchange came depends on the pieces.
		if got.given {
			continue
		}
		if w.kind != "" {
			// How much of a bad answer was taken depends on the pieces.
			got.bytesIn, w.bytesIn = 0, 0
		}
		if got != w {
			d.t.Fatalf("exchange %d: %v, and in one piece: %v (%d bytes delivered)", i, got, w, d.delivered)
		}
	}
}
