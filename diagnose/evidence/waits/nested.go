package waits

import (
	"github.com/redline-go/redline/diagnose/callstack"
)

// answeredLeast is the least time of requests, as a part of the waits for the target's own
// server, for the requests that it answers to be among those that were taken apart.
const answeredLeast = 0.5

// nested returns what requests do besides waiting for the target's own server, and how long; nil where
// none waits for it, or where the requests that it answers were not taken apart.
//
// A service that calls itself, such as grpc-gateway before its own gRPC server, has two
// requests for each one of the load: the anatomy holds both, and the outer one's wait is
// the inner one's time. To count it as what the inner requests do is to leave it out and
// scale the rest: with an outer request of o besides the wait, and an inner one of i, the
// parts of both sum to o + 2i, of which o + i remains, as in the outer request alone. That
// inner time is there shows from its amount: it cannot be less than the waits for it, but
// for what lies between the two.
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

// within divides a wait for the target's own server into what requests do else.
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
