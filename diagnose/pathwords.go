package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

const (
	// pathLines is how many lines of a path are printed, and leastLine the least
	// part of request time for which a line, or a part of one, is printed.
	pathLines = 7
	leastLine = 0.03
	// onWay: a function with this part of its time in one callee only leads there.
	onWay = 0.7
	// pathDepth is how many nested waits a line follows.
	pathDepth = 3
)

// pathEntries describes where a request's time goes, longest first. The shares of
// the lines sum to 1.
func (p *Pass) pathEntries() []findings.LedgerPath {
	var list []findings.LedgerPath
	rest := 0.0
	nodes, handed := p.Unfolded()
	p.handed = handed
	nodes = p.withoutItself(nodes)
	for _, n := range nodes {
		if n.Share < leastLine || len(list) == pathLines || n.Kind == breakdown.PathOther {
			rest += n.Share
			continue
		}
		line := findings.LedgerPath{Share: n.Share, NS: n.NS}
		line.Text = p.lineOf(n)
		at := waits.PlaceOf(n)
		if p.inCall(n) {
			at, _ = p.caller(n)
		}
		if work, _, ok := waits.Worker(n); ok {
			at = waits.PlaceOf(work)
		} else if work, _, ok := waits.Worker(breakdown.PathNode{Share: n.Share, Nodes: []breakdown.PathNode{n}}); ok {
			at = waits.PlaceOf(work)
		}
		if p.Stacks.User(at) {
			line.Function, line.File, line.Line = at.Function, at.File, at.Line
		}
		// Two waits of one call, for a connection and for the response, read alike.
		if i := slices.IndexFunc(list, func(l findings.LedgerPath) bool { return l.Text == line.Text }); i >= 0 {
			list[i].Share, list[i].NS = list[i].Share+line.Share, list[i].NS+line.NS
			continue
		}
		list = append(list, line)
	}
	switch {
	case rest > 0 && len(list) == 0:
		list = append(list, findings.LedgerPath{Share: rest, Text: "everything, each part below 3 %"})
	case rest >= leastLine && len(nodes) > pathLines:
		list = append(list, findings.LedgerPath{Share: rest, Text: "everything else"})
	case rest > 0:
		list = append(list, findings.LedgerPath{Share: rest, Text: "everything else, each part below 3 %"})
	}
	return list
}

// withoutItself leaves out what requests wait for the service's own server: the requests that it answers then are among those of the
// path, whose parts are of the rest. A gateway that calls its own gRPC server would otherwise show each wait twice.
func (p *Pass) withoutItself(nodes []breakdown.PathNode) []breakdown.PathNode {
	own := 0.0
	itself := func(n breakdown.PathNode) bool {
		if p.inCall(n) {
			_, kind := p.callOf(n)
			return kind == callstack.OwnServer
		}
		return n.Kind == breakdown.PathState && p.Stacks.Wait(breakdown.Part{State: n.State, Stack: n.Stack}) == callstack.OwnServer
	}
	for _, n := range nodes {
		if itself(n) {
			own += n.Share
		}
	}
	if own == 0 || own > 1-leastLine { // what it answers was not seen
		return nodes
	}
	rest := make([]breakdown.PathNode, 0, len(nodes))
	for _, n := range nodes {
		if !itself(n) {
			n.Share /= 1 - own
			rest = append(rest, n)
		}
	}
	return rest
}

// pathWhy says why there is no path.
func (p *Pass) pathWhy() string {
	switch {
	case !p.Has(NeedAnatomy):
		return p.Explain(NeedAnatomy)
	case p.Anatomy.Path == nil:
		return "an earlier version of redline analysed this bundle, and its traces are gone"
	}
	return p.Anatomy.Path.Why
}

// lineOf describes one node of the first level.
func (p *Pass) lineOf(n breakdown.PathNode) string {
	if n.Kind == breakdown.PathState {
		return p.stateWords(n)
	}
	return p.behindWords(n, 1)
}

// behindWords describes a wait for a goroutine, and what that goroutine does in
// that time. It follows nested waits up to pathDepth: a longer line is not
// readable.
func (p *Pass) behindWords(n breakdown.PathNode, depth int) string {
	text, call := p.waitWords(n), p.inCall(n)
	if others := p.callers(n); call && depth == 1 && others > 1 {
		text += " and " + Counted(float64(others-1), "other function", "other functions")
	}
	var does []string
	for _, c := range n.Nodes {
		if c.Share < leastLine || len(does) == 3 || c.Kind == breakdown.PathOther {
			break
		}
		if call && p.answers(c) {
			continue // the client's goroutine waits for what the call waits for
		}
		var words string
		switch {
		case c.Kind == breakdown.PathState:
			words = p.stateWords(c)
		case depth < pathDepth:
			words = p.behindWords(c, depth+1)
		default:
			words = p.waitWords(c)
		}
		does = append(does, Percent(c.Share)+" "+words)
	}
	if len(does) == 0 {
		return text
	}
	if depth > 1 {
		return text + " (" + strings.Join(does, ", ") + ")"
	}
	return text + ": " + strings.Join(does, ", ")
}

