package loadtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/scenario"
)

// Subject is a protocol with a dialogue that its wires must get through.
type Subject struct {
	Protocol load.Protocol
	// Plan is where the exchanges' data comes from; nil when they take none.
	Plan *scenario.Plan
	// Target makes the other end of a connection. It takes a wire's output, in
	// whatever pieces, and returns the reply, and whether it shuts the
	// connection after that. It must answer alike each time.
	Target func() func(sent []byte) (answer []byte, shut bool)
	// Exchanges are sent in this order, one after the other or Streams at once.
	Exchanges []Want
	// Streams is how many exchanges are in progress at once; zero means 1.
	Streams int
	// Allocates is for exchanges that cannot do without: JSON checks.
	Allocates bool
}

// Want is an exchange and its expected outcome.
type Want struct {
	Request int
	Kind    failure.Kind // "" for a success
	Status  int
	Failed  uint64
}

// Bounds of the cuts at which an answer is cut in two, and of the bytes that
// this takes. The cuts of a longer answer are spread evenly.
const (
	mostCuts  = 500
	mostBytes = 1 << 20
)

// Wire checks the properties that the event loop relies on, for a protocol to call from its
// tests with one subject per kind of dialogue:
//
//   - However the target's bytes are cut into pieces, the same becomes of the
//     exchanges.
//   - Open readies a wire for a new socket whatever it was in the middle of, and
//     Cancel leaves the exchanges after it as they would be, over the same
//     connection when it says so.
//   - A wire that is over has no room and stays over until Open; a wire that
//     waits says so before it is overrun.
//   - The bytes given to Receive are not used after it returned, and an exchange that
//     ended is not touched again. It ends once, at the time of the call that ended
//     it, with its first byte no later.
//   - Nothing is allocated per exchange in the steady state, when all of the
//     subject's exchanges succeed over one connection.
func Wire(t *testing.T, s Subject) {
	t.Helper()
	whole := newDialogue(t, s, func(pending int) int { return pending })
	whole.run()
	want := whole.became
	for i, w := range s.Exchanges {
		if got := want[i]; got.kind != w.Kind || got.status != w.Status || got.failed != w.Failed {
			t.Fatalf("exchange %d: %v, want %+v", i, got, w)
		}
	}
	total := whole.delivered
	every := max(1, total/mostCuts, total*total/mostBytes)
	t.Run("one byte at a time", func(t *testing.T) {
		d := newDialogue(t, s, func(int) int { return 1 })
		d.run()
		d.compare(want)
	})
	t.Run("cut in two", func(t *testing.T) {
		for at := 1; at < total; at += every {
			d := newDialogue(t, s, nil)
			d.cut = func(pending int) int { return upTo(at, d.delivered, pending) }
			d.run()
			d.compare(want)
		}
	})
	t.Run("cut at random", func(t *testing.T) {
		for seed := range uint64(min(100, 1+mostBytes/(16*total+1))) {
			rng := rand.New(rand.NewPCG(seed, 0))
			d := newDialogue(t, s, func(pending int) int { return 1 + rng.IntN(min(pending, 1+int(seed))) })
			d.run()
			d.compare(want)
		}
	})
	t.Run("opened in the middle", func(t *testing.T) {
		for at := 0; at < total; at += every {
			first := newDialogue(t, s, nil)
			first.cut = func(pending int) int { return upTo(at, first.delivered, pending) }
			first.runTo(at)
			again := newDialogue(t, s, func(pending int) int { return pending })
			again.wires, again.first = first.wires, false
			again.run()
			again.compare(want)
		}
	})
	t.Run("cancelled in the middle", func(t *testing.T) {
		for at := 0; at < total; at += every {
			d := newDialogue(t, s, nil)
			d.cut = func(pending int) int { return upTo(at, d.delivered, pending) }
			d.runTo(at)
			d.cancel()
			d.run()
			d.compare(want)
		}
	})
	if s.Allocates {
		return
	}
	t.Run("allocations", func(t *testing.T) { allocations(t, s, whole.opened) })
}

// upTo is how much to deliver so that a piece ends at byte at of all.
func upTo(at, delivered, pending int) int {
	if delivered < at {
		return min(at-delivered, pending)
	}
	return pending
}

// outcome is the part of an exchange's result that does not depend on pieces.
type outcome struct {
	kind     failure.Kind
	status   int
	failed   uint64
	bytesIn  int64
	redirect string
	ended    bool
	given    bool // cancelled: it is not compared
}

func (o outcome) String() string {
	if !o.ended {
		return "not ended"
	}
	return fmt.Sprintf("kind %q, status %d, failed %b, %d bytes in, redirect %q", o.kind, o.status, o.failed, o.bytesIn, o.redirect)
}
