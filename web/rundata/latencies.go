package rundata

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/timebase"
)

// latencyLog is the latency log as the page adds it up over any span that a reader selects:
// histograms per kind, request of the mix and interval. web/page/src/latencies.ts reads it.
type latencyLog struct {
	// Edges holds where intervals begin and end: from, to, from, to... in s.
	Edges Values `json:"edges"`
	// Steps names the requests of the mix; empty for a single one.
	Steps []string `json:"steps"`
	// Shift says how coarse buckets are. Bucket b holds the values below 2^Shift * (b + 1)
	// and not below 2^Shift * b of the numbers that histogram.New gives its buckets: at 0
	// they are the record's own, of 0.1 %; each step doubles that.
	Shift int     `json:"shift"`
	Parts []parts `json:"parts"`
}

// parts are the histograms of one kind and request, one for each interval that has any.
type parts struct {
	Kind histogram.Kind `json:"kind"`
	Step int            `json:"step"` // -1 is all of the mix
	At   []int          `json:"at"`   // the intervals, ascending
	// Buckets holds for each interval the number of its buckets, then bucket, count; bucket,
	// count; ...: each bucket as its distance from the one before, the first from 0.
	Buckets []int64 `json:"buckets"`
}

// Bounds on the log that is inlined: a minute at 1 s, a longer run at a 150th, and
// buckets as fine as have room.
const (
	maxIntervals   = 150
	leastInterval  = time.Second
	maxLogged      = 60_000 // pairs of bucket and count
	coarsest       = 6      // buckets of 6 %
	maxLoggedSteps = 32
)

type logKey struct {
	kind histogram.Kind
	step int
	at   int
}

// logReader adds the log up in intervals of the page.
type logReader struct {
	log           latencyLog
	whole, judged timebase.Span
	width         time.Duration
	names         map[string]string // of requests, by their tag in the log
	steps         map[string]int
	spans         map[int]timebase.Span
	counts        map[logKey]map[int]int64
}

// loggedKinds are the kinds that the page shows, and whether it does by request of the mix.
var loggedKinds = []struct {
	kind  histogram.Kind
	apart bool
}{
	{histogram.Latency, true}, {histogram.ErrorLatency, true}, {histogram.Service, false}, {histogram.FirstByte, false},
	{histogram.Lag, false},
}

// latenciesOf reads the log; nil when it is empty. names are those of the mix's requests. Kinds
// that are not shown by request are added up over the mix.
func latenciesOf(rec *record.Record, whole timebase.Span, names []record.StepSummary) (*latencyLog, error) {
	width := max(leastInterval, (whole.Len()+maxIntervals-1)/maxIntervals)
	r := logReader{
		log: latencyLog{Steps: []string{}}, whole: whole, judged: rec.Judged(),
		width: (width + timebase.DefaultWindow - 1) / timebase.DefaultWindow * timebase.DefaultWindow,
		names: map[string]string{}, steps: map[string]int{}, spans: map[int]timebase.Span{},
		counts: map[logKey]map[int]int64{},
	}
	for _, s := range names {
		r.names[histogram.TagStep(s.Name)] = s.Name
	}
	for _, k := range loggedKinds {
		err := rec.Intervals(k.kind, func(step string, s timebase.Span, c *histogram.Counts) bool {
			r.add(k.kind, k.apart, step, s, c)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	if len(r.spans) == 0 {
		return nil, nil
	}
	l := &r.log
	if len(l.Steps) > maxLoggedSteps {
		l.Steps = append(l.Steps[:maxLoggedSteps:maxLoggedSteps], "(other requests)")
	}
	l.fill(r.spans, r.counts)
	return l, nil
}

// add counts one interval of the log.
func (r *logReader) add(kind histogram.Kind, apart bool, step string, s timebase.Span, c *histogram.Counts) {
	if s.From < r.whole.From || s.From >= r.whole.To {
		return
	}
	// Intervals end where the measured span begins and ends; joined ones do, too.
	at := 3 * int((s.From-r.whole.From)/r.width)
	if s.From >= r.judged.From {
		at++
	}
	if s.From >= r.judged.To {
		at++
	}
	span, ok := r.spans[at]
	if !ok {
		span = s
	}
	r.spans[at] = timebase.Span{From: min(span.From, s.From), To: max(span.To, s.To)}
	key := logKey{kind, -1, at}
	if apart {
		if _, ok := r.steps[step]; !ok {
			r.steps[step] = len(r.steps)
			r.log.Steps = append(r.log.Steps, notation.Clean(cmp.Or(r.names[step], step)))
		}
		key.step = min(r.steps[step], maxLoggedSteps)
	}
	into := r.counts[key]
	if into == nil {
		into = map[int]int64{}
		r.counts[key] = into
	}
	for b := range c.Buckets() {
		into[bucketIndex(b.From)] += b.Count
	}
}

// fill writes the histograms, as fine as there is room for.
func (l *latencyLog) fill(spans map[int]timebase.Span, counts map[logKey]map[int]int64) {
	order := slices.Sorted(maps.Keys(spans))
	place := map[int]int{}
	for i, at := range order {
		place[at] = i
		l.Edges = append(l.Edges, spans[at].From.Seconds(), spans[at].To.Seconds())
	}
	for l.Shift = 0; l.Shift < coarsest && size(counts, l.Shift) > maxLogged; l.Shift++ {
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b logKey) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.step, b.step), cmp.Compare(a.at, b.at))
	})
	for _, k := range keys {
		if n := len(l.Parts); n == 0 || l.Parts[n-1].Kind != k.kind || l.Parts[n-1].Step != k.step {
			l.Parts = append(l.Parts, parts{Kind: k.kind, Step: k.step})
		}
		p := &l.Parts[len(l.Parts)-1]
		coarse := map[int]int64{}
		for bucket, n := range counts[k] {
			coarse[bucket>>l.Shift] += n
		}
		p.At, p.Buckets = append(p.At, place[k.at]), append(p.Buckets, int64(len(coarse)))
		before := 0
		for _, bucket := range slices.Sorted(maps.Keys(coarse)) {
			p.Buckets = append(p.Buckets, int64(bucket-before), coarse[bucket])
			before = bucket
		}
	}
}

// size counts the pairs that buckets of a coarseness make.
func size(counts map[logKey]map[int]int64, shift int) (n int) {
	for _, c := range counts {
		seen := map[int]bool{}
		for bucket := range c {
			seen[bucket>>shift] = true
		}
		n += len(seen)
	}
	return n
}

// bucketIndex numbers the buckets of histogram.New by their lowest value: 2,048 of 64 ns, then
// 1,024 for each doubling.
func bucketIndex(low int64) int {
	doubled := max(bits.Len64(uint64(low))-17, 0)
	return doubled<<10 + int(low>>(doubled+6))
}
