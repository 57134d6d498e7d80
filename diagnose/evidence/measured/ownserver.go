package measured

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/series"
)

const (
	// mostOwn bounds the waits for the target's own server per request of the traces, if each call waits once: each call is a
	// request of these, too, so there is less than one.
	mostOwn = 0.9
	// answeredLeast is the least other time of requests, as a part of the waits for the target's own server, that shows that
	// the inner requests are in the anatomy too: it is at least as long as the waits, less the time between the two.
	answeredLeast = 0.5
	// leastAnswered is the part of the calls that must be among the requests of the traces for these to answer them: a trace may
	// hold one without the other, and one in five may go elsewhere.
	leastAnswered = 0.8
	// leastExtra is how many requests more per request of the load begin at least: fewer may be due to a rate that differs from
	// the mean while traces are taken.
	leastExtra = 0.2
)

// Nesting returns how many requests of the traces there are per request of the load: 1 if all are the load's.
//
// A service that calls its own server, as a grpc-gateway does in front of its own gRPC server, serves two requests per request
// of the load. The anatomy holds both, so that the mean request is neither; with seven calls, it is hardly the outer one at
// all. Anatomy is per request of the load: it holds what the inner requests do and the outer one's waits for them.
func (p *Run) Nesting() float64 { return max(1, p.nesting) }

// answers returns which of its own calls the target answers itself, as a grpc-gateway does that
// serves HTTP by calling the gRPC server in its own process: the wait is then this process's own
// work. That is certain where all its outward connections are to itself. If it has none and serves
// gRPC, its RPCs go through memory (bufconn, net.Pipe). If it also has connections to others, such
// as a database, the RPCs are its own if it serves as many as it waits for and the load sends none, and the calls over HTTP if it
// serves as many requests more than the load sends.
func (p *Run) answers() callstack.Answers {
	self, ok := p.Mean(series.SocketsOutwards, series.Labels("to", "self"))
	other, known := p.Mean(series.SocketsOutwards, series.Labels("to", "other"))
	switch {
	case !ok || !known:
	case other > 0:
		switch {
		case self > 0 && strings.HasPrefix(p.Record.Run.Target.URL, "http") && p.servesItsRPCs():
			return callstack.AnswersRPC
		case self > 0 && p.servesItsCalls():
			return callstack.AnswersHTTP
		}
	case self > 0:
		return callstack.AnswersAll
	case p.ServesRPC():
		return callstack.AnswersRPC
	}
	return callstack.AnswersNone
}

// servesItsRPCs reports whether the traces hold about one request answered by the target's gRPC
// server per wait for an RPC. The counts differ because a trace may hold only one of the two. A gRPC server
// that is a handler of net/http's answers as that.
func (p *Run) servesItsRPCs() bool {
	if p.Anatomy == nil {
		return false
	}
	waits, served := 0.0, 0
	plain := callstack.NewIndex(callstack.Code{Module: p.Record.Run.Target.Module})
	for _, part := range p.Anatomy.All {
		if plain.Wait(part) == callstack.RPCWait && plain.GRPC(part.Stack) {
			waits += part.Times * float64(p.Anatomy.Requests)
		}
	}
	for _, v := range p.Anatomy.Served {
		if v.Server == "grpc" {
			served += v.Requests + v.Cut
		}
	}
	return waits > 0 && (float64(served) >= leastAnswered*waits || p.answersExtra(callstack.AnswersRPC, waits/float64(p.Anatomy.Requests)))
}

// sent returns the anatomy per request of the load, and how many requests it holds for each.
func (p *Run) sent(a *breakdown.Anatomy) (*breakdown.Anatomy, float64) {
	if a == nil {
		return nil, 1
	}
	waits, own := 0.0, int64(0)
	for _, part := range a.All {
		if p.Stacks.Wait(part) == callstack.OwnServer {
			waits, own = waits+part.Times, own+part.NS
		}
	}
	n := 1 + p.ownCalls(a, waits)
	if own == 0 || float64(int64(a.MeanNS)-own) < answeredLeast*float64(own) || !(n > 1) {
		return a, 1
	}
	return scaled(a, n), n
}

