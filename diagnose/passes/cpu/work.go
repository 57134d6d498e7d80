package cpu

import (
	"fmt"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// Work of the runtime and the kernel for the service's own functions counts only
// where it is most of a function's: one look-up does not make a function's CPU the
// map's. It is reported at a fifth of the service's CPU or more; balanced services of the
// corpus have below 5 % of each (short-links: its map 1 %).
const (
	leastWork = 0.2
	// leastCalls is the least number of system calls that a request makes from one
	// place. A server needs one read and one write, and a handler a few.
	leastCalls = 8
)

// work describes an analyzer of work that the runtime or the kernel does for
// functions of the service. Unlike domain it counts whole functions that mostly do
// this, not single samples, so that the finding is about a function that a reader
// can change.
type work struct {
	name, doc string
	cause     diagnose.Cause
	role      callstack.Role
	worth     float64 // see domain
	title     string
	remedy    func(hot usage.Hot) string
	// more adds evidence, or returns false to drop the finding.
	more func(p *diagnose.Pass, f *diagnose.Finding, hot usage.Hot) bool
}

func (w work) analyzer() diagnose.Analyzer {
	return diagnose.Analyzer{
		Name: w.name, Doc: w.doc, Stage: diagnose.CPUUse, Causes: []diagnose.Cause{w.cause},
		Needs: []diagnose.Need{diagnose.NeedCPUProfile}, Run: w.run,
	}
}

// run sums the functions whose main work is w.role, and names the largest.
// Functions are sorted by share, so the largest comes first.
func (w work) run(p *diagnose.Pass) ([]diagnose.Finding, error) {
	use, err := p.Use()
	if err != nil || !p.Sampled(use, w.cause.ID) {
		return nil, err
	}
	share := 0.0
	var hot usage.Hot
	for _, h := range use.Own() {
		if h.Work != w.role {
			continue
		}
		if share += h.Share; hot.Share == 0 {
			hot = h
		}
	}
	if share < leastWork {
		return nil, nil
	}
	if b, ok := p.Compiled(); ok && b.Share >= share && b.Place.Function == hot.Place.Function {
		p.Reject(w.cause.ID, "%s takes %s of the CPU at %s, but as a part of one function's work, which is cpu-hot-function",
			callstack.Short(b.Function), diagnose.Percent(b.Share), diagnose.At(b.Place))
		return nil, nil // the library's maps cannot be given a size at the caller's line
	}
	f := diagnose.Finding{
		Cause: w.cause.ID, Share: min(1, share), ShareOf: diagnose.OfCPU, Where: diagnose.WhereOf(hot.Place),
		Title:  fmt.Sprintf("%s takes %s of the service's CPU, %s", w.title, diagnose.Percent(share), mostAt(hot, share)),
		Remedy: w.remedy(hot),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProfile, hot.Share, diagnose.Ratio,
				"%s of %s are in %s (%s), which spends most of its CPU on this",
				diagnose.Percent(hot.Share), samples(use), callstack.Short(hot.Place.Function), diagnose.At(hot.Place)),
		},
	}
	diagnose.Promise(&f, p.Ran(evidence.Work{Share: f.Share, Function: hot.Place.Function}))
	f.Confidence = confidence(p, f.GainCeiling, w.worth)
	if w.more != nil && !w.more(p, &f, hot) {
		return nil, nil
	}
	if place, delegate, ok := use.Repeats(hot.Place.Function); ok {
		w.moved(&f, hot, place, delegate)
		hot.Place = place
	}
	called(&f, use, hot.Place.Function)
	f.Evidence = append(f.Evidence, saturation(p)...)
	return []diagnose.Finding{f}, nil
}

// mostAt says where a use with a share of the service's CPU is, as the end of a title: at its largest place, which may have a small
// part of it.
func mostAt(hot usage.Hot, share float64) string {
	of := "most"
	if hot.Share < share/2 {
		of = diagnose.Percent(hot.Share / share)
	}
	return of + " of it at " + diagnose.At(hot.Place)
}

