package diagnosetest

import (
	"cmp"
	"slices"
	"time"

	"github.com/redline-go/redline/record/breakdown"
)

// Wait adds to the mean, the median and the slow request a stretch of one state
// inside a net/http handler, entered times per request.
func (b *Builder) Wait(state breakdown.State, each time.Duration, times float64, frames ...string) *Builder {
	part := b.part(state, each, times, frames)
	a := b.anatomyOf()
	a.All, a.Median, a.Tail = append(a.All, part), append(a.Median, part), append(a.Tail, part)
	return b
}

// Ran sets how long requests run: the mean, and the 10th percentile.
func (b *Builder) Ran(mean, least time.Duration) *Builder {
	b.anatomyOf().Ran = &breakdown.Ran{MeanNS: mean, P10NS: least, P50NS: mean}
	return b
}

// Slow adds a stretch to the slow requests only, and a hundredth of it to the mean.
func (b *Builder) Slow(state breakdown.State, each time.Duration, frames ...string) *Builder {
	a := b.anatomyOf()
	a.Tail = append(a.Tail, b.part(state, each, 1, frames))
	a.All = append(a.All, b.part(state, each/100, 0.01, frames))
	return b
}

// Cut sets the number of requests cut by the start or end of a trace.
func (b *Builder) Cut(n int) *Builder { b.anatomyOf().Cut = n; return b }

// Whole sets the number of requests that are whole in traces.
func (b *Builder) Whole(n int) *Builder { b.anatomyOf().Requests = n; return b }

// Waker says what ended the waits added last.
func (b *Builder) Waker(frames ...string) *Builder {
	a := b.anatomyOf()
	for _, band := range []*[]breakdown.Part{&a.All, &a.Median, &a.Tail} {
		if n := len(*band); n > 0 {
			(*band)[n-1].Waker = Stack(frames...)
		}
	}
	return b
}

// WakerRequest says that another request's goroutine ended the waits added last.
func (b *Builder) WakerRequest(frames ...string) *Builder {
	b.Waker(frames...)
	a := b.anatomyOf()
	for _, band := range []*[]breakdown.Part{&a.All, &a.Median, &a.Tail} {
		if n := len(*band); n > 0 {
			(*band)[n-1].Waker = append((*band)[n-1].Waker, Serving()...)
		}
	}
	return b
}

// Behind says what the goroutines that ended the waits added last were doing during
// them. A chain without NS takes all of the wait's time that others leave.
func (b *Builder) Behind(chains ...breakdown.Chain) *Builder {
	a := b.anatomyOf()
	for _, band := range []*[]breakdown.Part{&a.All, &a.Median, &a.Tail} {
		n := len(*band)
		if n == 0 {
			continue
		}
		part := &(*band)[n-1]
		part.Behind = slices.Clone(chains)
		left := part.NS
		for _, c := range chains {
			left -= c.NS
		}
		for i := range part.Behind {
			if part.Behind[i].NS == 0 {
				part.Behind[i].NS = max(0, left)
			}
		}
	}
	return b
}

// Timed says which part of the waits added last, 0 to 1, ended because of a timer.
func (b *Builder) Timed(part float64) *Builder {
	a := b.anatomyOf()
	for _, band := range []*[]breakdown.Part{&a.All, &a.Median, &a.Tail} {
		if n := len(*band); n > 0 {
			(*band)[n-1].Timed = part
		}
	}
	return b
}

// Spawned sets how many goroutines a request starts.
func (b *Builder) Spawned(n float64) *Builder { b.anatomyOf().Spawned = n; return b }

// NoAnatomy forgets the anatomy.
func (b *Builder) NoAnatomy() *Builder { b.anatomy = nil; return b }

// Served says which server served so many of the requests.
func (b *Builder) Served(server string, requests int) *Builder {
	a := b.anatomyOf()
	a.Served = append(a.Served, breakdown.Served{Server: server, Requests: requests})
	return b
}

func (b *Builder) anatomyOf() *breakdown.Anatomy {
	if b.anatomy == nil {
		b.anatomy = &breakdown.Anatomy{Coverage: 1, Traced: 2 * time.Second}
		b.anatomy.Requests = 1000
	}
	return b.anatomy
}

func (b *Builder) part(state breakdown.State, each time.Duration, times float64, frames []string) breakdown.Part {
	part := breakdown.Part{State: state, NS: int64(each), Times: times, Site: string(state)}
	if len(frames) > 0 {
		part.Stack = append(Stack(frames...), Serving()...)
		part.Site = frames[0]
	}
	return part
}

// finish gives the bands their sums, shares and order.
func (b *Builder) finish() *breakdown.Anatomy {
	if b.anatomy == nil {
		return nil
	}
	a := *b.anatomy
	for _, band := range []struct {
		parts *[]breakdown.Part
		mean  *time.Duration
	}{{&a.All, &a.MeanNS}, {&a.Median, &a.MedianNS}, {&a.Tail, &a.TailNS}} {
		parts := slices.Clone(*band.parts)
		slices.SortStableFunc(parts, func(x, y breakdown.Part) int { return cmp.Compare(y.NS, x.NS) })
		var sum int64
		for _, p := range parts {
			sum += p.NS
		}
		for i := range parts {
			parts[i].Share = float64(parts[i].NS) / float64(max(1, sum))
			parts[i].Behind = slices.Clone(parts[i].Behind)
			for j := range parts[i].Behind {
				parts[i].Behind[j].Share = float64(parts[i].Behind[j].NS) / float64(max(1, sum))
			}
		}
		*band.parts, *band.mean = parts, time.Duration(sum)
	}
	a.P50NS, a.P99NS = a.MedianNS, a.TailNS
	return &a
}

// Path sets the requests' critical path, and the goroutines for which they wait.
func (b *Builder) Path(nodes []breakdown.PathNode, serial ...breakdown.Serial) *Builder {
	a := b.anatomyOf()
	a.Path, a.Serial = &breakdown.Path{Requests: max(1, a.Requests), Nodes: nodes}, serial
	return b
}

// Helper adds goroutines that requests start and that end before their request does:
// the function that they begin in, how many, and the stack of the go statement within
// the handler, innermost first.
func (b *Builder) Helper(entry string, count int, start ...string) *Builder {
	a := b.anatomyOf()
	a.Helpers = append(a.Helpers, breakdown.Helper{Entry: entry, Count: count, Start: append(Stack(start...), Serving()...)})
	return b
}

// LeftBehind adds goroutines that requests start and that outlive them.
func (b *Builder) LeftBehind(entry string, count int, start ...string) *Builder {
	a := b.anatomyOf()
	a.Left = append(a.Left, breakdown.Helper{Entry: entry, Count: count, Start: append(Stack(start...), Serving()...)})
	return b
}

// Woken adds goroutines that serve no request, by the function that they begin in: how often they were woken, and how often by
// requests.
func (b *Builder) Woken(entry string, count, requests int) *Builder {
	a := b.anatomyOf()
	a.Woken = append(a.Woken, breakdown.Woken{Entry: entry, Count: count, Requests: requests})
	return b
}
