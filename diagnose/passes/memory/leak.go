package memory

import (
	"fmt"
	"math"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/measured"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

const (
	// leastCycles is the number of cycles that must have reported the live heap: a
	// line through fewer points says nothing. A leak alone doubles the heap between
	// cycles, so a run of ten seconds has five or six.
	leastCycles = 4
	// leastGrowth is the growth of the live heap over the run: a heap profile
	// samples one allocation in 512 KiB, so 8 MiB are some sixteen samples.
	leastGrowth = 8 << 20
	// leastFit is the part of the live heap's variance that a straight line
	// explains (R²), and leastLasting the slope of the last half of the run over
	// that of the first: a cache that fills levels off.
	leastFit, leastLasting = 0.85, 0.6
	// leastGrown is one site's least part of the growth.
	leastGrown = 0.40
)

// Leak finds heaps that only grow.
//
// The heap between cycles is a saw-tooth that says more about GOGC than about the
// program; only what a cycle found alive is compared. A straight line that lasts
// separates a leak from a cache that fills, and the difference of two heap profiles
// says where it was allocated, though not who keeps it. Nothing separates a bounded
// cache that has not filled by the end of the run.
var Leak = diagnose.Analyzer{
	Name:  "leak",
	Stage: diagnose.Memory,
	Doc: "Follows the live heap that each cycle found: it must rise over at least four cycles, by 8 MiB or more, on " +
		"a straight line that does not level off. The heap profiles of both ends show the place, with at least 40 % of the " +
		"growth.",
	Causes: []diagnose.Cause{{
		ID: "heap-leak", Title: "The live heap keeps growing",
		Doc: "The memory that survives garbage collection rises steadily with the requests served: a map, list or closure keeps " +
			"data that is no longer needed. It is reported before it does harm.",
		Knows: "The live heap that each cycle found (never the heap between cycles) lies on a rising straight line through at " +
			"least four cycles, rises by at least 8 MiB, and rises about as fast in the last half of the run as in the first, so a " +
			"cache that fills up and levels off is not reported. One place must hold at least 40 % of the heap's growth between " +
			"the heap profiles of both ends, or else a function with everything it calls (low confidence). A bounded cache that " +
			"is not yet full at the end of the run looks the same: run for longer than it takes to fill.",
		Remedy: "Limit the data kept (by size or age), remove entries when their owner is gone, copy subslices that keep a large " +
			"array alive.",
		Example: diagnose.Example{Lang: "go",
			Before: "r.open[s.token] = s // and nothing ever deletes it",
			After:  "r.open.Add(s.token, s) // an LRU of a fixed size, with expiry"},
		Verify: "Run longer: the live heap that cycles find levels off (/gc/heap/live:bytes).",
		Cases:  []string{"session-registry", "audit-feed", "tiles-cache"},
		Grows:  true,
	}},
	Needs: []diagnose.Need{diagnose.NeedLoad},
	Run:   runLeak,
}

// runLeak looks at the trend first, which needs no profile, and then for the place
// in the profiles. If the trend is clear and the place is not, the cause is not
// judged and the reason gives the rate of growth, so that the reader knows that the
// heap grows.
func runLeak(p *diagnose.Pass) ([]diagnose.Finding, error) {
	const cause = "heap-leak"
	live, ok := survivors(p)
	if !ok {
		p.Unjudged(cause, "live heap unknown: it needs the probe (--build), or a target that redline starts (--exec)")
		return nil, nil
	}
	if len(live) < leastCycles {
		p.Unjudged(cause, "the collector reported the live heap %d times, but a trend needs %d: run longer", len(live), leastCycles)
		return nil, nil
	}
	early, late := halves(live)
	whole, first, last := fit(live), fit(early), fit(late)
	grew := whole.slope * (live[len(live)-1].at - live[0].at)
	if !(grew >= leastGrowth) || whole.explained < leastFit || last.slope < leastLasting*first.slope {
		return nil, nil
	}
	grown, ok, err := p.Growth()
	if err != nil {
		return nil, err
	}
	if !ok {
		p.Unjudged(cause, "the live heap grows by %s per second, but two heap profiles are needed to show where",
			diagnose.Size(whole.slope))
		return nil, nil
	}
	top, preposition := grownAt(p, grown)
	if preposition == "" {
		p.Reject(cause, "the live heap grows by %s per second, but no place holds %s of it",
			diagnose.Size(whole.slope), diagnose.Percent(leastGrown))
		return nil, nil
	}
	// A leak promises no throughput: it is reported before it hurts.
	share := min(1, top.bytes/float64(grown.Total))
	f := diagnose.Finding{
		Cause: cause, Share: share, ShareOf: "heap growth", GainCeiling: 1, Confidence: findings.Medium, Where: diagnose.WhereOf(top.place),
		Title: fmt.Sprintf("The live heap grows by %s per second, %s of it allocated %s %s",
			diagnose.Size(whole.slope), amount(share), preposition, diagnose.At(top.place)),
		Evidence: []findings.Evidence{
			diagnose.Fact(diagnose.FromProbe, whole.slope, diagnose.Bytes,
				"the live heap rose from %s to %s in a straight line over %d cycles",
				diagnose.Size(live[0].bytes), diagnose.Size(live[len(live)-1].bytes), len(live)),
			diagnose.Fact(diagnose.FromProfile, top.bytes, diagnose.Bytes,
				"%s of the heap's growth between two profiles, %s, was allocated in %s",
				diagnose.Percent(share), diagnose.Size(top.bytes), callstack.Short(top.place.Function)),
		},
		Remedy: fmt.Sprintf("Find what keeps the memory allocated %s %s alive: limit it by size or age, or delete entries when their "+
			"owner is gone.", preposition, diagnose.At(top.place)),
	}
	if preposition == below {
		f.Confidence = findings.Low
		f.Evidence[1].Text += " and what it calls"
	}
	if rate := p.Load().Rate; rate > 0 {
		f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromLoad, whole.slope/rate, diagnose.Bytes,
			"that is %s per request", diagnose.Size(whole.slope/rate)))
	}
	return []diagnose.Finding{f}, nil
}