// moved moves a finding from a function that only hands calls on to the caller that repeats them.
func (w work) moved(f *diagnose.Finding, hot usage.Hot, to code.Frame, delegate string) {
	from := diagnose.At(hot.Place)
	f.Where = diagnose.WhereOf(to)
	f.Where.Detail = "through " + callstack.Short(delegate)
	f.Title = strings.ReplaceAll(f.Title, from, diagnose.At(to)) + ", " + f.Where.Detail
	f.Remedy = strings.ReplaceAll(f.Remedy, from, diagnose.At(to))
	f.Remedy = strings.ReplaceAll(f.Remedy, callstack.Short(delegate), callstack.Short(to.Function))
}

// called names the callers of a function if most of its CPU comes through them.
// Often the caller has the loop, and the remedy is there.
func called(f *diagnose.Finding, use *usage.Table, function string) {
	callers := use.Through(function, usage.ThroughNamed)
	if len(callers) == 0 {
		return
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, float64(len(callers)), "functions",
		"called by %s", usage.ThroughWords(callers)))
	if f.Where.Detail == "" {
		f.Where.Detail = "called by " + usage.PathWords(callers)
	}
}

// Map finds functions that spend their time in maps.
//
// Each use has its own remedy, and the wrong one is worse than none: a size hint
// was once advised for a map that is only searched. mapUse decides by the runtime's
// functions on the stack.
var Map = work{
	name: "maps", role: callstack.Map, worth: essential, title: "Filling and searching maps", more: mapUse,
	doc: "Counts own functions that spend more than half of their CPU in the runtime's maps, growth included, at 20 % or " +
		"more of the service's CPU.",
	cause: diagnose.Cause{
		ID: "cpu-map", Title: "Map operations use too much CPU",
		Doc: "A function spends most of its time in maps: it fills one for each request, which hashes keys and " +
			"grows the map; it looks up the same keys again and again; or it ranges over all entries to find a few.",
		Knows: "CPU samples of the service's own functions inside the runtime's map code and what it allocates to grow, if " +
			"that is more than half of the function and at least 20 % of the service's CPU. The runtime's functions distinguish " +
			"filling, looking up and ranging, each with its own remedy. If it is less than half, or a dependency's maps, the " +
			"function is cpu-hot-function.",
		Remedy: "Filling: a size hint, a smaller or integer key, a map that is reused. Looking up: once per " +
			"request, then keep the entry. Ranging: an index by the value looked for.",
		Example: diagnose.Example{Lang: "go",
			Before: "seen := map[visit]int{} // grows from nothing to thousands\nfor _, v := range visits { seen[v]++ }",
			After:  "seen := make(map[uint64]int, len(visits)) // sized, and by a number\nfor _, v := range visits { seen[v.id()]++ }"},
		Verify: verify, Cases: []string{"visit-counts", "short-links"},
	},
	remedy: func(h usage.Hot) string {
		return fmt.Sprintf("At %s, give the map its size when it is made, use a smaller key (a number rather "+
			"than a struct or string), or reuse the map between requests.", diagnose.At(h.Place))
	},
}.analyzer()

