package diagnose

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/waits"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/findings"
)

// MinGain is the least gain ceiling worth a finding: what an A/B comparison with
// the default margin of 5 % could confirm. Less cannot be distinguished from noise.
const MinGain = 1.05

// growsGain is the gain assumed for a cause that gets worse with time, for ranking
// only. Left alone it ends the service, so it ranks before a tuning worth a few per
// cent, but behind a loss of a third of the throughput today.
const growsGain = 1.33

// rootWorth is the part of a consequence's gain, as a logarithm, that its root must promise. Each
// gain is estimated from its own evidence, and the queue behind a cause is often longer than the
// visible cause itself (stock-reserve's idle transaction promises two thirds of the lock that it
// holds).
const rootWorth = 0.5

// Ceiling returns Amdahl's bound on the gain of removing a share (0 to 1) of the
// whole: 1/(1-share), at most 50. Most findings use the model (evidence.Set.Waited,
// Elsewhere and Ran); this is for wholes outside of it, such as the time of slow
// requests, or failures.
func Ceiling(share float64) float64 { return laws.Amdahl(share) }

// trust scales a finding's gain by its confidence, for ranking only: a hint must
// promise much more than an observation to be reported before it.
func trust(c findings.Confidence) float64 {
	switch c {
	case findings.High:
		return 1
	case findings.Medium:
		return 0.8
	}
	return 0.4
}

// rank folds consequences into their roots, drops findings that would gain nothing,
// sorts and numbers.
func (p *Pass) rank(suite []Analyzer, found []Finding) []Finding {
	stages, causes := map[string]Stage{}, map[string]Cause{}
	for _, a := range suite {
		for _, c := range a.Causes {
			stages[c.ID], causes[c.ID] = a.Stage, c
		}
	}
	kept := make([]Finding, 0, len(found))
	for _, f := range p.fold(found, causes) {
		c := causes[f.Cause]
		if f.GainCeiling < MinGain && !c.Voids && !c.Qualifies && !grows(f, causes) {
			p.Reject(f.Cause, "%s, but removing that could gain no more than %s%s", f.Title, Percent((f.GainCeiling - 1)), p.busy())
			continue
		}
		kept = append(kept, f)
	}
	p.sort(kept, stages, causes)
	for i := range kept {
		kept[i].Rank = i + 1
		// A gain that an analyzer raised is not that of its band any more.
		if f := &kept[i]; f.GainCeiling > f.GainHigh || f.GainCeiling < f.GainLow {
			f.GainLow, f.GainHigh = 0, 0
		}
		if kept[i].GainOf == "" {
			kept[i].GainOf = p.gainOf(kept[i])
		}
		if i == 0 {
			kept[i].Rejected = append(kept[i].Rejected, p.rejected...)
		}
		if kept[i].Rejected == nil {
			kept[i].Rejected = []findings.Rejected{}
		}
		if kept[i].Evidence == nil {
			kept[i].Evidence = []findings.Evidence{}
		}
	}
	return kept
}

// grows reports whether a finding gets worse with time, or one does that follows from it: each request may leave behind a
// connection that costs little now.
func grows(f Finding, causes map[string]Cause) bool {
	return causes[f.Cause].Grows || slices.ContainsFunc(f.Rejected, func(r findings.Rejected) bool { return causes[r.Cause].Grows })
}

// sort puts causes that void the run first, then findings by gain times trust, then
// causes that qualify; ties by stage, so that two diagnoses of a record print the
// same.
func (p *Pass) sort(found []Finding, stages map[string]Stage, causes map[string]Cause) {
	group := func(f Finding) int {
		switch c := causes[f.Cause]; {
		case c.Voids:
			return 0
		case c.Qualifies:
			return 2
		}
		return 1
	}
	worth := func(f Finding) float64 {
		gain := f.GainCeiling
		if f.ShareOf == OfCPU {
			gain = min(gain, p.Lifted())
		}
		if grows(f, causes) {
			gain = max(gain, growsGain)
		}
		return (gain - 1) * trust(f.Confidence)
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(group(a), group(b)),
			cmp.Compare(worth(b), worth(a)),
			cmp.Compare(stages[a.Cause], stages[b.Cause]),
			cmp.Compare(b.Share, a.Share),
			cmp.Compare(a.Cause, b.Cause),
		)
	})
}

