package waits

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

const (
	// Crowd is how many requests per worker must wait to be a queue: each worker is
	// serving one of them. Twelve of the corpus' thumb-workers would have to wait for
	// one; order-sequencer has 31 before its only one.
	Crowd = 1.3
	// bursts: a wait for workers that is this many times as long in the slowest
	// requests as in the median ones is a queue that comes and goes.
	bursts = 3
	// followedMost: if at least this part of a wait's time was followed, it represents
	// the rest.
	followedMost = 0.5
	// again: a request that waits this often at one place is not woken there by
	// what it waits for, or not each time.
	again = 2
)

// piece is a portion of a part's time, by what it was ultimately spent on.
type piece struct {
	kind  callstack.Wait
	place code.Frame
	part  breakdown.Part // with the piece's own NS and Times
	via   callstack.Wait
	from  code.Frame
	by    string // the function that the goroutine waited for began in
}

// divider turns waits for goroutines that work for the request alone (its own, or a
// worker without a queue) into what those do meanwhile. Waits for something that
// others hold stay as they are, because there the holding matters.
type divider struct {
	p      *Requests
	queues map[string]bool // by state and place
	events map[string]bool // likewise; a long poll's slowest waits all end by their timer
	// inner is what a wait for the target's own server is divided into, innerNS its sum, and outer the part of the anatomy's
	// mean request that remains if these waits do not count beside it; see nested.go.
	inner   []piece
	innerNS int64
	outer   float64
}

// newDivider decides per state and place, over all parts there, whether it is a
// queue or an event, because a single part of the anatomy may be too short for
// Little's law.
func newDivider(p *Requests) *divider {
	d := &divider{p: p, queues: map[string]bool{}, events: map[string]bool{}}
	a := p.Anatomy
	median, tail, all := map[string]int64{}, map[string]int64{}, map[string]breakdown.Part{}
	for _, part := range a.Median {
		median[d.key(part)] += part.NS
	}
	for _, part := range a.Tail {
		tail[d.key(part)] += part.NS
	}
	for _, part := range a.All {
		key := d.key(part)
		sum, known := all[key]
		if !known {
			all[key] = part // parts come longest first, and the longest one's waker stands for all
			continue
		}
		// What was followed is compared with the time, so it is summed, too.
		sum.NS, sum.Times, sum.Behind = sum.NS+part.NS, sum.Times+part.Times, slices.Concat(sum.Behind, part.Behind)
		all[key] = sum
	}
	for key, part := range all {
		burst := a.TailNS > a.MedianNS && float64(tail[key]) > bursts*max(1e5, float64(median[key]))
		d.queues[key] = d.queue(part, burst)
		d.events[key] = p.Stacks.Wait(part) == callstack.EventWait && !d.handsIn(part)
	}
	d.inner, d.innerNS, d.outer = d.nested()
	return d
}

func (d *divider) key(part breakdown.Part) string {
	at, _ := d.p.Stacks.Place(part.Stack)
	return string(part.State) + " " + at.Function + ":" + strconv.Itoa(at.Line)
}

// queue reports whether more requests wait here than workers can serve, by Little's
// law: the rate times the wait is the number that wait at a time.
func (d *divider) queue(part breakdown.Part, burst bool) bool {
	e := d.p.Ender(part)
	if e.By != ByWorker || d.p.Event(part) {
		return false
	}
	workers := max(1, e.Workers)
	waiting := d.p.Load().Rate * float64(part.NS) / 1e9
	return waiting > Crowd*workers || burst && workers < 2
}

