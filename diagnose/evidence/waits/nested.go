package waits

import (
	"math"

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

// mostOwn bounds the waits for the target's own server per request of the traces, if each call waits once: each call is a
// request of these, too, so there is less than one.
const mostOwn = 0.9

// nesting is how requests of the traces make up those of the load.
type nesting struct {
	// requests is how many of the traces' there are per request of the load, and ns the time of one of the load's.
	requests, ns float64
}

// Nesting returns how many requests of the traces there are per request of the load, 1 or more, and the time of one of the
// load's, in ns; 1 and 0 without an anatomy. A service that calls its own server, as a grpc-gateway does, serves two for
// each: what the inner one does is in the mean of both only by half, and the outer one's wait for it must not count again.
func (p *Requests) Nesting() (requests, ns float64) {
	n := p.inner.Get(p.readNesting)
	return n.requests, n.ns
}

// readNesting counts: as many requests begin in the traces as the load sent meanwhile, and those that the service made of itself.
// Where the load's rate is not known, each wait for the own server is taken for a call, which makes too much of calls that wait
// twice.
func (p *Requests) readNesting() nesting {
	if p.Anatomy == nil {
		return nesting{requests: 1}
	}
	mean, calls, own := float64(p.Anatomy.MeanNS), 0.0, 0.0
	for _, part := range p.Anatomy.All {
		if p.Stacks.Wait(part) == callstack.OwnServer {
			calls, own = calls+part.Times, own+float64(part.NS)
		}
	}
	most := math.Inf(1)
	if calls <= mostOwn {
		most = 1 / (1 - calls)
	}
	requests := min(most, p.perSent())
	if own == 0 || !(requests > 1) || math.IsInf(requests, 1) {
		return nesting{1, mean} // or the inner requests are not in the traces
	}
	return nesting{requests, requests * (mean - own)}
}

// perSent returns how many requests begin in the traces per request that the load sends meanwhile; +Inf if it is not known.
func (p *Requests) perSent() float64 {
	sent := p.Load().Rate * p.Anatomy.Traced.Seconds()
	begun := 0.0
	for _, v := range p.Anatomy.Served {
		begun += float64(v.Requests) + float64(v.Cut)/2 // one of a request's two ends, in the mean
	}
	if !(sent > 0) || begun == 0 {
		return math.Inf(1)
	}
	return begun / sent
}

// stretch returns by what the time of the traces' mean request is to be multiplied to get that of the load's, once the waits
// for the own server are divided into what it does.
func (d *divider) stretch() float64 {
	if d.innerNS == 0 {
		return 1
	}
	_, ns := d.p.Nesting()
	return ns / float64(d.p.Anatomy.MeanNS)
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