// waitWords names what a request waits for, and how busy that is if it serves many
// requests.
func (p *Pass) waitWords(n breakdown.PathNode) string {
	if n.Kind == breakdown.PathRequest {
		at := ""
		if f := waits.PlaceOf(n); f.Function != "" {
			at = " in " + named(f)
		}
		if n.State == breakdown.StateLock {
			return "waiting for the lock" + at + ", held by another request"
		}
		return "waiting for another request" + at
	}
	if p.inCall(n) {
		return p.callWords(n)
	}
	who := callstack.Short(n.Function)
	if n.Function == "" {
		who = "a goroutine"
	}
	// One that serves a single request hardly lives longer, and how busy it is afterwards says nothing.
	if s, ok := p.Path().Serial(n.Function); ok && s.Utilization >= leastSerial && s.Requests > s.Goroutines {
		if s.Goroutines == 1 {
			return fmt.Sprintf("waiting for one goroutine, %s, busy %s of the time", who, Percent(s.Utilization))
		}
		return fmt.Sprintf("waiting for %d goroutines of %s, each busy %s of the time", s.Goroutines, who, Percent(s.Utilization))
	}
	if f := waits.SiteFrame(n.Site); f.Function != "" && p.Stacks.User(f) {
		switch {
		case n.Function == "":
			return fmt.Sprintf("waiting in %s for %s", named(f), who)
		case p.Starts(n.Function, f):
			return fmt.Sprintf("waiting in %s for goroutines it started (%s)", named(f), who)
		}
		return fmt.Sprintf("waiting in %s for goroutines of %s", named(f), who)
	}
	return "waiting for goroutines of " + who
}

// leastSerial is the utilisation from which how busy a goroutine is says something of a wait behind it.
const leastSerial = 0.01

// inCall reports whether a node is a wait in a client's call, for a goroutine of the client's.
func (p *Pass) inCall(n breakdown.PathNode) bool {
	return n.Kind == breakdown.PathGoroutine && p.Stacks.Plumbing(n.Function)
}

// answers reports whether a client's goroutine waits for the far end: on a connection, or in a
// database within the process.
func (p *Pass) answers(n breakdown.PathNode) bool {
	if n.Kind != breakdown.PathState {
		return false
	}
	return n.State == breakdown.StateNetwork || n.State == breakdown.StateSelect ||
		p.Stacks.Wait(breakdown.Part{State: n.State, Stack: n.Stack}) == callstack.DatabaseWait
}

// callWords names the call in which a request waits for a client's goroutine.
func (p *Pass) callWords(n breakdown.PathNode) string {
	at, kind := p.callOf(n)
	words := waiting(kind)
	if !p.Stacks.User(at) {
		return words
	}
	return words + " in " + named(at)
}

// callOf returns the place of a call in which a request waits for a client's goroutine, and what it waits for.
func (p *Pass) callOf(n breakdown.PathNode) (at code.Frame, kind callstack.Wait) {
	at, stack := p.caller(n)
	if i := p.Stacks.Innermost(stack); i >= 0 {
		stack = stack[:i+1] // the call may be made in a function that a database's transaction was handed
	}
	return at, p.Stacks.Wait(breakdown.Part{State: n.State, Stack: stack})
}

// caller returns the place of the longest wait for a client's goroutine, and that wait's stack. A
// node has only its site, whose file has no folder; the anatomy has the stacks.
func (p *Pass) caller(n breakdown.PathNode) (at code.Frame, stack []code.Frame) {
	outer, inner, _ := strings.Cut(n.Site, " < ")
	at, stack = waits.SiteFrame(n.Site), []code.Frame{{Function: outer}, waits.SiteFrame(inner)}
	if inner == "" {
		stack = []code.Frame{at}
	}
	known, most := p.Stacks.User(at), int64(0)
	for _, part := range p.Anatomy.All {
		for _, c := range part.Behind {
			waiting := part.Stack
			for _, l := range c.Links {
				i := p.Stacks.Innermost(waiting)
				switch {
				case i < 0 || l.Goroutine != n.Function:
				case known && waiting[i].Function == at.Function && waiting[i].Line == at.Line:
					f, _ := p.Stacks.Place(waiting) // below a RoundTripper of the service's it is whoever called
					return f, waiting
				case !known && c.NS > most: // the longest wait's caller is lost
					most, stack = c.NS, waiting
				}
				waiting = l.Stack
			}
		}
	}
	if f, ok := p.Stacks.Place(stack); ok && most > 0 {
		return f, stack
	}
	return at, stack
}

