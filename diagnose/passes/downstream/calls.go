package downstream

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/diagnose/waitgain"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// call is the calls that requests make along one path of the user's functions that
// ends in a client. Paths rather than places: all calls may go through one helper,
// which is one place, and only the callers distinguish a loop from a sequence.
type call struct {
	path string // of all the user's functions, generated stubs included
	// chain is the user's frames, innermost first, without stubs; without any, the frame nearest
	// to the user's code.
	chain []code.Frame
	stack []code.Frame // of the longest wait
	// ns and calls are per request, for the mean, the median and slow requests.
	ns, calls [3]float64
	// by is the function that the goroutine began in that makes the calls for the request; ""
	// if it is the request's own. worker is set if it lives on between requests.
	by     string
	worker bool
}

// Bands of the anatomy, in the order of its lists.
const (
	mean = iota
	median
	tail
)

// each is the mean wait of one call, in ns.
func (c call) each() float64 { return c.ns[mean] / max(c.calls[mean], 1e-3) }

// callsOf gathers the calls that requests wait for one after the other, longest first: in
// their own goroutine, or in goroutines that they wait for, of which the trace followed one at
// a time; nil without an anatomy. Plain sockets are left out: the number of reads per response
// depends on the protocol.
func callsOf(p *diagnose.Pass) []call { return gather(p, callstack.Wait.Call) }

// ownCalls gathers in the same way the calls that the target answers itself, with what it does for them.
func ownCalls(p *diagnose.Pass) []call {
	return gather(p, func(w callstack.Wait) bool { return w == callstack.OwnServer })
}

// gather gathers the waits in calls that is accepts.
func gather(p *diagnose.Pass, is func(callstack.Wait) bool) []call {
	if p.Anatomy == nil || p.Anatomy.MeanNS <= 0 {
		return nil
	}
	paths := map[string]*call{}
	for band, parts := range [][]breakdown.Part{p.Anatomy.All, p.Anatomy.Median, p.Anatomy.Tail} {
		counts := map[string]*count{}
		for _, part := range parts {
			for _, w := range clientWaits(p, part, is) {
				key := pathOf(w.chain)
				c := paths[key]
				if c == nil {
					at, _ := p.Stacks.Place(w.stack)
					c = &call{path: key, chain: w.chain[max(0, slices.Index(w.chain, at)):], stack: w.stack, by: w.by, worker: w.worker}
					paths[key] = c
				}
				c.ns[band] += w.ns
				if counts[key] == nil {
					counts[key] = &count{most: map[code.Frame]float64{}}
				}
				counts[key].add(p, w)
			}
		}
		for key, n := range counts {
			paths[key].calls[band] = n.calls()
		}
	}
	list := make([]call, 0, len(paths))
	for _, c := range paths {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b call) int {
		return cmp.Or(cmp.Compare(b.ns[mean], a.ns[mean]), cmp.Compare(a.path, b.path))
	})
	return list
}

// clientWait is a wait in a client's call.
type clientWait struct {
	stack, chain []code.Frame // chain as in call, with stubs
	ns, times    float64      // per request
	heads        float64      // of times, those in which a transport's reader waited for the network
	by           string       // as in call
	worker       bool
	syscall      bool // it reads or writes: for a response a call reads twice, before it waits and after
}

