package load

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/redline-go/redline/load/account"
	"github.com/redline-go/redline/scenario"
)

// Trace is the trace context of a sampled request, which connects it to the spans, logs and
// traces of the services that handled it.
type Trace struct {
	ID     [16]byte
	Span   [8]byte
	Number int64 // the request's number in slow.jsonl
	// Request says which of the mix it is, from 1; 0 where there is only one.
	Request int

	index uint32 // of the run's sampled requests, from 1
}

// Names of the headers that carry a Trace, as HTTP/2 writes them.
const (
	ParentHeader = "traceparent"
	NumberHeader = "x-redline-request"
)

// AppendParent appends the value of the header traceparent, version 00, sampled
// (W3C Trace Context, section 3.2).
func (t *Trace) AppendParent(dst []byte) []byte {
	dst = append(dst, "00-"...)
	dst = hex.AppendEncode(dst, t.ID[:])
	dst = append(dst, '-')
	dst = hex.AppendEncode(dst, t.Span[:])
	return append(dst, "-01"...)
}

// AppendNumber appends the value of the header x-redline-request: the number, a dot, and
// the index in the mix. The record keeps numbers of slow requests only; the index lets an
// execution trace be divided by request of the mix.
func (t *Trace) AppendNumber(dst []byte) []byte {
	dst = strconv.AppendInt(dst, t.Number, 10)
	if t.Request > 0 {
		dst = strconv.AppendInt(append(dst, '.'), int64(t.Request), 10)
	}
	return dst
}

// traceID returns the trace id of a sampled request: the run's half, and a half in which
// successive requests have nothing in common, because samplers downstream may use it to
// decide.
func traceID(run uint64, index uint32) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:8], run)
	binary.BigEndian.PutUint64(id[8:], scatter(run+uint64(index)))
	return id
}

// scatter is a bijection that leaves no pattern: the finalizer of SplitMix64
// (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// tracesPerSecond is the most requests that a run samples: too few to affect a target
// that records nothing otherwise.
const tracesPerSecond = 50

// Traced is implemented by protocols whose requests can carry a Trace.
type Traced interface {
	// Traced reports whether the plan leaves the trace of a request of the mix to
	// redline.
	Traced(request int) bool
}

// Traceable reports whether a request can carry a Trace, because the plan sets neither of
// the two headers.
func Traceable(q scenario.Request) bool {
	for name := range q.Headers {
		if strings.EqualFold(name, ParentHeader) || strings.EqualFold(name, NumberHeader) {
			return false
		}
	}
	return true
}

// sampler chooses the requests of one loop that carry a Trace. All requests of the same
// moment are equally likely, whatever becomes of them: the number to skip is drawn at
// random, before anything is known about the next one. Sampling by time (the first
// request of every 20 ms) would choose requests after a stall too seldom.
type sampler struct {
	on    bool
	skip  int64 // requests to skip before the next
	every int64 // mean of skip, plus one
	gap   time.Duration

	allow     float64 // requests that may be sampled now
	allowedAt time.Duration
	at        time.Duration // when every was found
	passed    int64         // requests since then

	run         uint64
	index, step uint32 // of the next one; how far the one after it is
	rng         rand.PCG
}

// newSampler is the sampler of loop index of loops. A run of zero samples nothing.
func newSampler(run uint64, index, loops int, seed uint64) sampler {
	s := sampler{
		on: run != 0, every: 1, gap: time.Duration(loops) * time.Second / tracesPerSecond, allow: 1,
		run: run, index: uint32(index) + 1, step: uint32(loops),
	}
	s.rng.Seed(seed, uint64(index)<<32|0x7472)
	return s
}

// adapts is how often the sampler adapts to the rate of requests.
const adapts = 200 * time.Millisecond

// next returns the Trace of a request that is sent now; nil for most. It allocates for
// those that it samples.
func (s *sampler) next(now time.Duration, number int64) *Trace {
	s.passed++
	if s.skip > 0 && now-s.at < 5*adapts { // else the rate may have fallen to nothing
		s.skip--
		return nil
	}
	burst := max(1, float64(adapts)/float64(s.gap))
	s.allow = min(s.allow+float64(now-s.allowedAt)/float64(s.gap), burst)
	s.allowedAt = now
	if since := now - s.at; since >= adapts {
		// A quarter more than the allowance would give, so that the bound, which favours the
		// first request, seldom decides.
		s.every = max(1, int64(1.25*float64(s.passed)*float64(s.gap)/float64(since)))
		s.at, s.passed = now, 0
	}
	s.skip = int64(s.rng.Uint64() % uint64(2*s.every-1)) // from 0 to twice the mean
	// Drawn and not allowed: the draw stays, so that a burst does not shift the odds.
	if s.allow < 1 {
		return nil
	}
	s.allow--
	t := &Trace{Number: number, index: s.index, ID: traceID(s.run, s.index)}
	// W3C Trace Context, section 3.2.2.4: a span id of all zeros is invalid.
	binary.BigEndian.PutUint64(t.Span[:], scatter(^binary.BigEndian.Uint64(t.ID[8:]))|1) // never zero
	s.index += s.step
	return t
}

// traceText returns a sample's trace id, empty when it carried none.
func (r *run) traceText(s *account.Sample) string {
	if s.Trace == 0 {
		return ""
	}
	id := traceID(r.Config.Trace, s.Trace)
	return hex.EncodeToString(id[:])
}

// tracing returns which requests of the mix may carry a Trace, and false when
// none does.
func (r *run) tracing() (requests []bool, any bool) {
	p, ok := r.Config.Protocol.(Traced)
	if !ok || r.Config.Trace == 0 {
		return nil, false
	}
	for i := range r.Plan.Requests {
		requests = append(requests, p.Traced(i))
		any = any || requests[i]
	}
	return requests, any
}