// callers returns in how many functions requests wait for the goroutines of a node of the first level,
// each for a part that would be worth a line.
func (p *Pass) callers(n breakdown.PathNode) (functions int) {
	shares := map[string]float64{}
	for _, part := range p.Anatomy.All {
		for _, c := range part.Behind {
			waiting, links := part.Stack, c.Links
			for len(links) > 1 && slices.Contains(p.handed, links[0].Goroutine) {
				waiting, links = links[0].Stack, links[1:]
			}
			if f, ok := p.Stacks.Place(waiting); ok && len(links) > 0 && links[0].Goroutine == n.Function {
				shares[f.Function] += c.Share
			}
		}
	}
	for _, share := range shares {
		if share >= leastLine {
			functions++
		}
	}
	return functions
}

// stateWords describes what a goroutine does itself.
func (p *Pass) stateWords(n breakdown.PathNode) string {
	switch n.State {
	case breakdown.StateRunning:
		return "running" + ranWords(n, "")
	case breakdown.StateAssist:
		return "helping the garbage collector" + ranWords(n, " in")
	case breakdown.StateRunnable:
		return "waiting for a CPU"
	case breakdown.StateSTW:
		return "stopped while the runtime stops the world"
	case breakdown.StateStoppedByCall:
		return "stopped while " + p.stopper(n) + " stops the world"
	}
	kind := p.Stacks.Wait(breakdown.Part{State: n.State, Stack: n.Stack})
	words := waiting(kind)
	at := waits.PlaceOf(n)
	if at.Function == "" {
		if n.Site == "" {
			return words
		}
		at = waits.SiteFrame(n.Site)
	}
	return words + " in " + named(at)
}

// stopper names the function that stops the world for a node.
func (p *Pass) stopper(n breakdown.PathNode) string {
	at := waits.PlaceOf(n)
	if at.Function == "" {
		at = waits.SiteFrame(n.Site)
	}
	if at.Function == "" {
		return "the program"
	}
	return named(at)
}

// named formats a function with its line, or without if its file is unknown.
func named(f code.Frame) string {
	name, at := callstack.Short(f.Function), At(f)
	if at == name {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, at)
}

// waiting describes a goroutine in a kind of wait.
func waiting(kind callstack.Wait) string {
	if words, ok := acting[kind]; ok {
		return words
	}
	if what := waits.For(kind); what != "" {
		return "waiting for " + what
	}
	return "waiting (" + string(kind) + ")"
}

// acting describes kinds of wait by what the goroutine does itself.
var acting = map[callstack.Wait]string{
	callstack.HTTPOpen:    "opening an HTTP connection",
	callstack.LogWait:     "writing logs",
	callstack.SyncWait:    "syncing a file",
	callstack.SyscallWait: "making a system call",
	callstack.ChannelWait: "waiting at a channel",
	callstack.OtherWait:   "waiting for the runtime",
}

// ranWords describes what runs below a node: the function in which the work
// divides, and its parts. Functions that only lead there are skipped, because a
// handler's name says nothing about its time. in precedes the function.
func ranWords(n breakdown.PathNode, in string) string {
	at := n
	for {
		next := slices.IndexFunc(at.Nodes, func(c breakdown.PathNode) bool {
			return c.Kind == breakdown.PathWork && c.Own && c.Share >= onWay*at.Share
		})
		if next < 0 {
			break
		}
		at = at.Nodes[next]
	}
	var parts []string
	for _, c := range at.Nodes {
		if c.Kind == breakdown.PathWork && c.Share >= leastLine && len(parts) < 3 {
			parts = append(parts, callee(c))
		}
	}
	if at.Kind != breakdown.PathWork {
		if len(parts) == 0 {
			return ""
		}
		return ": " + strings.Join(parts, ", ")
	}
	text := fmt.Sprintf("%s %s (%s", in, callstack.Short(at.Function), At(waits.PlaceOf(at)))
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text + ")"
}

// callee formats a function below another, with its line if it is the service's
// own.
func callee(c breakdown.PathNode) string {
	text := callstack.Short(c.Function)
	if c.Own {
		text += " " + At(waits.PlaceOf(c))
	}
	return text + " " + Percent(c.Share)
}
