package waits

import (
	"slices"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// nested returns what requests do besides waiting for the target's own server, how long, and which part of request time that
// is; nil, and all of it, if the inner requests are not in the anatomy.
//
// The anatomy holds what the inner requests do, and the outer ones' waits for them, which are the same time. So the waits are
// left out and the rest scaled: if the outer request takes o besides the wait, and the inner ones i, the parts of all sum to
// o + 2i, of which o + i remains, as in the outer request alone.
func (d *divider) nested() (pieces []piece, others int64, part float64) {
	if d.p.Nesting() == 1 {
		return nil, 0, 1
	}
	for _, part := range d.p.Anatomy.All {
		if d.p.Stacks.Wait(part) == callstack.OwnServer {
			continue
		}
		for _, one := range d.divide(part) {
			pieces = append(pieces, one)
			others += one.part.NS
		}
	}
	return pieces, others, float64(others) / float64(d.p.Anatomy.MeanNS)
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

// BehindOwnServer reports whether a wait is in what the target's own server does for requests that call it, by the user's
// outermost function: no call to that server begins there.
func (p *Requests) BehindOwnServer(s Site) bool {
	handler := p.outermost(s.Part.Stack)
	return p.Nesting() > 1 && handler != "" && !slices.ContainsFunc(p.Anatomy.All, func(part breakdown.Part) bool {
		return p.Stacks.Wait(part) == callstack.OwnServer && p.outermost(part.Stack) == handler
	})
}

// outermost returns the user's outermost function of a stack; "" without any.
func (p *Requests) outermost(stack []code.Frame) string {
	for _, f := range slices.Backward(stack) {
		if p.Stacks.User(f) {
			return f.Function
		}
	}
	return ""
}