// busy says why removing a wait gains little, if busy CPUs are the reason;
// otherwise "".
func (p *Pass) busy() string {
	if c := p.CPU(); c.Saturated() {
		return fmt.Sprintf(": the CPUs are %s busy already", Percent(min(1, c.Use())))
	}
	return ""
}

// fold reports a consequence in the finding of its root, if the root promises at
// least rootWorth of it: a reader should see one cause, not its echo in every
// queue. What follows from a consequence is reported together with it, in the same finding.
func (p *Pass) fold(found []Finding, causes map[string]Cause) []Finding {
	roots := p.roots(found, causes)
	kept, followed := make([]Finding, 0, len(found)), make([]bool, len(found))
	for i, f := range found {
		r := roots.last(i)
		if r == i {
			continue
		}
		to := &found[r]
		// A root that covers its own place has said in its words what the other cause finds there.
		if f.Where.Function != to.Where.Function || !p.covers(*to, f) {
			to.Title += map[bool]string{false: ", so ", true: ", and "}[followed[r]] + consequence(f, causes[f.Cause])
			followed[r] = true
		}
		to.Evidence = append(to.Evidence, f.Evidence...)
		why := "it follows from " + found[roots[i]].Cause + ": " + f.Title
		to.Rejected = append(to.Rejected, findings.Rejected{Cause: f.Cause, Why: why})
	}
	for i, f := range found {
		if roots[i] < 0 {
			kept = append(kept, f)
		}
	}
	return kept
}

// lineage holds for each finding the index of its root, negative if it has none. It has no circles.
type lineage []int

// last returns the finding that a chain of roots ends in: the finding itself if it has no root.
func (l lineage) last(i int) int {
	for l[i] >= 0 {
		i = l[i]
	}
	return i
}

// roots finds the root of each finding. Of two that may each be the other's root, the one that promises less follows.
func (p *Pass) roots(found []Finding, causes map[string]Cause) lineage {
	roots, order := make(lineage, len(found)), make([]int, len(found))
	for i := range found {
		roots[i], order[i] = -1, i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(found[a].GainCeiling, found[b].GainCeiling) })
	for _, i := range order {
		best := -1
		for r := range found {
			better := best < 0 || found[r].GainCeiling > found[best].GainCeiling
			if better && roots.last(r) != i && p.follows(found[i], found[r], causes) {
				best = r
			}
		}
		roots[i] = best
	}
	return roots
}

// follows reports whether a finding is the consequence of another that promises enough of its gain to include it.
func (p *Pass) follows(f, r Finding, causes map[string]Cause) bool {
	c := causes[f.Cause]
	covered, held := slices.Contains(c.CoveredBy, r.Cause) && p.covers(r, f), p.heldBy(f, r, causes)
	if r.Cause == f.Cause || !slices.Contains(c.FollowsFrom, r.Cause) && !covered && !held {
		return false
	}
	// A hint is the root only of findings at its own place.
	if r.Confidence == findings.Low && !(c.SamePlace && r.GainCeiling >= f.GainCeiling) {
		return false
	}
	if c.SamePlace && r.Where.Function != f.Where.Function && !p.covers(r, f) {
		return false
	}
	if p.apart(f.Cause, r.Where.Function) {
		return false
	}
	// Gains are factors with a pole where nothing remains, so their logarithms are
	// compared.
	enough := math.Log(r.GainCeiling) >= rootWorth*math.Log(f.GainCeiling)
	if held && !enough {
		// The queue's own gain is that without the work. Letting it run at once gains less, on few CPUs.
		enough = r.GainCeiling >= p.Waited(p.queues[placeKey(f)].Share).Factor
	}
	return enough || c.RunQueue && p.shortens(r) >= f.GainCeiling
}

// Reached notes the functions through which requests reach the place where a cause makes
// them wait. There may be several such places, and a queue at one pool does not follow from
// a statement that runs on another. nil notes that it follows from no function at all.
func (p *Pass) Reached(cause string, functions []string) { p.reached[cause] = functions }

// Cover notes functions, or other places (PlaceOf), whose work a finding explains, in addition to its own place. Its own function
// among them says that causes which follow from it there are the same work by another name.
func (p *Pass) Cover(f Finding, places ...string) {
	p.covered[placeKey(f)] = append(p.covered[placeKey(f)], places...)
}