// Event reports whether an event that all waiters see ends the waits: a closed channel or
// Cond.Broadcast, by a goroutine that was idle until then. A goroutine that works for most
// of the wait is not one: it answers each request by closing that request's own channel,
// and requests queue for it. Nor are several workers that wake all waiters whenever one of
// them is done: the waiters whose turn it is not wait again.
func (p *Requests) Event(part breakdown.Part) bool {
	if !callstack.Broadcasts(part.Waker) {
		return false
	}
	if one, ok := p.Path().Serial(measured.Entry(part.Waker)); ok && one.Goroutines == 1 && 2*(one.OnCPU+one.Queued) > one.Utilization {
		return false // it works while requests wait, however it signals that it is done
	}
	var followed, works int64
	for _, c := range part.Behind {
		followed += c.NS
		switch p.Stacks.Root(c) {
		case callstack.SleepWait, callstack.EventWait, callstack.OtherWait:
		default:
			works += c.NS
		}
	}
	if !callstack.Closes(part.Waker) && part.Times < again {
		return true
	}
	return 2*works <= followed || float64(followed) < followedMost*float64(part.NS)
}

// divide returns the pieces of a part; they sum to it.
func (d *divider) divide(part breakdown.Part) []piece {
	whole, only := d.whole(part)
	switch {
	case only != nil:
		return d.behind(whole, only)
	case whole.kind == callstack.OwnServer:
		return d.within(whole)
	}
	return []piece{whole}
}

// whole returns a part as one piece, and which waits of the goroutines behind it are
// to be named in its place; nil if none.
func (d *divider) whole(part breakdown.Part) (whole piece, only func(callstack.Wait) bool) {
	kind := d.p.Stacks.Wait(part)
	place, _ := d.p.Stacks.Place(part.Stack)
	if kind == callstack.SleepWait && d.events[d.key(part)] {
		kind = callstack.EventWait
	}
	if kind == callstack.EventWait && d.handsIn(part) {
		kind = callstack.ChannelWait
	}
	part = d.p.standIn(part, kind)
	whole = piece{kind: kind, place: place, part: part}
	all := func(callstack.Wait) bool { return true }
	switch kind {
	case callstack.ChannelWait, callstack.JoinWait:
		if _, _, ok := d.p.OwnSlots(part); ok {
			whole.kind = callstack.SemaphoreW // what holds the slot is not what is missing
			return whole, nil
		}
		switch e := d.p.Ender(part); {
		case e.By == ByShared:
			whole.kind = callstack.FlightWait
			return whole, elsewhere
		case e.By == ByOwn:
		case e.By == ByWorker && d.announced(part):
			whole.kind = callstack.EventWait
			return whole, nil
		case e.By == ByWorker && d.answered(part):
			whole.kind = callstack.RPCWait
			return whole, nil
		case e.By == ByWorker && !d.queues[d.key(part)]:
		case e.By == ByWorker && d.timed(part):
		default:
			return whole, nil
		}
		return whole, all
	case callstack.FlightWait:
		return whole, elsewhere
	case callstack.HTTPWait, callstack.RPCWait:
		return whole, unanswered
	case callstack.SleepWait:
		if len(part.Behind) > 0 && callstack.Deadline(part.Waker) {
			// The request waited for a goroutine, and a deadline came first.
			whole.kind = callstack.ChannelWait
			return whole, all
		}
	}
	return whole, nil
}

// announced reports whether requests wait on a condition that a goroutine announces to all of them when its own timer says so:
// a long poll. Whoever hands something in for a timer to flush waits for a channel of its own.
func (d *divider) announced(part breakdown.Part) bool {
	return d.p.Event(part) && !callstack.Closes(part.Waker) && d.timed(part) && !d.handsIn(part)
}

// timed reports whether workers wait for a timer while requests wait for them: a
// batch that a ticker flushes, not a queue.
func (d *divider) timed(part breakdown.Part) bool {
	var timed, followed int64
	for _, c := range part.Behind {
		followed += c.NS
		if _, more := d.gathers(part, c); more || d.p.Stacks.Root(c) == callstack.SleepWait {
			timed += c.NS
		}
	}
	return timed*2 > followed && float64(followed) >= followedMost*float64(part.NS)
}

// answered reports whether workers that run none of the user's code mostly wait for the network while requests wait for them: they
// read the answers to calls of a client that no rule knows, such as net/rpc's, for all that wait.
func (d *divider) answered(part breakdown.Part) bool {
	var followed, reads int64
	for _, c := range part.Behind {
		followed += c.NS
		if d.p.Stacks.Root(c) == callstack.NetworkWait && !slices.ContainsFunc(c.Links, d.users) {
			reads += c.NS
		}
	}
	return 2*reads > followed && float64(followed) >= followedMost*float64(part.NS)
}

