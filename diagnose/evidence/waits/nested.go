package waits

import (
	"github.com/redline-go/redline/diagnose/callstack"
)

// answeredLeast is the least other time of requests, as a part of the waits for the
// target's own server, that shows that the inner requests are in the anatomy too.
const answeredLeast = 0.5

// nested returns what requests do besides waiting for the target's own server, and how long; nil if
// none waits for it, or if the inner requests are not in the anatomy.
//
// A service that calls itself, such as a grpc-gateway in front of its own gRPC server,
// serves two requests per request of the load. The anatomy holds both, and the outer one's
// wait is the inner one's time. So the wait is left out and the rest scaled: if the outer
// request takes o besides the wait, and the inner one i, the parts of both sum to o + 2i,
// of which o + i remains, as in the outer request alone. The amount of the other time
// shows whether the inner requests are there: it is at least as long as the waits for
// them, less the time between the two.
func (d *divider) nested() (pieces []piece, others int64) {
	var own int64
	for _, part := range d.p.Anatomy.All {
		if d.p.Stacks.Wait(part) == callstack.OwnServer {
			own += part.NS
			continue
		}
		for _, one := range d.divide(part) {
			pieces = append(pieces, one)
			others += one.part.NS
		}
	}
	if own == 0 || float64(others) < answeredLeast*float64(own) {
		return nil, 0
	}
	return pieces, others
}

// within divides a wait for the target's own server into what requests do
// otherwise.
func (d *divider) within(whole piece) []piece {
	if d.innerNS == 0 {
		return []piece{whole}
	}
	scale := float64(whole.part.NS) / float64(d.innerNS)
	pieces := make([]piece, len(d.inner))
	for i, one := range d.inner {
		one.part.NS = int64(scale * float64(one.part.NS))
		one.part.Share *= scale
		one.part.Times *= scale
		pieces[i] = one
	}
	return pieces
}