// covers reports whether a finding explains the place of another. What is at no known place is covered by none.
func (p *Pass) covers(f, other Finding) bool {
	place := PlaceOf(other)
	return place != "" && slices.Contains(p.covered[placeKey(f)], place)
}

// PlaceOf names the place of a finding for Cover: its function or, where that is unknown, its statement.
func PlaceOf(f Finding) string { return cmp.Or(f.Where.Function, f.Where.SQL) }

// mostHeld is the part of a queue's wait that one function must account for, for the
// queue to be its consequence.
const mostHeld = 0.5

// Queue notes the site at which requests queue for the goroutine, the lock or the slot that a
// finding names.
func (p *Pass) Queue(f Finding, site waits.Site) { p.queues[placeKey(f)] = site }

func placeKey(f Finding) string { return f.Cause + " " + f.Where.Function }

// heldBy reports whether a queue is the consequence of what a root names: whether that is most of
// what is done, or waited for, while requests wait there.
func (p *Pass) heldBy(f, root Finding, causes map[string]Cause) bool {
	site, ok := p.queues[placeKey(f)]
	if !ok || !slices.Contains(causes[f.Cause].HeldBy, root.Cause) {
		return false
	}
	kinds := meanwhile(p.stageOf(root.Cause))
	return slices.ContainsFunc(append([]string{root.Where.Function}, p.covered[placeKey(root)]...), func(function string) bool {
		return p.Doing(site, function) >= mostHeld || p.MeanwhileAt(site, function, kinds...) >= mostHeld
	})
}

// meanwhile returns the waits in which a cause of a stage keeps who holds something. Use of the CPU keeps nobody waiting.
func meanwhile(s Stage) []callstack.Wait {
	switch s {
	case Host:
		return []callstack.Wait{callstack.SyncWait, callstack.FileWait}
	case Database:
		return []callstack.Wait{callstack.DatabaseWait, callstack.PrepareWait, callstack.ConnectWait, callstack.PoolWait,
			callstack.SyncWait}
	case Wait:
		return []callstack.Wait{callstack.HTTPWait, callstack.HTTPOpen, callstack.RPCWait, callstack.NetworkWait}
	}
	return nil
}

// stageOf returns the stage of the analyzer that names a cause.
func (p *Pass) stageOf(cause string) Stage {
	for _, a := range p.analyzers {
		if _, ok := Lookup([]Analyzer{a}, cause); ok {
			return a.Stage
		}
	}
	return Validity
}

// shortens returns by what factor the queue for the CPUs becomes shorter without the CPU that
// a finding takes: in a single queue, waiting grows as ρ/(1-ρ). It is 1 if that is unknown.
func (p *Pass) shortens(f Finding) float64 {
	c := p.CPU()
	if f.ShareOf != OfCPU {
		return 1
	}
	of := c.CPUs
	if c.Use() > c.HostUse() {
		of = c.Limit // the service's own limit is the busier resource
	}
	return laws.Queue(c.Use(), f.Share*p.Own()/of)
}

// apart reports whether the places of a cause are known and a function leads to
// none of them. An unknown one may lead to any of them, unless there is none.
func (p *Pass) apart(cause, function string) bool {
	functions, known := p.reached[cause]
	return known && (function != "" || functions == nil) && !slices.ContainsFunc(functions, func(name string) bool {
		return callstack.Enclosing(name) == callstack.Enclosing(function) // a transaction's body is a closure
	})
}

// consequence formats a folded finding as the second half of a sentence: "requests wait for a lock (62 % of request
// time)", "garbage collection takes 37 % of the CPU".
func consequence(f Finding, c Cause) string {
	title := LowerFirst(c.Title)
	for verb, takes := range map[string]string{" uses too much CPU": "takes", " use too much CPU": "take"} {
		if what, ok := strings.CutSuffix(title, verb); ok && f.ShareOf == OfCPU {
			return fmt.Sprintf("%s %s %s of the CPU", what, takes, Percent(f.Share))
		}
	}
	return fmt.Sprintf("%s (%s of %s)", title, Percent(f.Share), OfWhat(f.ShareOf))
}

// LowerFirst makes the beginning of a sentence that of a clause; an abbreviation keeps its capitals.
func LowerFirst(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && !(s[1] >= 'A' && s[1] <= 'Z') {
		return string(s[0]+'a'-'A') + s[1:]
	}
	return s
}
