package anatomy

import "golang.org/x/exp/trace"

// chainID numbers a chain of what a wait waited for. The zero chainID says that
// the wait was not followed.
type chainID int32

// link is one step of a chain: what a goroutine was doing, which itself, when it
// waited too, goes on in the links below it. Goroutines that began in the same
// function and did the same at the same site are reported as one.
type link struct {
	above   chainID
	entry   nameID
	site    nameID
	state   stateID
	request bool // the goroutine serves requests
}

// Bounds of following: links of a chain, goroutines looked at per wait (those
// that only stood in the same queue are no links), pieces that one wait is cut
// into, and distinct links of all traces.
const (
	maxLinks  = 5
	maxHops   = 192
	maxPieces = 512
	maxChains = 1 << 16
)

// chains interns links.
type chains struct {
	ids    map[link]chainID
	links  []link
	stacks []stackID // an example of each link's stack
	ran    map[chainStack]int64
}

func newChains() *chains {
	return &chains{ids: map[link]chainID{}, links: make([]link, 1), stacks: make([]stackID, 1), ran: map[chainStack]int64{}}
}

// add appends a link to a chain. Where no more are kept, the chain stays as it is.
func (c *chains) add(l link, stack stackID) chainID {
	id, ok := c.ids[l]
	if ok {
		return id
	}
	if len(c.links) >= maxChains {
		return l.above
	}
	id = chainID(len(c.links))
	c.ids[l] = id
	c.links, c.stacks = append(c.links, l), append(c.stacks, stack)
	return id
}

// list returns a chain's links, outermost first.
func (c *chains) list(id chainID) []chainID {
	var list [maxLinks]chainID
	n := len(list)
	for ; id != 0 && n > 0; id = c.links[id].above {
		n--
		list[n] = id
	}
	return list[n:]
}

// follower divides waits into what the goroutines that ended them were doing
// meanwhile.
//
// There are no cycles to fear: a goroutine that ended a wait at an instant was
// running then, so each step back follows a shorter stretch of time, and the
// goroutine that waited takes part in none of it.
type follower struct {
	goroutines *goroutines
	stacks     *stacks
	chains     *chains
	world      *world
	pieces     []piece // scratch: newest first
	hops       int
}

type piece struct {
	from  trace.Time
	chain chainID
}

// wait is what is being followed. A goroutine of the same kind that waits at the
// same place is in the same queue, and is no link of its own.
type wait struct {
	entry nameID
	state stateID
	site  nameID
	chain chainID
	depth int
}

// divide cuts a wait of goroutine g, which by ended, and pushes its pieces in
// order.
func (f *follower) divide(g *goroutine, seg segment, by trace.GoID, push func(segment)) {
	f.pieces, f.hops = f.pieces[:0], maxHops
	root := wait{entry: g.entry, state: seg.state, site: f.stacks.info(seg.stack).siteID}
	f.follow(seg.from, seg.to, by, root, root)
	for i := len(f.pieces) - 1; i >= 0; i-- {
		p, s := f.pieces[i], seg
		s.from, s.chain, s.more = p.from, p.chain, i < len(f.pieces)-1
		if i > 0 {
			s.to = f.pieces[i-1].from
		}
		push(s)
	}
}

// cut ends the stretch that is being divided at from, going back in time.
func (f *follower) cut(from trace.Time, chain chainID) {
	if n := len(f.pieces); n > 0 && f.pieces[n-1].chain == chain {
		f.pieces[n-1].from = from
		return
	}
	f.pieces = append(f.pieces, piece{from, chain})
}

// follow divides the time between from and to by what the goroutine by did then.
// It goes back in time, so that what is given up, when a bound is hit or a past
// forgotten, is the oldest part: that stays with the wait itself.
func (f *follower) follow(from, to trace.Time, by trace.GoID, w, root wait) {
	g := f.goroutines.byID[by]
	if g == nil || f.hops == 0 {
		f.cut(from, w.chain)
		return
	}
	f.hops--
	if g.since < to {
		start := max(from, g.since)
		f.describe(start, to, g, past{from: g.since, stack: f.siteStack(g), state: g.doing()}, w, root)
		to = start
	}
	for i := g.past.before(to) - 1; i >= 0 && to > from; i-- {
		p := g.past.at(i)
		start := max(from, p.from)
		f.describe(start, to, g, *p, w, root)
		to = start
	}
	switch {
	case to <= from:
	case g.born != 0 && g.born >= to && g.creator != 0:
		f.follow(from, to, g.creator, w, root) // who came to start it that late
	default:
		f.cut(from, w.chain)
	}
}

// describe adds what a goroutine did in one state.
func (f *follower) describe(from, to trace.Time, g *goroutine, p past, w, root wait) {
	if len(f.pieces) >= maxPieces {
		f.cut(from, w.chain)
		return
	}
	next := wait{entry: g.entry, state: p.state, site: f.stacks.info(p.stack).siteID, chain: w.chain, depth: w.depth}
	if !p.state.followed() || !f.queued(next, root) {
		if w.depth == maxLinks {
			f.cut(from, w.chain)
			return
		}
		l := link{above: w.chain, entry: g.entry, site: next.site, state: p.state, request: g.conn != nil && g.conn.server != serverNone}
		next.chain, next.depth = f.chains.add(l, p.stack), w.depth+1
		if len(g.ran) > 0 && (p.state == running || p.state == assist) {
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
func (f *follower) queued(w, root wait) bool {
	if w.entry == root.entry && w.state == root.state && w.site == root.site {
		return true
	}
	for id := w.chain; id != 0; id = f.chains.links[id].above {
		if l := f.chains.links[id]; l.entry == w.entry && l.state == w.state && l.site == w.site {
			return true
		}
	}
	return false
}

// doing returns the state of a goroutine's current stretch.
func (g *goroutine) doing() stateID {
	switch {
	case g.stops && g.state == running:
		return stopped
	case g.assist:
		return assist
	}
	return g.state
}

// siteStack returns the stack of a goroutine's current stretch.
func (f *follower) siteStack(g *goroutine) stackID {
	if g.doing().sited() {
		return g.stack
	}
	return 0
}
