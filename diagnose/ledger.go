package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// leastEntry is the least part of the whole for which a ledger names an entry.
// Smaller ones are added to their group, so that nothing is lost and the list stays
// short.
const leastEntry = 0.02

// leastObserved is the part of the process's CPU above which the ledger shows
// redline's own use; below it that use is left out of the whole.
const leastObserved = 0.01

const (
	instrumentation = "instrumentation: redline's probe and traces"

	ofDatabase = "database"
	ownRest    = "other code of the service"
	moduleRest = "other modules"
	waitRest   = "other waits"
)

// ledger accounts for all of the request time and all of the service's CPU, whereas
// findings name only what limits the service. A half that was not measured is
// empty; nil if neither was.
func (p *Pass) ledger() *findings.Ledger {
	l := &findings.Ledger{CPU: p.cpuLedger(), RequestTime: p.timeLedger()}
	if len(l.CPU) == 0 && len(l.RequestTime) == 0 {
		return nil
	}
	if l.Path = p.pathEntries(); len(l.Path) == 0 {
		l.PathWhy = p.pathWhy()
	}
	l.Most = p.most(l)
	if w := p.Waits(); len(l.RequestTime) > 0 {
		l.Shape = fmt.Sprintf("The mean request takes %s, %s of it on CPU", p.length(), Percent(w.Share(callstack.Busy)))
		if use := p.CPU().Use(); !math.IsNaN(use) {
			l.Shape += fmt.Sprintf("; CPUs are %s busy", Percent(min(1, use)))
		}
		for _, peer := range p.BusyPeers() {
			l.Shape += "; " + peer.Text
		}
		l.Shape += "."
	}
	return l
}

// mostApart is the part of itself by which the load's mean request may differ from that of the traces for them to be told as one.
const mostApart = 0.05

// length is the mean request's time as the load has it, and that which the ledger divides, of the requests that are complete in a trace,
// where they differ: traces cut long requests off and are taken for a part of the run, and the load's figure has the network and the
// generator's own delay in it.
func (p *Pass) length() string {
	traced, all := p.Waits().MeanNS(), p.Load().Service
	switch {
	case p.Anatomy == nil || !(all > 0) || math.Abs(all-traced) <= mostApart*all:
		return Span(traced)
	case p.Anatomy.Requests == 0:
		return fmt.Sprintf("%s. No trace caught a complete one; the incomplete ones average %s", Span(all), Span(traced))
	}
	return fmt.Sprintf("%s; the %s %s", Span(all), Counted(float64(p.Anatomy.Requests), "complete request in the traces takes",
		"complete requests in the traces average"), Span(traced))
}

// mostly is the part of the whole at which one thing has most of it.
const mostly = 0.5

// most names what takes most of the load's CPU, if CPUs are saturated, or else of the requests'
// time; "" if nothing does, or if the load shows that nothing is slow. Running and queueing
// for a CPU are not a single thing: the CPU half names the function. If the load with its
// database is known to saturate the CPUs, the wait for the database is not one either: it is a
// queue for CPUs, and statements that the server counted are judged one by one.
func (p *Pass) most(l *findings.Ledger) string {
	c := p.CPU()
	if p.Load().Instant() {
		return ""
	}
	if use, err := p.Use(); err == nil && c.Use() >= evidence.Saturation {
		// A part of the service's CPU is a smaller part of the load's.
		if part := c.Target / c.Used(); part > 0 {
			if at, share, ok := use.Deepest(mostly / part); ok {
				return fmt.Sprintf("%s of the service's CPU is below %s", Percent(share), named(at))
			}
		}
	}
	if text := p.busiest(c); text != "" {
		return text
	}
	for _, e := range l.RequestTime {
		switch e.Who {
		case findings.OnCPU, findings.QueuedForCPU, findings.ForClient, findings.ForAnEvent:
			continue
		}
		switch {
		case e.Share <= mostly:
		case e.Who == ofDatabase && c.Database > 0 && c.Full():
			if part := c.Database / c.Used(); part > mostly && !p.Has(NeedStatements) {
				return fmt.Sprintf("the database takes %s of the CPU that the load uses", Percent(part))
			}
		case e.Who == findings.Unattributed || e.Who == findings.Collecting:
			return fmt.Sprintf("%s of request time is %s", Percent(e.Share), e.Who)
		default:
			return fmt.Sprintf("%s of request time is one wait: %s", Percent(e.Share), e.Who)
		}
	}
	return ""
}