// ownCalls returns how many calls the target answers itself per request of the load, at each of which the traces' mean request
// waits so often; 0 if the traces do not hold them, or if it is not known.
//
// As many requests begin in the traces as the load sent meanwhile, and those that the service made of itself. The hooks count the
// latter. Without them, each wait is a call at most, and half of one at least.
func (p *Run) ownCalls(a *breakdown.Anatomy, waits float64) float64 {
	n := p.begunPerSent(a)
	if n-1 < leastAnswered*p.called(p.Stacks.Answers, n*waits/2) {
		return 0
	}
	most := math.Inf(1)
	if waits <= mostOwn {
		most = 1/(1-waits) - 1
	}
	if calls := p.called(p.Stacks.Answers, min(n-1, most)); !math.IsInf(calls, 1) {
		return calls
	}
	return 0
}

// called returns how often a request of the load makes calls of these kinds, by the hooks' count; otherwise if they count none.
func (p *Run) called(kinds callstack.Answers, otherwise float64) float64 {
	ops, load, calls := p.Operations(), p.Load(), int64(0)
	if ops == nil || !(load.Requests > 0) {
		return otherwise
	}
	for _, o := range ops.Operations {
		if o.Kind == operation.HTTP && kinds != callstack.AnswersRPC || o.Kind == operation.RPC && kinds != callstack.AnswersHTTP {
			calls += o.Calls
		}
	}
	if calls == 0 {
		return otherwise
	}
	return float64(calls) / load.Requests
}

// servesItsCalls reports whether more requests begin in the traces than the load sends meanwhile, by about as many as requests
// call others over HTTP.
func (p *Run) servesItsCalls() bool {
	if p.Anatomy == nil {
		return false
	}
	plain := callstack.NewIndex(callstack.Code{Module: p.Record.Run.Target.Module})
	waits := 0.0
	for _, part := range p.Anatomy.All {
		if plain.Wait(part) == callstack.HTTPWait {
			waits += part.Times
		}
	}
	return waits > 0 && p.answersExtra(callstack.AnswersHTTP, waits)
}

// answersExtra reports whether more requests begin in the traces than the load sends meanwhile, by about as many as requests make calls of
// a kind, at which the traces' mean request waits so often.
func (p *Run) answersExtra(kind callstack.Answers, waits float64) bool {
	n := p.begunPerSent(p.Anatomy)
	return !math.IsInf(n, 1) && n-1 >= leastExtra && n-1 >= leastAnswered*p.called(kind, n*waits/2)
}

// begunPerSent returns how many requests begin in the traces per request that the load sends meanwhile; +Inf if it is not
// known.
func (p *Run) begunPerSent(a *breakdown.Anatomy) float64 {
	sent, begun := p.Load().Rate*a.Traced.Seconds(), 0.0
	for _, v := range a.Served {
		begun += float64(v.Requests) + float64(v.Cut)/2 // of a request's two ends one, in the mean
	}
	if !(sent > 0) || begun == 0 {
		return math.Inf(1)
	}
	return begun / sent
}

// scaled returns an anatomy whose mean request is n of a's. The bands of the median and the tail stay: they sort requests by how
// long they take, and the slow ones are the load's.
func scaled(a *breakdown.Anatomy, n float64) *breakdown.Anatomy {
	out := *a
	ns := func(v int64) int64 { return int64(n * float64(v)) }
	out.MeanNS, out.Spawned = time.Duration(ns(int64(a.MeanNS))), n*a.Spawned
	out.All = slices.Clone(a.All)
	for i := range out.All {
		part := &out.All[i]
		part.NS, part.Times, part.Behind = ns(part.NS), n*part.Times, slices.Clone(part.Behind)
		for j := range part.Behind {
			c := &part.Behind[j]
			c.NS, c.Links = ns(c.NS), slices.Clone(c.Links)
			for k := range c.Links {
				c.Links[k].Times *= n
			}
		}
	}
	out.Operations = slices.Clone(a.Operations)
	for i := range out.Operations {
		o := &out.Operations[i]
		o.Mean *= n
		o.RunningNS, o.QueuedNS, o.WaitingNS = ns(o.RunningNS), ns(o.QueuedNS), ns(o.WaitingNS)
	}
	out.Requests, out.Partial = int(math.Ceil(float64(a.Requests)/n)), int(math.Ceil(float64(a.Partial)/n))
	return &out
}
