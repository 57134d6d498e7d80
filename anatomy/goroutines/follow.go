package goroutines

import (
	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
	"github.com/redline-go/redline/anatomy/server"
)

// ChainID identifies a chain of links: what a wait waited for, what that waited for, and so
// on. The zero ChainID means that the wait was not followed.
type ChainID int32

// link is one step of a chain: what a goroutine was doing. If that was a wait, it
// continues in the links below. Goroutines that began in the same function and did the
// same at the same site, called by the same functions of the target, are reported as one.
type link struct {
	above   ChainID
	Entry   interned.Name
	Site    interned.Name
	Path    interned.Name // of the target's functions that led to the site
	State   interned.State
	Request bool // the goroutine serves requests
}

// Bounds of following: links of a chain, goroutines examined per wait (those that only
// wait in the same queue are not links), pieces into which one wait is cut, and distinct
// links of all traces.
const (
	MaxLinks  = 5
	maxHops   = 192
	maxPieces = morePast
	maxChains = 1 << 16
)

// Chains interns links.
type Chains struct {
	ids    map[link]ChainID
	Links  []link
	Stacks []interned.Stack // an example of each link's stack
	Ran    map[chainStack]int64
}

// NewChains returns empty Chains.
func NewChains() *Chains {
	return &Chains{ids: map[link]ChainID{}, Links: make([]link, 1), Stacks: make([]interned.Stack, 1), Ran: map[chainStack]int64{}}
}

// add appends a link to a chain. Beyond the bound the chain stays as it is.
func (c *Chains) add(l link, stack interned.Stack) ChainID {
	id, ok := c.ids[l]
	if ok {
		return id
	}
	if len(c.Links) >= maxChains {
		return l.above
	}
	id = ChainID(len(c.Links))
	c.ids[l] = id
	c.Links, c.Stacks = append(c.Links, l), append(c.Stacks, stack)
	return id
}

// List returns a chain's links, outermost first.
func (c *Chains) List(id ChainID) []ChainID {
	var list [MaxLinks]ChainID
	n := len(list)
	for ; id != 0 && n > 0; id = c.Links[id].above {
		n--
		list[n] = id
	}
	return list[n:]
}

// Follower divides a wait by what the goroutine that ended it did meanwhile.
//
// Cycles are impossible: a goroutine that ended a wait was running then, so each step back
// follows a shorter stretch of time, in which the waiting goroutine does not take part.
type Follower struct {
	Goroutines *Set
	Stacks     *interned.Stacks
	Chains     *Chains
	World      *World
	pieces     []piece // scratch: newest first
	hops       int
	begun      uint8 // of the next piece
}

type piece struct {
	from  trace.Time
	chain ChainID
	begun uint8 // as in Segment
}

// wait is the wait being followed. A goroutine of the same kind that waits at the same
// site is in the same queue, and is not a link of its own.
type wait struct {
	entry interned.Name
	state interned.State
	site  interned.Name
	chain ChainID
	depth int
}

// divide cuts a wait of goroutine g, which goroutine by ended, and pushes its pieces in
// order.
func (f *Follower) divide(g *Goroutine, seg Segment, by trace.GoID, push func(Segment)) {
	f.pieces, f.hops, f.begun = f.pieces[:0], maxHops, MaxLinks
	seg.Timed = f.timed(seg.From, by)
	root := wait{entry: g.Entry, state: seg.State, site: f.Stacks.Info(seg.Stack).SiteID}
	f.follow(seg.From, seg.To, by, root, root)
	for i := len(f.pieces) - 1; i >= 0; i-- {
		p, s := f.pieces[i], seg
		s.From, s.Chain, s.Begun, s.More = p.from, p.chain, p.begun, i < len(f.pieces)-1
		if i > 0 {
			s.To = f.pieces[i-1].from
		}
		push(s)
	}
}

// timed reports whether a timer set off the goroutine that ended a wait which began at from: of what that one waited for since, it was the
// last that a request did not end. Waits for a client's goroutine, a lock or the network set nothing off: they are part of the work.
func (f *Follower) timed(from trace.Time, by trace.GoID) bool {
	g := f.Goroutines.ByID[by]
	if g == nil {
		return false
	}
	to := g.since
	for i := g.past.n - 1; i >= 0 && to > from; i-- {
		p := g.past.at(i)
		switch to = p.from; p.state {
		case interned.Sleeping:
			return true
		case interned.Channel, interned.Selecting, interned.Syncing:
			if p.by == 0 || f.serves(p.by) {
				return p.by == 0 && p.state != interned.Syncing
			}
		}
	}
	return false
}

