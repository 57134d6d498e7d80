package bands

import (
	"strings"
	"time"

	"github.com/redline-go/redline/anatomy/goroutines"
	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

const (
	// maxNodes of a path are kept; the smallest ones are summed at the node above.
	maxNodes = 256
	// leastSampled: with fewer samples in the traces, the CPU profile of the run says
	// what a goroutine runs, if it can. With 20, a share of a half has a standard error
	// of 11 %.
	leastSampled = 20
)

// branch is a node of the path as it grows. Its time is that of all requests.
type branch struct {
	kind     breakdown.PathKind
	state    interned.State
	function string
	own      bool
	took     time.Duration
	frames   map[code.Frame]time.Duration // of the function: which line, how long
	sites    map[interned.Name]time.Duration
	stack    interned.Stack // of a state: of the longest wait
	longest  time.Duration
	below    map[branchKey]*branch
}

type branchKey struct {
	kind  breakdown.PathKind
	state interned.State
	name  string
	at    string
}

// child returns the branch of a key below b, with the time added to it.
func (b *branch) child(key branchKey, took time.Duration) *branch {
	c := b.below[key]
	if c == nil {
		if b.below == nil {
			b.below = map[branchKey]*branch{}
		}
		c = &branch{kind: key.kind, state: key.state, function: key.name}
		b.below[key] = c
	}
	c.took += took
	return c
}

// at notes a line of the branch's function.
func (b *branch) at(f code.Frame, took time.Duration) {
	if b.frames == nil {
		b.frames = map[code.Frame]time.Duration{}
	}
	b.frames[f] += took
}

// waited notes where the wait for a branch was.
func (b *branch) waited(site interned.Name, took time.Duration) {
	if b.sites == nil {
		b.sites = map[interned.Name]time.Duration{}
	}
	b.sites[site] += took
}

// path sums the requests' critical paths. The waits are divided already, by
// follower: each piece of a wait names the chain that it leads along.
func (a *Requests) path(sums []*sum, requests []request, partial int) *breakdown.Path {
	p := &breakdown.Path{Requests: len(requests), Partial: partial}
	if len(requests) == 0 {
		p.Why = "no request was found in the execution traces"
		return p
	}
	own := a.ownSamples(requests)
	ran := a.chainSamples()
	root := &branch{}
	for _, s := range sums {
		rest := s.took
		for id, f := range s.behind {
			a.follow(root, s, id, f.took, ran)
			rest -= f.took
		}
		if rest > 0 {
			a.ends(root, s.state, s.stack, rest, own[s.state], 0)
		}
		root.took += s.took
	}
	n := time.Duration(len(requests))
	w := writer{a: a, requests: n, total: root.took, kept: largest(root)}
	p.Nodes = w.nodes(root)
	p.NS = int64(root.took / n)
	return p
}

// follow adds time that led along a chain.
func (a *Requests) follow(root *branch, s *sum, chain goroutines.ChainID, took time.Duration, ran map[goroutines.ChainID][]weighed) {
	at, state, stack := root, s.state, s.stack
	ids := a.Chains.List(chain)
	for i, id := range ids {
		l := a.Chains.Links[id]
		info := a.Stacks.Info(stack)
		key := branchKey{kind: breakdown.PathGoroutine, name: a.Stacks.Names[l.Entry]}
		request := l.Request || serves(key.name)
		if request {
			// The server of another request is not one particular goroutine: what matters
			// is where it is waited for, and whether that is a lock or a channel.
			f, _ := a.Stacks.Own.Innermost(info.Frames)
			key = branchKey{kind: breakdown.PathRequest, state: state, name: f.Function}
		}
		at = at.child(key, took)
		at.waited(info.SiteID, took)
		if request {
			a.locate(at, info.Frames, took)
		}
		state, stack = l.State, a.Chains.Stacks[id]
		if i == len(ids)-1 {
			entry := l.Entry
			if request {
				entry = 0
			}
			a.ends(at, state, stack, took, ran[id], entry)
		}
	}
}

// locate notes the line of the target's own code that a stack is at.
func (a *Requests) locate(b *branch, frames []code.Frame, took time.Duration) {
	if f, ok := a.Stacks.Own.Innermost(frames); ok {
		b.own = true
		b.at(f, took)
	}
}

// ends adds the end of a path: a goroutine's time in one state, divided by what it ran
// if that is known. The goroutine began in entry, unless it is the request's own or
// another request's.
func (a *Requests) ends(at *branch, state interned.State, stack interned.Stack, took time.Duration,
	samples []weighed, entry interned.Name) {
	info := a.Stacks.Info(stack)
	key := branchKey{kind: breakdown.PathState, state: state}
	if state.Sited() {
		f, _ := a.Stacks.Own.Innermost(info.Frames)
		key.name, key.at = f.Function, mechanism(info.Site)
	}
	leaf := at.child(key, took)
	if state.Sited() {
		leaf.waited(info.SiteID, took)
		a.locate(leaf, info.Frames, took)
		if took > leaf.longest {
			leaf.stack, leaf.longest = stack, took
		}
		return
	}
	if state == interned.Running || state == interned.Assist {
		if total(samples) < leastSampled && (at.kind != breakdown.PathRequest) {
			if more := a.profiled(entry, state == interned.Assist); total(more) > total(samples) {
				samples = more
			}
		}
		a.divideWork(leaf, took, samples)
	}
}

// mechanism is a site without its own frame.
func mechanism(site string) string {
	before, _, ok := strings.Cut(site, " < ")
	if !ok && strings.Contains(site, " ") {
		return ""
	}
	return before
}

func total(samples []weighed) (n int64) {
	for _, s := range samples {
		n += s.weight
	}
	return n
}

// divideWork divides a running goroutine's time by what the samples say it ran.
func (a *Requests) divideWork(leaf *branch, took time.Duration, samples []weighed) {
	all := float64(total(samples))
	var seen int64
	var before time.Duration
	for i, s := range samples {
		seen += s.weight
		to := time.Duration(float64(took) * float64(seen) / all)
		if i == len(samples)-1 {
			to = took
		}
		at := leaf
		for _, step := range a.Stacks.Own.Steps(s.frames) {
			at = at.child(branchKey{kind: breakdown.PathWork, name: step.Frame.Function}, to-before)
			at.own = step.Own
			at.at(step.Frame, to-before)
		}
		before = to
	}
}