// users reports whether a goroutine serves requests or is in the user's code.
func (d *divider) users(l breakdown.Link) bool {
	return l.Request || d.p.Stacks.Innermost(l.Stack) >= 0 || d.p.Stacks.User(code.Frame{Function: l.Goroutine})
}

// elsewhere reports whether a wait is for something outside the process's own
// CPUs and locks.
func elsewhere(kind callstack.Wait) bool {
	switch kind {
	case callstack.DatabaseWait, callstack.PoolWait, callstack.ConnectWait, callstack.PrepareWait,
		callstack.HTTPWait, callstack.HTTPOpen, callstack.RPCWait, callstack.NetworkWait, callstack.ChildWait, callstack.SleepWait,
		callstack.SyncWait, callstack.FileWait, callstack.SyscallWait:
		return true
	}
	return false
}

// unanswered reports whether a goroutine of a client's own waits for something that is not the call's answer while a request
// waits for it: it opens the connection, or waits until a batch is due.
func unanswered(kind callstack.Wait) bool {
	return kind == callstack.HTTPOpen || kind == callstack.SleepWait
}

// Called returns the part of a wait in a client's call, in ns, that is for the call's answer.
func (w *Table) Called(part breakdown.Part) (ns float64) {
	if w.by == nil || w.by.p.Stacks.Wait(part) == callstack.OwnServer {
		return float64(part.NS)
	}
	for _, one := range w.by.divide(part) {
		if one.kind.Call() {
			ns += float64(one.part.NS)
		}
	}
	return ns
}

// HeldOutside returns the part of a site's waits, 0 to 1, in which the goroutines that end them wait for
// something outside the process's own CPUs and locks themselves. 0 if most of the waits were not followed.
func (p *Requests) HeldOutside(s Site) float64 {
	var followed, outside int64
	for _, c := range s.Part.Behind {
		followed += c.NS
		if elsewhere(p.Stacks.Root(c)) {
			outside += c.NS
		}
	}
	if followed == 0 || float64(followed) < followedMost*float64(s.Part.NS) {
		return 0
	}
	return float64(outside) / float64(followed)
}

// behind divides a wait by its chains. If most of it was followed, the rest is
// assumed to be like it.
func (d *divider) behind(whole piece, only func(callstack.Wait) bool) []piece {
	whole.by = d.p.Ender(whole.part).Entry
	scale := scaleOf(whole.part)
	var pieces []piece
	left, times := whole.part.NS, whole.part.Times
	for _, c := range whole.part.Behind {
		kind, end, ok := d.as(whole, only, c)
		if !ok {
			continue
		}
		ns := min(left, int64(scale*float64(c.NS)))
		if ns <= 0 {
			continue
		}
		last := c.Links[end]
		one := piece{kind: kind, place: d.place(breakdown.Chain{Links: c.Links[:end+1]}), via: whole.kind, from: whole.place, by: whole.by}
		one.part = breakdown.Part{
			State: last.State, Site: last.Site, Stack: last.Stack, NS: ns,
			Share: whole.part.Share * float64(ns) / float64(whole.part.NS), Times: whole.part.Times * float64(ns) / float64(whole.part.NS),
		}
		if rest := c.Links[end+1:]; len(rest) > 0 && kind != callstack.SleepWait { // nobody waits for requests that have not come
			one.part.Behind = []breakdown.Chain{{NS: ns, Share: c.Share, Links: rest}}
			one.part.Times = scale * last.Times
		}
		if kind == callstack.HTTPOpen && last.Times > 0 {
			one.part.Times = scale * last.Times // counted, however short
		}
		if whole.kind.Call() && !d.p.Stacks.User(one.place) {
			one.place = whole.place // the client's own code
		}
		left, times = left-ns, times-one.part.Times
		pieces = append(pieces, one)
	}
	if left > 0 {
		whole.part.NS, whole.part.Times = left, max(0, times)
		if whole.kind != callstack.FlightWait && !whole.kind.Call() {
			whole.via, whole.from = whole.kind, whole.place // the goroutine works for this request; on what was not followed
		}
		pieces = append(pieces, whole)
	}
	return pieces
}

