package anatomy

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

const (
	// maxNodes of a path are kept; the smallest ones are summed at the node above.
	maxNodes = 256
	// leastSampled: below as many samples in the traces the CPU profile of the run
	// says what a goroutine runs, where it can: a share of a half then has a
	// standard error of 11 %.
	leastSampled = 20
)

// branch is a node of the path as it grows. Its time is that of all requests.
type branch struct {
	kind     breakdown.PathKind
	state    stateID
	function string
	own      bool
	took     time.Duration
	frames   map[code.Frame]time.Duration // of the function: which line, how long
	sites    map[nameID]time.Duration
	stack    stackID // of a state: of the longest wait
	longest  time.Duration
	below    map[branchKey]*branch
}

type branchKey struct {
	kind  breakdown.PathKind
	state stateID
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
func (b *branch) waited(site nameID, took time.Duration) {
	if b.sites == nil {
		b.sites = map[nameID]time.Duration{}
	}
	b.sites[site] += took
}

// path sums the requests' critical paths. The waits are divided already, by
// follower: each piece of a wait names the chain that it leads along.
func (a *collector) path(sums []*sum, requests []request, partial int) *breakdown.Path {
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
		for id, took := range s.behind {
			a.follow(root, s, id, took, ran)
			rest -= took
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
func (a *collector) follow(root *branch, s *sum, chain chainID, took time.Duration, ran map[chainID][]weighed) {
	at, state, stack := root, s.state, s.stack
	ids := a.chains.list(chain)
	for i, id := range ids {
		l := a.chains.links[id]
		info := a.stacks.info(stack)
		key := branchKey{kind: breakdown.PathGoroutine, name: a.stacks.names[l.entry]}
		server, _ := entryServer(key.name)
		serves := l.request || server != serverNone // those that ended are forgotten to serve
		if serves {
			// Another request's server is no one goroutine: where it is waited
			// for is the matter, and whether that is a lock or a channel.
			f, _ := a.stacks.own.innermost(info.frames)
			key = branchKey{kind: breakdown.PathRequest, state: state, name: f.Function}
		}
		at = at.child(key, took)
		at.waited(info.siteID, took)
		if serves {
			a.locate(at, info.frames, took)
		}
		state, stack = l.state, a.chains.stacks[id]
		if i == len(ids)-1 {
			entry := l.entry
			if serves {
				entry = 0
			}
			a.ends(at, state, stack, took, ran[id], entry)
		}
	}
}

// locate notes the line of the target's own code that a stack is at.
func (a *collector) locate(b *branch, frames []code.Frame, took time.Duration) {
	if f, ok := a.stacks.own.innermost(frames); ok {
		b.own = true
		b.at(f, took)
	}
}

// innermost returns the innermost frame of the target's own.
func (o ownership) innermost(frames []code.Frame) (code.Frame, bool) {
	for _, f := range frames {
		if o.owns(f) {
			return f, true
		}
	}
	return code.Frame{}, false
}

// ends adds what a path ends at: a goroutine's time in one state, divided by what
// it ran where that is known. The goroutine began in entry, if it is neither the
// request's own nor another's.
func (a *collector) ends(at *branch, state stateID, stack stackID, took time.Duration, samples []weighed, entry nameID) {
	info := a.stacks.info(stack)
	key := branchKey{kind: breakdown.PathState, state: state}
	if state.sited() {
		f, _ := a.stacks.own.innermost(info.frames)
		key.name, key.at = f.Function, mechanism(info.site)
	}
	leaf := at.child(key, took)
	if state.sited() {
		leaf.waited(info.siteID, took)
		a.locate(leaf, info.frames, took)
		if took > leaf.longest {
			leaf.stack, leaf.longest = stack, took
		}
		return
	}
	if state == running || state == assist {
		if total(samples) < leastSampled && (at.kind != breakdown.PathRequest) {
			if more := a.profiled(entry, state == assist); total(more) > total(samples) {
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
func (a *collector) divideWork(leaf *branch, took time.Duration, samples []weighed) {
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
		for _, step := range a.stacks.own.steps(s.frames) {
			at = at.child(branchKey{kind: breakdown.PathWork, name: step.frame.Function}, to-before)
			at.own = step.own
			at.at(step.frame, to-before)
		}
		before = to
	}
}

// ownSamples returns what the requests themselves ran, by state.
func (a *collector) ownSamples(requests []request) map[stateID][]weighed {
	counts := map[stackID]int64{}
	for _, r := range requests {
		for _, id := range a.samples[r.firstSample:r.lastSample] {
			counts[id]++
		}
	}
	by := map[stateID][]weighed{}
	for id, n := range counts {
		frames := a.stacks.info(id).frames
		state := running
		if assisting(frames) {
			state = assist
		}
		by[state] = append(by[state], weighed{frames, n})
	}
	for _, list := range by {
		sortWeighed(list)
	}
	return by
}

// chainSamples returns what the last goroutines of chains ran.
func (a *collector) chainSamples() map[chainID][]weighed {
	by := map[chainID][]weighed{}
	for key, n := range a.chains.ran {
		frames := a.stacks.info(key.stack).frames
		if assisting(frames) == (a.chains.links[key.chain].state == assist) {
			by[key.chain] = append(by[key.chain], weighed{frames, n})
		}
	}
	for _, list := range by {
		sortWeighed(list)
	}
	return by
}

// profiled returns what the run's CPU profile says of goroutines that began in
// entry, or of those that serve requests.
func (a *collector) profiled(entry nameID, assists bool) []weighed {
	if a.o.CPU == nil {
		return nil
	}
	if a.cpu == nil {
		a.cpu = a.o.CPU()
		a.o.CPU = func() []Ran { return nil }
		if a.cpu == nil {
			a.cpu = []Ran{}
		}
	}
	var list []weighed
	for _, r := range a.cpu {
		if len(r.Stack) == 0 || r.Value <= 0 || assisting(r.Stack) != assists {
			continue
		}
		began := r.Stack[len(r.Stack)-1].Function
		serves, _ := entryServer(began)
		if entry == 0 && serves != serverNone || entry != 0 && began == a.stacks.names[entry] {
			list = append(list, weighed{r.Stack, r.Value})
		}
	}
	return list
}

func sortWeighed(list []weighed) {
	slices.SortFunc(list, func(x, y weighed) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), slices.CompareFunc(x.frames, y.frames, compareFrames))
	})
}

func compareFrames(x, y code.Frame) int {
	return cmp.Or(cmp.Compare(x.Function, y.Function), cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line))
}
