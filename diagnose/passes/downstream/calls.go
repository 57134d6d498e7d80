package downstream

import (
	"cmp"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// call is what requests do along one path of the user's functions that ends in a
// client. Paths, not places: one helper that all calls go through is one place, and
// the callers are what distinguishes a loop from a sequence.
type call struct {
	// chain is the user's frames, innermost first; the nearest thing to one where
	// there is none.
	chain []code.Frame
	stack []code.Frame // of the longest wait
	// ns and calls are per request of the mean, the median and the slow ones.
	ns, calls [3]float64
}

// Bands of the anatomy, in the order of its lists.
const (
	mean = iota
	median
	tail
)

// each is the mean wait of one call, in ns.
func (c call) each() float64 { return c.ns[mean] / max(c.calls[mean], 1e-3) }

// callsOf gathers the calls that requests wait for in their own goroutine, one
// after the other, longest first; nil without an anatomy. Plain sockets are left
// out: how many reads make an answer depends on the protocol.
func callsOf(p *diagnose.Pass) []call {
	if p.Anatomy == nil || p.Anatomy.MeanNS <= 0 {
		return nil
	}
	paths := map[string]*call{}
	for band, parts := range [][]breakdown.Part{p.Anatomy.All, p.Anatomy.Median, p.Anatomy.Tail} {
		most := map[string]float64{}
		for _, part := range parts {
			kind := p.Stacks.Wait(part)
			if kind != callstack.HTTPWait && kind != callstack.RPCWait || resolving(part) > 0 {
				continue
			}
			chain := users(p, part.Stack)
			key := pathOf(chain)
			c := paths[key]
			if c == nil {
				c = &call{chain: chain, stack: part.Stack}
				paths[key] = c
			}
			c.ns[band] += float64(part.NS)
			// Of several waits of one call the most frequent one counts it, but
			// those of HTTP/1 for the answer's head, which may be at two lines.
			if n := waitsPerCall(part.Stack); n > 0 {
				c.calls[band] += part.Times / n
			} else {
				most[key] = max(most[key], part.Times)
			}
		}
		for key, times := range most {
			if c := paths[key]; c.calls[band] == 0 {
				c.calls[band] = times
			}
		}
	}
	list := make([]call, 0, len(paths))
	for _, c := range paths {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b call) int {
		return cmp.Or(cmp.Compare(b.ns[mean], a.ns[mean]), cmp.Compare(pathOf(a.chain), pathOf(b.chain)))
	})
	return list
}

// waitsPerCall returns how often net/http's client waits for the head of an answer
// over HTTP/1: once for its writer, once for its reader. It is so in every case of
// the corpus, on busy CPUs too. 0 for any other wait.
func waitsPerCall(stack []code.Frame) float64 {
	for _, f := range stack {
		if f.Function == "net/http.(*persistConn).roundTrip" {
			return 2
		}
	}
	return 0
}

// users returns the user's frames of a stack, innermost first, or else the frame
// nearest to one.
func users(p *diagnose.Pass, stack []code.Frame) []code.Frame {
	var chain []code.Frame
	for _, f := range stack {
		if p.Stacks.User(f) {
			chain = append(chain, f)
		}
	}
	if len(chain) == 0 {
		if f, ok := p.Stacks.Place(stack); ok {
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

// words names a path for a reader: "(*remote).cents < total".
func words(chain []code.Frame) string {
	var names []string
	for _, f := range chain {
		if name := callstack.Short(f.Function); len(names) < 4 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " < ")
}

// common returns the innermost function at which the paths part, at the line of the
// first: the one that makes the calls. With a single path, or paths that never
// part, it is the first's innermost function.
func common(calls []call) code.Frame {
	for _, f := range calls[0].chain {
		everywhere, parts := true, false
		for _, c := range calls[1:] {
			at := slices.IndexFunc(c.chain, func(g code.Frame) bool { return g.Function == f.Function })
			everywhere = everywhere && at >= 0
			parts = parts || at >= 0 && c.chain[at].Line != f.Line
		}
		if everywhere && parts {
			return f
		}
	}
	return calls[0].chain[0]
}