// busiest names the program on this host that takes most of the load's CPU at the service's request, if
// CPUs are saturated; "" if none does.
func (p *Pass) busiest(c evidence.CPU) string {
	if peers := p.Peers(); len(peers) > 0 && c.Full() {
		if part := peers[0].CPUs / c.Used(); part > mostly {
			return fmt.Sprintf("%s, which the service calls on port %s, takes %s of the CPU that the load uses",
				peers[0].Program, peers[0].Port, Percent(part))
		}
	}
	return ""
}

// largest names the largest part of the service's CPU that one change could remove, if CPUs limit the
// load and nothing is worth a finding; "" if none is worth MinGain. Amdahl's law bounds its gain on a
// host without other programs.
func (p *Pass) largest() string {
	use, err := p.Use()
	if err != nil || use.Samples < leastSamples || !p.CPU().Saturated() || p.Load().Instant() {
		return ""
	}
	parts := p.Parts()
	if len(parts) == 0 || Ceiling(parts[0].Share) < MinGain {
		return ""
	}
	part := parts[0]
	where := part.What
	if at := named(part.Place); where == callstack.Short(part.Place.Function) {
		where = at
	} else {
		where += ", most of it below " + at
	}
	return fmt.Sprintf("%s, %s of the service's CPU: at most %s (%s)", where, Percent(part.Share),
		notation.Factor(Ceiling(part.Share)), part.Cause)
}

// account sums the amounts attributed to each name.
type account struct {
	sums  map[string]float64
	group map[string]string
	total float64
	// whole is what the shares are of, if it is known independently; otherwise
	// total is.
	whole float64
}

func newAccount() *account {
	return &account{sums: map[string]float64{}, group: map[string]string{}}
}

// book adds an amount, in whatever unit, to a name. group takes over if the sum
// stays small.
func (a *account) book(who, group string, value float64) {
	a.sums[who] += value
	a.group[who] = group
	a.total += value
}

// entries returns the shares of the total, largest first, unattributed last.
func (a *account) entries() []findings.LedgerEntry {
	if !(a.total > 0) {
		return nil
	}
	whole := a.total
	if a.whole > 0 {
		whole = a.whole
		a.book(findings.Unattributed, "", max(0, whole-a.total))
	}
	shares := map[string]float64{}
	// In a fixed order, because the last digit of a sum of fractions depends on it,
	// and judging twice must print the same.
	for _, who := range slices.Sorted(maps.Keys(a.sums)) {
		sum := a.sums[who]
		if group := a.group[who]; group != "" && sum < leastEntry*whole {
			who = group
		}
		if sum > 0 {
			shares[who] += sum / whole
		}
	}
	list := make([]findings.LedgerEntry, 0, len(shares))
	for who, share := range shares {
		list = append(list, findings.LedgerEntry{Who: who, Share: share})
	}
	last := func(e findings.LedgerEntry) int {
		if e.Who == findings.Unattributed {
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(a, b findings.LedgerEntry) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(b.Share, a.Share), cmp.Compare(a.Who, b.Who))
	})
	return list
}

// cpuLedger attributes each sample to its innermost frame outside the standard
// library: that code chose to call the frames below it. Marking on idle CPUs is
// left out, as in Use.
func (p *Pass) cpuLedger() []findings.LedgerEntry {
	use, err := p.Use()
	if err != nil {
		return nil
	}
	a := newAccount()
	for s := range use.All {
		who, group := p.responsible(s)
		a.book(who, group, float64(s.Value))
	}
	if observed := p.Observed(); observed > leastObserved {
		a.book(instrumentation, "", a.total*observed/(1-observed))
	}
	return a.entries()
}

