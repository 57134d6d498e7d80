package loadtest

import (
	"bytes"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
)

// Survive gives a wire, which has sent its first exchange if it took one, the
// bytes of an outsider, for fuzz tests: it must not panic, end an exchange
// twice, or come back from being over. The first byte of in says how large the
// pieces are. Bytes that the subject's target answers to Open's output are
// given first, so that the outsider's come after a handshake.
func Survive(t *testing.T, s Subject, in []byte) {
	t.Helper()
	piece := 1
	if len(in) > 0 {
		piece, in = 1+int(in[0]), in[1:]
	}
	request := s.Exchanges[0].Request
	w := s.Protocol.Wire(s.Protocol.Host(request))
	out := w.Open(nil)
	if len(out) > 0 && s.Target != nil {
		answer, _ := s.Target()(out)
		in = append(bytes.Clone(answer), in...)
	}
	x := &load.Exchange{Request: request}
	if s.Plan != nil && len(s.Plan.Data) > 0 {
		x.Data = s.Plan.NewCursor(1)
	}
	sent, over, failed := false, false, false
	ended := 0
	for now := time.Duration(1); len(in) > 0 && !failed; now++ {
		room, isOver := w.State()
		switch {
		case over && !isOver:
			t.Fatal("the wire was over and is no more, without Open")
		case room < 0 || isOver && room > 0:
			t.Fatalf("State is room %d, over %v", room, isOver)
		}
		over = isOver
		if room > 0 && !sent {
			if _, err := w.Send(x, nil); err != nil {
				t.Fatal(err)
			}
			sent = true
		}
		n := min(piece, len(in))
		_, done, err := w.Receive(in[:n], now, nil, nil)
		ended, failed, in = ended+len(done), err != nil, in[n:]
	}
	if !failed {
		done, err := w.Shut(1<<40, nil)
		ended, failed = ended+len(done), err != nil
	}
	if ended > 1 || ended == 1 && !sent {
		t.Fatalf("%d exchanges ended of one at most", ended)
	}
	if sent && ended == 0 && !failed {
		t.Fatal("the exchange neither ended nor failed by the end of the connection")
	}
	// Whatever the outsider did to the wire, the next socket begins anew.
	if w.Open(nil); func() bool { _, over := w.State(); return over }() {
		t.Fatal("the wire is over right after Open")
	}
}