// clientWaits returns a part's waits in clients' calls: the request's own, or those of the
// goroutines that work for it in the meantime. A call that is ended by a goroutine of the client,
// such as a transport's reader, lasts as long as the waits behind it.
func clientWaits(p *diagnose.Pass, part breakdown.Part, is func(callstack.Wait) bool) []clientWait {
	inCall := func(state breakdown.State, stack []code.Frame) bool {
		return is(p.Stacks.Wait(breakdown.Part{State: state, Stack: stack}))
	}
	if inCall(part.State, part.Stack) {
		if resolving(part) > 0 {
			return nil
		}
		w := clientWait{stack: part.Stack, chain: asking(p, part.Stack), ns: p.Waits().Called(part), times: part.Times,
			syscall: part.State == breakdown.StateSyscall}
		for _, c := range part.Behind {
			w.heads += heads(c.Links)
		}
		return []clientWait{w}
	}
	d := p.Waits().Delegated(part)
	var list []clientWait
	for _, c := range d.Chains {
		i := slices.IndexFunc(c.Links, func(l breakdown.Link) bool {
			return l.Times > 0 && p.Stacks.Innermost(l.Stack) >= 0 && inCall(l.State, l.Stack) && !resolver(l.Stack)
		})
		if i < 0 {
			continue
		}
		l := c.Links[i]
		w := clientWait{stack: l.Stack, chain: asking(p, l.Stack), by: l.Goroutine, worker: d.Worker,
			syscall: l.State == breakdown.StateSyscall,
			ns:      d.Scale * float64(c.NS), times: d.Scale * l.Times, heads: d.Scale * heads(c.Links[i+1:])}
		for _, above := range slices.Backward(c.Links[:i]) {
			w.chain = append(w.chain, usersOf(p, above.Stack)...)
		}
		w.chain = append(w.chain, usersOf(p, part.Stack)...)
		list = append(list, w)
	}
	return list
}

// heads returns how often the reader of an HTTP/1 connection, which the first link is, waited
// for the network.
func heads(links []breakdown.Link) float64 {
	if len(links) > 0 && links[0].State == breakdown.StateNetwork && strings.HasSuffix(links[0].Goroutine, ".(*persistConn).readLoop") {
		return links[0].Times
	}
	return 0
}

// count is the number of calls along one path.
type count struct {
	halves float64                // of waits for the head of a response over HTTP/1
	heads  float64                // as in clientWait
	most   map[code.Frame]float64 // of other waits, the most frequent at each line of a store's client, or anywhere
	reads  float64                // of system calls, the most frequent
}

func (n *count) add(p *diagnose.Pass, w clientWait) {
	switch per := waitsPerCall(w.stack); {
	case per > 0:
		n.halves, n.heads = n.halves+w.times/per, n.heads+w.heads
	case w.syscall:
		n.reads = max(n.reads, w.times)
	default:
		at := commanding(p, w.stack)
		n.most[at] = max(n.most[at], w.times)
	}
}

// calls returns the number: of the waits for the head of a response one or two per call, as the
// connection's reader says, where it was followed; without any, of the most frequent wait. System calls
// count only where no call waits, because its response is there at once.
func (n *count) calls() float64 {
	switch {
	case n.halves > 0:
		return max(n.halves, min(n.heads, 2*n.halves))
	case len(n.most) > 0:
		sum := 0.0
		for _, times := range n.most {
			sum += times
		}
		return sum
	}
	return n.reads
}

// commanding returns the line of a store's client that the user's function called: one function of it may send several commands
// one after another, such as Watch of go-redis. The zero frame for other clients, whose functions may wait several times in a call.
func commanding(p *diagnose.Pass, stack []code.Frame) code.Frame {
	if at := p.Stacks.Innermost(stack); at > 0 && p.Stacks.Role(stack[at-1].Function).Has(callstack.Store) {
		return stack[at-1]
	}
	return code.Frame{}
}

// waitsPerCall returns how often net/http's client waits for the head of a response
// over HTTP/1, at most: once for its writer, unless that is done by then, and once for its
// reader. These may be at two lines. 0 for any other wait.
func waitsPerCall(stack []code.Frame) float64 {
	for _, f := range stack {
		if strings.HasSuffix(f.Function, ".(*persistConn).roundTrip") {
			return 2
		}
	}
	return 0
}

// users returns the user's frames of a stack from the one that calls, innermost first, or else the frame
// nearest to one. A generated stub only passes the call on, as for the place of a wait.
func users(p *diagnose.Pass, stack []code.Frame) []code.Frame {
	chain := usersOf(p, p.Stacks.Asked(stack))
	at, ok := p.Stacks.Place(stack)
	if len(chain) == 0 && ok {
		return []code.Frame{at}
	}
	return chain[max(0, slices.Index(chain, at)):]
}