// as returns the wait that a chain is named as in place of the whole one, and its link; ok is false if it is not.
func (d *divider) as(whole piece, only func(callstack.Wait) bool, c breakdown.Chain) (kind callstack.Wait, end int, ok bool) {
	kind, end = d.p.Stacks.Root(c), len(c.Links)-1
	if i, lock := d.p.Locked(c); lock != "" && !whole.kind.Call() {
		kind, end = lock, i
	} else if i, more := d.gathers(whole.part, c); more {
		kind, end = callstack.SleepWait, i
	}
	return kind, end, kind != callstack.OtherWait && only(kind) && (!whole.kind.Call() || d.clients(c))
}

// named returns which of a part's chains are divided so that what their ends wait for is a site itself.
func (d *divider) named(part breakdown.Part) func(breakdown.Chain) bool {
	whole, only := d.whole(part)
	return func(c breakdown.Chain) bool {
		if only == nil {
			return false
		}
		_, end, ok := d.as(whole, only, c)
		return ok && end == len(c.Links)-1
	}
}

// Locked returns the first link of a chain that waits for a lock, and its kind; "" without one. What is
// behind it is the holder's work and not done for the request.
func (p *Requests) Locked(c breakdown.Chain) (at int, kind callstack.Wait) {
	for i, l := range c.Links {
		switch kind := p.Stacks.Wait(breakdown.Part{State: l.State, Stack: l.Stack}); kind {
		case callstack.LockWait, callstack.ReadLockWait:
			return i, kind
		}
	}
	return -1, ""
}

// clients reports whether all goroutines of a chain are a client's own.
func (d *divider) clients(c breakdown.Chain) bool {
	return !slices.ContainsFunc(c.Links, func(l breakdown.Link) bool { return l.Request || !d.p.Stacks.Plumbing(l.Goroutine) })
}

// scaleOf returns what the time of a part's chains is multiplied by: if most of the wait was
// followed, the rest is assumed to be like it.
func scaleOf(part breakdown.Part) float64 {
	var followed int64
	for _, c := range part.Behind {
		followed += c.NS
	}
	if followed == 0 || float64(followed) < followedMost*float64(part.NS) {
		return 1
	}
	return float64(part.NS) / float64(followed)
}

// place returns where a chain ends, in the user's code if any link is in it.
func (d *divider) place(c breakdown.Chain) code.Frame {
	last := c.Links[len(c.Links)-1]
	for i := len(c.Links) - 1; i >= 0; i-- {
		if stack := c.Links[i].Stack; d.p.Stacks.Innermost(stack) >= 0 {
			at, _ := d.p.Stacks.Place(stack)
			return at
		}
		if i == len(c.Links)-1 {
			continue
		}
		if f := SiteFrame(c.Links[i].Site); f.Function != "" && d.p.Stacks.User(f) {
			return f
		}
	}
	// A client's stack may fill a trace's, so that whoever called it is lost; it says more than the connection's reader.
	for _, l := range slices.Backward(c.Links) {
		if at, ok := d.p.Stacks.Place(l.Stack); ok && callstack.Dependency(at.Function) {
			return at
		}
	}
	if at, ok := d.p.Stacks.Place(last.Stack); ok {
		return at
	}
	return SiteFrame(last.Site)
}

// SiteFrame parses the frame at the end of a site: "A < B file.go:12", or "B file.go:12"
// alone. The file has no folder.
func SiteFrame(site string) code.Frame {
	if _, after, ok := strings.Cut(site, " < "); ok {
		site = after
	}
	function, at, ok := strings.Cut(site, " ")
	if !ok {
		return code.Frame{Function: function}
	}
	file, line, _ := strings.Cut(path.Base(at), ":")
	n, _ := strconv.Atoi(line)
	return code.Frame{Function: function, File: file, Line: n}
}
