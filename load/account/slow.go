package account

import (
	"container/heap"
	"slices"
)

// Bounds of slow.jsonl: the slowest of all, and the slowest of each window for
// the first ten minutes, after which only the slowest of all are added.
const (
	slowestKept    = 64
	slowestWindows = 6000
)

// slowest keeps the requests with the longest latencies, as a heap with the
// shortest of them on top.
type slowest struct {
	kept    []slowSample
	windows int // windows whose slowest was written
}

type slowSample struct {
	Sample
	written bool
}

func (s *Sample) latency() int64 { return int64(s.Done - s.Intended) }

// Len, Less, Swap, Push and Pop serve container/heap.
func (k *slowest) Len() int           { return len(k.kept) }
func (k *slowest) Less(i, j int) bool { return k.kept[i].latency() < k.kept[j].latency() }
func (k *slowest) Swap(i, j int)      { k.kept[i], k.kept[j] = k.kept[j], k.kept[i] }
func (k *slowest) Push(x any)         { k.kept = append(k.kept, x.(slowSample)) }
func (k *slowest) Pop() any {
	last := k.kept[len(k.kept)-1]
	k.kept = k.kept[:len(k.kept)-1]
	return last
}

// add offers a request. The steady path is one comparison.
// Equal latencies keep the first: later ones would only cost a heap operation each.
func (k *slowest) add(s *Sample) {
	if len(k.kept) < slowestKept {
		heap.Push(k, slowSample{Sample: *s})
		return
	}
	if s.latency() > k.kept[0].latency() {
		k.kept[0] = slowSample{Sample: *s}
		heap.Fix(k, 0)
	}
}

// window takes the slowest request of a closed window and returns it if it is
// to be written now.
func (k *slowest) window(s *slowSample) bool {
	if k.windows >= slowestWindows {
		return false
	}
	k.windows++
	k.wrote(s.ID)
	return true
}

// wrote notes that a request is in the file.
func (k *slowest) wrote(id int64) {
	for i := range k.kept {
		if k.kept[i].ID == id {
			k.kept[i].written = true
		}
	}
}

// rest returns the kept requests that no window wrote, slowest first.
func (k *slowest) rest() []slowSample {
	rest := slices.DeleteFunc(slices.Clone(k.kept), func(s slowSample) bool { return s.written })
	slices.SortFunc(rest, func(a, b slowSample) int { return int(b.latency() - a.latency()) })
	return rest
}