// asking returns the user's frames of a stack as users does, with the stubs that pass the call on: their names distinguish calls that one
// function makes.
func asking(p *diagnose.Pass, stack []code.Frame) []code.Frame {
	if chain := usersOf(p, p.Stacks.Asked(stack)); len(chain) > 0 {
		return chain
	}
	return users(p, stack)
}

// usersOf returns the user's frames of a stack, innermost first.
func usersOf(p *diagnose.Pass, stack []code.Frame) (chain []code.Frame) {
	for _, f := range stack {
		if p.Stacks.User(f) {
			chain = append(chain, f)
		}
	}
	return chain
}

// pathOf is a path's key. Lines count except for the innermost function's.
func pathOf(chain []code.Frame) string {
	var b strings.Builder
	for i, f := range chain {
		if i == 0 {
			// Waiting for the head and reading the body are lines of one function.
			b.WriteString(f.Function)
			continue
		}
		b.WriteString(" < " + f.Function + " " + diagnose.At(f))
	}
	return b.String()
}

// common returns the innermost function at which the paths diverge, at its line with the longest calls: the one that makes the
// calls. Paths whose time would not be worth a finding may lead elsewhere; if all are taken again and again, half of them may,
// because each loop is a place to change. With a single path, or paths that never diverge, it is the first's innermost function that
// calls in a loop, by the service's sources, or else its innermost one.
func common(calls []call, loops callstack.Lines) code.Frame {
	calls = material(calls)
	least, deepest, place := 1-waitgain.LeastShare, 0, code.Frame{}
	if !slices.ContainsFunc(calls, func(c call) bool { return c.calls[mean] < leastCalls }) {
		least = 0.5
	}
	for _, c := range calls { // the longest first
		for i, f := range c.chain {
			if depth := len(c.chain) - i; depth > deepest && diverge(calls, f, least) {
				deepest, place = depth, f
			}
		}
	}
	if deepest > 0 {
		return looping(calls, loops, place)
	}
	for _, f := range calls[0].chain {
		if loops.Has(f) {
			return f
		}
	}
	return calls[0].chain[0]
}

// diverge reports whether a frame's function makes more than a part of the calls' time, at several lines.
func diverge(calls []call, f code.Frame, part float64) bool {
	within, all, parts := 0.0, 0.0, false
	for _, c := range calls {
		at := slices.IndexFunc(c.chain, func(g code.Frame) bool { return g.Function == f.Function })
		all += c.ns[mean]
		if at >= 0 {
			within += c.ns[mean]
			parts = parts || c.chain[at].Line != f.Line
		}
	}
	return parts && within > part*all
}

// looping returns the line below a function at which another one calls in a loop, if that one makes most of the calls' time; else
// the function's own.
func looping(calls []call, loops callstack.Lines, above code.Frame) code.Frame {
	functions, lines, all := map[string]float64{}, map[code.Frame]float64{}, 0.0
	for _, c := range calls {
		all += c.ns[mean]
		for _, f := range c.chain {
			if f.Function == above.Function {
				break
			}
			if loops.Has(f) {
				functions[f.Function] += c.ns[mean]
				lines[f] += c.ns[mean]
				break
			}
		}
	}
	most := measured.Heaviest(functions, cmp.Compare[string])
	if functions[most] <= all/2 {
		return above
	}
	maps.DeleteFunc(lines, func(f code.Frame, _ float64) bool { return f.Function != most })
	return measured.Heaviest(lines, measured.CompareFrames)
}

// material returns the calls without those that are together too short to matter: the first is never one.
func material(calls []call) []call {
	all := 0.0
	for _, c := range calls {
		all += c.ns[mean]
	}
	kept, rest := calls[:1:1], 0.0
	for _, c := range slices.Backward(calls[1:]) { // shortest first
		if rest += c.ns[mean]; rest > waitgain.LeastShare*all {
			kept = append(kept, c)
		}
	}
	return kept
}
