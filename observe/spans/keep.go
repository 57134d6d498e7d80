package spans

import (
	"cmp"
	"container/heap"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/redact"
)

// Bounds of spans.jsonl, in spans.
const (
	maxKept     = 20_000
	maxOthers   = 5_000 // of these, spans of traces that are not the load's
	maxPerTrace = 1_000
)

// keeper keeps the traces of the load's own requests, the slowest when they are
// too many, and the slowest of the other spans.
type keeper struct {
	// traces are those of the load's own requests, kept whole: half a trace explains
	// no request.
	traces  map[[16]byte]*kept
	count   int       // spans of traces
	others  slowSpans // the slowest of all others
	evicted int64     // spans of traces that made room for slower ones
}

// kept is one trace.
type kept struct {
	spans []span
	took  int64 // of its longest span, in ns
}

// newKeeper returns a keeper without spans.
func newKeeper() keeper { return keeper{traces: map[[16]byte]*kept{}} }

// add takes a span; own ones are of a trace of the load's.
func (k *keeper) add(s *span, own bool) {
	if !own {
		k.addOther(s)
		return
	}
	t := k.traces[s.trace]
	if t == nil {
		t = &kept{}
		k.traces[s.trace] = t
	}
	t.took = max(t.took, s.took())
	if len(t.spans) >= maxPerTrace {
		k.evicted++
		return
	}
	t.spans = append(t.spans, *s)
	if k.count++; k.count > maxKept-maxOthers {
		k.trim()
	}
}

// trim drops the fastest traces until a quarter is free, so that it is seldom
// done. A span of a dropped trace that comes later begins it anew, as one of the
// fastest.
func (k *keeper) trim() {
	ids := slices.SortedFunc(maps.Keys(k.traces), func(a, b [16]byte) int {
		return cmp.Or(cmp.Compare(k.traces[a].took, k.traces[b].took), slices.Compare(a[:], b[:]))
	})
	for _, id := range ids {
		if k.count <= (maxKept-maxOthers)*3/4 || len(k.traces) == 1 {
			return
		}
		n := len(k.traces[id].spans)
		k.count -= n
		k.evicted += int64(n)
		delete(k.traces, id)
	}
}

// addOther keeps the span if it is among the slowest of those without a trace of the
// load. The heap has the fastest of them on top.
func (k *keeper) addOther(s *span) {
	switch {
	case len(k.others) < maxOthers:
		heap.Push(&k.others, *s)
	case s.took() > k.others[0].took():
		k.others[0] = *s
		heap.Fix(&k.others, 0)
	}
}

// recorded returns the kept spans, trace by trace, in order of time.
func (k *keeper) recorded(at func(wall uint64) time.Duration) []record.TraceSpan {
	all := slices.Clone([]span(k.others))
	for _, t := range k.traces {
		all = append(all, t.spans...)
	}
	slices.SortFunc(all, func(a, b span) int {
		return cmp.Or(slices.Compare(a.trace[:], b.trace[:]), cmp.Compare(a.from, b.from), slices.Compare(a.id[:], b.id[:]))
	})
	clean := redactor{}
	out := make([]record.TraceSpan, len(all))
	for i := range all {
		out[i] = all[i].record(at, clean)
	}
	return out
}

// record returns the span as spans.jsonl has it. at converts the service's wall clock,
// in ns since 1970. A span that ends before it begins, because a clock was set, has
// length zero.
func (s *span) record(at func(uint64) time.Duration, clean redactor) record.TraceSpan {
	r := record.TraceSpan{
		Trace: hex.EncodeToString(s.trace[:]), ID: hex.EncodeToString(s.id[:]),
		Service: clean.text(s.service), Name: clean.text(s.name), Kind: s.kind.String(),
		From: at(s.from), To: at(max(s.from, s.to)), Status: s.status.String(), Message: clean.text(s.message), Statement: s.statement,
	}
	if s.parent != [8]byte{} {
		r.Parent = hex.EncodeToString(s.parent[:])
	}
	if len(s.attributes) > 0 {
		r.Attributes = map[string]string{}
	}
	for _, a := range s.attributes {
		r.Attributes[a.key] = clean.text(a.value)
	}
	return r
}

// redactor hides secrets and remembers the result for each text.
type redactor map[string]string

// text hides secrets in a service's own words.
func (r redactor) text(text string) string {
	clean, ok := r[text]
	if !ok && text != "" {
		clean = redact.Text(text)
		r[text] = clean
	}
	return clean
}

// slowSpans is a heap with the shortest span on top.
type slowSpans []span

// Len, Less, Swap, Push and Pop serve container/heap.
func (h slowSpans) Len() int           { return len(h) }
func (h slowSpans) Less(i, j int) bool { return h[i].took() < h[j].took() }
func (h slowSpans) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *slowSpans) Push(x any)        { *h = append(*h, x.(span)) }
func (h *slowSpans) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
