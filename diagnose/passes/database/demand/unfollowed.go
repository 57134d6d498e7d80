package demand

import (
	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
)

// unfollowed returns the part of request time, 0 to 1, in which requests wait for goroutines that the trace
// could not follow to the end, and those run statements in the meantime, as the hooks counted them. Requests that fan
// out into goroutines of goroutines wait for more of them than a trace keeps. It is an upper bound, because some
// of the statements may run at the same time.
func unfollowed(p *diagnose.Pass) float64 {
	w, ops := p.Waits(), p.Operations()
	lost := w.Share(callstack.EventWait, callstack.ChannelWait, callstack.JoinWait)
	if ops == nil || lost == 0 || !(p.CountedRequests() > 0) || !(w.MeanNS() > 0) {
		return 0
	}
	works := map[string]bool{} // where the goroutines began that requests wait for
	for _, part := range p.Anatomy.All {
		for _, c := range part.Behind {
			for _, l := range c.Links {
				works[l.Goroutine] = !l.Request
			}
		}
	}
	took := 0.0
	for _, o := range ops.Operations {
		for _, c := range o.Callers {
			switch o.Kind {
			case operation.Query, operation.Exec, operation.Prepare, operation.Acquire:
				if works[entry(c.Stack)] {
					took += c.Share * float64(o.TotalNS)
				}
			}
		}
	}
	return min(lost, max(0, AskedPerRequest(p, took)/w.MeanNS()-w.Share(Waits()...)))
}

// entry returns the function that a goroutine began in, as a trace names it: without the runtime's own.
func entry(stack []code.Frame) string {
	if last := len(stack) - 1; last > 0 && stack[last].Function == "runtime.goexit" {
		stack = stack[:last]
	}
	return measured.Entry(stack)
}