// serves reports whether a goroutine serves requests or helps one.
func (f *Follower) serves(by trace.GoID) bool {
	g := f.Goroutines.ByID[by]
	if g == nil {
		return false
	}
	kind, _ := server.OfEntry(f.Stacks.Names[g.Entry]) // it may have ended
	of, _ := g.Request()
	return kind != server.None || of != nil || g.Conn != nil && g.Conn.Server != server.None
}

// cut ends the stretch that is being divided at from, going back in time.
func (f *Follower) cut(from trace.Time, chain ChainID) {
	begun := f.begun
	f.begun = MaxLinks
	if n := len(f.pieces); n > 0 && f.pieces[n-1].chain == chain {
		f.pieces[n-1].from = from
		return
	}
	f.pieces = append(f.pieces, piece{from, chain, begun})
}

// follow divides the time between from and to by what the goroutine by did then.
// It goes back in time, so that if a bound is hit or a past forgotten, the oldest part is
// given up: it stays with the wait itself.
func (f *Follower) follow(from, to trace.Time, by trace.GoID, w, root wait) {
	g := f.Goroutines.ByID[by]
	if g == nil || f.hops == 0 {
		f.cut(from, w.chain)
		return
	}
	f.hops--
	if g.since < to {
		start := max(from, g.since)
		state, stack := g.doing()
		f.describePast(start, to, g, past{from: g.since, stack: stack, state: state}, w, root)
		to = start
	}
	for i := g.past.before(to) - 1; i >= 0 && to > from; i-- {
		p := g.past.at(i)
		start := max(from, p.from)
		f.describePast(start, to, g, *p, w, root)
		to = start
	}
	switch {
	case to <= from:
	case g.Born != 0 && g.Born >= to && g.Creator != 0:
		f.follow(from, to, g.Creator, w, root) // the goroutine that started it so late
	default:
		f.cut(from, w.chain)
	}
}

// describePast adds what a goroutine did in one state, and apart from it the time in which it was ready but the program had
// stopped the world.
func (f *Follower) describePast(from, to trace.Time, g *Goroutine, p past, w, root wait) {
	if p.state == interned.Runnable {
		for _, s := range f.World.calls(from, to) {
			if s.To < to {
				f.describe(s.To, to, g, p, w, root)
			}
			f.describe(s.From, min(s.To, to), g, past{from: s.From, stack: s.By, state: interned.StoppedByCall}, w, root)
			to = s.From
		}
	}
	if from < to {
		f.describe(from, to, g, p, w, root)
	}
}

// describe adds what a goroutine did in one state.
func (f *Follower) describe(from, to trace.Time, g *Goroutine, p past, w, root wait) {
	if len(f.pieces) >= maxPieces {
		f.cut(from, w.chain)
		return
	}
	next := wait{entry: g.Entry, state: p.state, site: f.Stacks.Info(p.stack).SiteID, chain: w.chain, depth: w.depth}
	if !p.state.Followed() || !f.queued(next, root) {
		if w.depth == MaxLinks {
			f.cut(from, w.chain)
			return
		}
		l := link{above: w.chain, Entry: g.Entry, Site: next.site, Path: f.Stacks.Info(p.stack).Path, State: p.state,
			Request: g.Conn != nil && g.Conn.Server != server.None}
		f.begun = min(f.begun, uint8(w.depth))
		next.chain, next.depth = f.Chains.add(l, p.stack), w.depth+1
		if len(g.ran) > 0 && (p.state == interned.Running || p.state == interned.Assist) {
			f.sampled(g, from, to, next.chain)
		}
	}
	if p.by == 0 {
		f.cut(from, next.chain)
		return
	}
	f.follow(from, to, p.by, next, root)
}

// queued reports whether a wait is one in the queue of the wait that is followed,
// or of a link above.
func (f *Follower) queued(w, root wait) bool {
	if w.entry == root.entry && w.state == root.state && w.site == root.site {
		return true
	}
	for id := w.chain; id != 0; id = f.Chains.Links[id].above {
		if l := f.Chains.Links[id]; l.Entry == w.entry && l.State == w.state && l.Site == w.site {
			return true
		}
	}
	return false
}