// amount says how much of a whole a share is.
func amount(share float64) string {
	if share >= 0.5 {
		return "most"
	}
	return diagnose.Percent(share)
}

// at and below say how a growth belongs to a function: it allocates it itself, or what it calls does.
const at, below = "at", "below"

// grownAt returns the place that holds leastGrown of a growth, and how; "" if none does.
func grownAt(p *diagnose.Pass, grown *measured.Profile) (top site, preposition string) {
	if grown.Total == 0 {
		return site{}, ""
	}
	least := max(leastGrown*float64(grown.Total), leastGrowth/2)
	if sites := sitesOf(p, grown); len(sites) > 0 && sites[0].bytes >= least {
		return sites[0], at
	}
	// What is kept may be a record that several functions make, each a part: the function that calls them all has all of it.
	var all measured.Inclusive
	for _, s := range grown.Samples {
		all.Add(s.Stack, float64(s.Value), func(_ string, f code.Frame) bool { return p.Stacks.User(f) })
	}
	if place, bytes, ok := all.Deepest(least); ok {
		return site{place: place, bytes: bytes}, below
	}
	return site{}, ""
}

// alive is what one cycle found alive, and when, in seconds of the steady span.
type alive struct{ at, bytes float64 }

// survivors returns what cycles found alive in the steady span, and the last before it: one point per window whose value
// differs from the one before, because the runtime repeats the figure until the next cycle. So the first figure of a record has
// no date and is no point. ok is false if nothing was recorded.
func survivors(p *diagnose.Pass) (live []alive, ok bool) {
	steady := p.Steady()
	for _, name := range []string{"/gc/heap/live:bytes", series.GCLive} {
		before := math.NaN()
		line := p.Record.Series(name, "", timebase.Span{To: steady.To})
		for i, v := range line.Values {
			if math.IsNaN(v) {
				continue
			}
			at := float64(i)*line.Width.Seconds() - steady.From.Seconds()
			if ok && v != before {
				if len(live) == 1 && live[0].at < 0 && at <= 0 {
					live = live[:0]
				}
				live = append(live, alive{at, v})
			}
			before, ok = v, true
		}
		if ok {
			return live, true
		}
	}
	return nil, false
}

// halves divides points at the middle of their time; the points around it belong to both. Not at the middle of their number: a
// heap that grows is collected ever more rarely, and the cycles of the first second, when a run begins to observe, would be half.
func halves(points []alive) (early, late []alive) {
	middle := (points[0].at + points[len(points)-1].at) / 2
	i := slices.IndexFunc(points, func(a alive) bool { return a.at > middle })
	return points[:i+1], points[i-1:]
}

// line is a straight line through points by least squares.
type line struct {
	slope     float64 // bytes per second
	explained float64 // part of the variance that it explains, 0 to 1
}

func fit(points []alive) line {
	var n, mt, mb float64
	for _, p := range points {
		n, mt, mb = n+1, mt+p.at, mb+p.bytes
	}
	mt, mb = mt/n, mb/n
	var tt, tb, bb float64
	for _, p := range points {
		dt, db := p.at-mt, p.bytes-mb
		tt, tb, bb = tt+dt*dt, tb+dt*db, bb+db*db
	}
	if tt == 0 || bb == 0 {
		return line{}
	}
	return line{slope: tb / tt, explained: tb * tb / (tt * bb)}
}