// mapUse says what the maps are used for; a map that is searched needs no size.
// Always true.
func mapUse(p *diagnose.Pass, f *diagnose.Finding, hot usage.Hot) bool {
	use, err := p.Use()
	if err != nil {
		return true
	}
	at, title := diagnose.At(hot.Place), ""
	switch use.MapUse(hot.Place.Function) {
	case callstack.MapFill:
		title = "Filling maps"
	case callstack.MapSearch:
		title = "Looking up keys in maps"
		f.Remedy = fmt.Sprintf("At %s, look each key up once per request and keep the entry (or a pointer "+
			"to it), use a smaller key, or a slice if keys are small numbers. If it searches entry by entry, "+
			"keep an index by the value that it looks for.", at)
	case callstack.MapShared:
		title = "Storing in sync.Maps"
		f.Remedy = fmt.Sprintf("At %s, load a key first and store only what is new or has changed, use a smaller key (a number "+
			"rather than a struct or string), or keep what only one request needs in a map of its own.", at)
	case callstack.MapScan:
		title = "Ranging over whole maps"
		f.Remedy = fmt.Sprintf("Keep an index by the value that %s looks for (a map from it to the entries) or a running "+
			"total, instead of ranging over all entries at %s.", callstack.Short(hot.Place.Function), at)
	default:
		return true
	}
	if hot.Share >= f.Share/2 { // otherwise the others may use theirs differently
		f.Title = fmt.Sprintf("%s takes %s of the service's CPU, most of it at %s", title, diagnose.Percent(f.Share), at)
	}
	return true
}

// Copy finds functions that spend their time moving bytes.
//
// Growing slices ends in memmove as well, but costs more in allocation and
// collection; those functions belong to alloc-hot.
var Copy = work{
	name: "copies", role: callstack.Copy, worth: avoidable, title: "Moving bytes",
	doc: "Counts own functions that spend more than half of their CPU moving or clearing memory, at 20 % or more of the service's " +
		"CPU.",
	cause: diagnose.Cause{
		ID: "cpu-copy", Title: "Moving bytes uses too much CPU",
		Doc: "A function spends most of its time in memmove: it shifts a slice by one, copies data that it could share, or " +
			"grows a slice step by step.",
		Knows: "CPU samples of the service's own functions that end in the runtime's memmove or memclr, if that is more than " +
			"half of the function and at least 20 % of the service's CPU. If growing slices or converting between text and bytes " +
			"costs more in allocation, it is alloc-hot. A dependency's copies count as the function called: cpu-hot-function.",
		Remedy: "A ring buffer instead of shifting, capacity from the start, views instead of copies.",
		Example: diagnose.Example{Lang: "go",
			Before: "copy(w.values, w.values[1:]) // for each value\nw.values[len(w.values)-1] = v",
			After:  "w.values[w.next] = v // a ring\nw.next = (w.next + 1) % len(w.values)"},
		Verify: verify, Cases: []string{"ticker-window"},
	},
	remedy: func(h usage.Hot) string {
		return fmt.Sprintf("At %s, move fewer bytes: a ring buffer instead of shifting, a view (sub-slice) instead "+
			"of a copy, capacity given when the slice is made.", diagnose.At(h.Place))
	},
}.analyzer()

// Syscalls finds functions that read or write in small pieces.
//
// The profile alone cannot distinguish a large write from a thousand small ones: both are
// kernel time. The trace counts the calls per request, so without it confidence is
// low.
var Syscalls = work{
	name: "small-io", role: callstack.SmallIO, worth: avoidable, title: "Reading or writing in small pieces",
	doc: "Counts own functions that spend more than half of their CPU in unbuffered read and write system calls, at " +
		"20 % or more of the service's CPU, and with at least 8 calls per request in the execution trace.",
	cause: diagnose.Cause{
		ID: "cpu-syscall", Title: "Many small reads or writes use too much CPU",
		Doc: "A function reads or writes a few bytes at a time, with a system call each time.",
		Knows: "CPU samples of the service's own functions inside unbuffered read or write system calls, those made by a " +
			"Flush after each piece, or those that look up names, sizes and dates, if that is more than half of the " +
			"function and at least 20 % of the service's CPU. The execution trace counts the calls per request: fewer than 8 are " +
			"the service's ordinary traffic; without a trace confidence is low. Formatted lines to a file are cpu-logging.",
		Remedy: "Use a bufio.Reader or bufio.Writer, or flush once; cache listings in memory.",
		Example: diagnose.Example{Lang: "go",
			Before: "f.Read(field[:16]) // 300 times",
			After:  "r := bufio.NewReader(f)\nio.ReadFull(r, field[:16])"},
		Verify: verify, Cases: []string{"zone-transfer", "score-stream", "short-links"},
	},
	remedy: func(h usage.Hot) string {
		return fmt.Sprintf("Put a bufio.Reader or bufio.Writer (at least 4 KB) in front of the file or connection at %s, and "+
			"flush it once instead of after each piece.", diagnose.At(h.Place))
	},
	more: calls,
}.analyzer()