// responsible returns the name that a sample is attributed to, and the group for small
// sums. No frame chose to run the collector, the scheduler or the kernel, so these take
// precedence over frames.
func (p *Pass) responsible(s usage.Booked) (who, group string) {
	switch {
	case len(s.Stack) == 0:
		return findings.Unattributed, ""
	case s.Domain.Has(callstack.GCAssist | callstack.GCWork):
		return findings.Collecting, ""
	case s.Domain.Has(callstack.Schedule):
		return "runtime: scheduler", ""
	}
	if leaf, _ := callstack.Split(s.Stack[0].Function); leaf == "syscall" ||
		strings.HasSuffix(leaf, "runtime/syscall") || strings.HasSuffix(leaf, "runtime/syscall/linux") {
		return "kernel", ""
	}
	for _, f := range s.Stack {
		pkg, _ := callstack.Split(f.Function)
		switch {
		case p.Stacks.User(f):
			return callstack.Short(callstack.Enclosing(f.Function)), ownRest
		case pkg != "" && !callstack.Standard(pkg):
			return module(pkg), moduleRest
		}
	}
	if s.Roles.Has(callstack.Server) {
		return "standard library: server", ""
	}
	for _, f := range s.Stack {
		if pkg, _ := callstack.Split(f.Function); pkg != "" && pkg != "runtime" && !strings.HasPrefix(pkg, "internal/") {
			return "standard library", ""
		}
	}
	return "runtime", ""
}

// module returns the module of a package by its host's convention: three elements
// of the path, "github.com/jackc/pgx". The binary's list of modules would be exact,
// but only instrumented builds have it.
func module(pkg string) string {
	parts := strings.Split(pkg, "/")
	return strings.Join(parts[:min(3, len(parts))], "/")
}

// timeLedger attributes the mean request's time to what it waits for. Waits are not
// scaled to fill that time: the remainder is unattributed. The trace does not say what
// a running goroutine executes; the CPU ledger does.
func (p *Pass) timeLedger() []findings.LedgerEntry {
	w, a := p.Waits(), newAccount()
	for _, kind := range w.Kinds() {
		for _, s := range w.Sites(kind) {
			who, group := waitsFor(kind, s.Place)
			if (kind == callstack.OtherWait || kind == callstack.StopWait) && callstack.Calls(s.Part.Stack, "runtime.GC") {
				who = findings.Collecting // a cycle that the request forces
			}
			a.book(who, group, s.NS)
		}
	}
	a.whole = w.MeanNS()
	return a.entries()
}

// waitsFor names what a kind of wait is for. Waits inside the service carry their
// place, because "lock" alone says nothing; waits for other servers do not need
// one.
func waitsFor(kind callstack.Wait, at code.Frame) (who, group string) {
	switch kind {
	case callstack.Busy:
		return findings.OnCPU, ""
	case callstack.Queued:
		return findings.QueuedForCPU, ""
	case callstack.Collector:
		return findings.Collecting, ""
	case callstack.DatabaseWait, callstack.PrepareWait:
		return ofDatabase, ""
	case callstack.HTTPWait, callstack.HTTPOpen:
		return "HTTP upstream", ""
	case callstack.ChannelWait:
		return placed("channel or worker", at), waitRest
	case callstack.ClientWait:
		return findings.ForClient, ""
	case callstack.PoolWait, callstack.ConnectWait, callstack.RPCWait, callstack.OwnServer, callstack.NetworkWait,
		callstack.ChildWait, callstack.LogWait, callstack.SyncWait, callstack.FileWait, callstack.SyscallWait, callstack.EventWait:
		return string(kind), ""
	case callstack.OtherWait:
		return findings.Unattributed, ""
	}
	return placed(string(kind), at), waitRest
}

func placed(what string, at code.Frame) string {
	if at.Function == "" {
		return what
	}
	return what + " in " + callstack.Short(callstack.Enclosing(at.Function))
}