// Atomics finds functions that spend their time in atomic operations.
//
// An atomic add on an owned cache line takes nanoseconds. One that another CPU
// holds takes tens to hundreds, because the line moves between caches; so a large
// share means contention. Only methods (atomic.Int64.Add) leave a frame for the
// profile; the compiler turns the functions (atomic.AddInt64) into instructions of
// the caller.
var Atomics = work{
	name: "atomics", role: callstack.Atomic, worth: avoidable, title: "Updating shared atomic variables",
	doc: "Counts own functions that spend more than half of their CPU in methods of sync/atomic, at 20 % or more of the service's " +
		"CPU.",
	cause: diagnose.Cause{
		ID: "atomic-contention", Title: "Updating shared atomic variables uses too much CPU",
		Doc: "A function updates atomic words thousands of times per request while other CPUs update them too: " +
			"the same word, or neighbours in its cache line (false sharing).",
		Knows: "CPU samples of the service's own functions whose innermost frame is a method of sync/atomic's types, if that " +
			"is more than half of the function and at least 20 % of the service's CPU. A profile shows that the operations take the " +
			"time, not which cache line they wait for. Only the CPU's own counters or an experiment can distinguish a word " +
			"that all CPUs update from neighbours in one line (false sharing); both are reported as this cause, and have the " +
			"same remedy: update less often, and in separate cache lines. The older functions (atomic.AddInt64) and plain stores " +
			"leave no frame: the function is then cpu-hot-function.",
		Remedy: "Count locally and add once, or use one padded counter per CPU or worker.",
		Example: diagnose.Example{Lang: "go",
			Before: "for range entries { g.total.Add(1) }",
			After: "g.total.Add(int64(len(entries)))\n\n" +
				"// neighbours that different CPUs update lie a cache line apart\ntype lane struct {\n" +
				"\tn atomic.Int64\n\t_ [56]byte\n}"},
		Verify: "redline ab with both, at GOMAXPROCS of the host: cpu_per_request falls.",
		Cases:  []string{"turnstile-totals", "lane-meters"},
	},
	remedy: func(h usage.Hot) string {
		return fmt.Sprintf("At %s, count in a local variable and add it once; where many goroutines must "+
			"update, give each its own word, padded to a cache line (64 bytes), and sum them when reading.", diagnose.At(h.Place))
	},
}.analyzer()

// walk advises not to descend where a function of the service calls itself to get to the files, such as one that counts what is
// below each folder of a listing. What it makes of them is then saved too: dms spent a third of its CPU in the system calls, and
// all but a tenth in the walk.
func walk(p *diagnose.Pass, f *diagnose.Finding, hot usage.Hot) {
	walker, share, ok := p.Walk(hot.Place.Function)
	if !ok || share < f.Share {
		return
	}
	name := callstack.Short(walker)
	f.Remedy += fmt.Sprintf(" If %s need not descend, or if its result is cached, all of that work goes away.", name)
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromProfile, share, diagnose.Ratio,
		"%s calls itself on the way there: everything below its first call takes %s of the CPU", name, diagnose.Percent(share)))
	if g := p.Ran(evidence.Work{Share: min(1, share), Function: walker}); g.Factor > max(f.GainHigh, f.GainCeiling) {
		f.GainHigh = g.Factor
		if f.GainLow == 0 {
			f.GainLow = f.GainCeiling
		}
	}
}
