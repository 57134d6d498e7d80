package goroutines

import (
	"sort"

	"golang.org/x/exp/trace"

	"github.com/redline-go/redline/anatomy/interned"
)

// Bounds of the CPU samples that are kept to say what a goroutine ran while a
// request waited for it: of one goroutine, and the distinct ones of all chains.
const (
	maxRan        = 256
	maxChainStack = 1 << 16
)

// chainStack counts samples: what the last goroutine of a chain ran.
type chainStack struct {
	Chain ChainID
	Stack interned.Stack
}

// RanAt keeps the last samples of a goroutine.
func (g *Goroutine) RanAt(s CPUSample) {
	if len(g.ran) == maxRan {
		g.ran = append(g.ran[:0], g.ran[maxRan/2:]...)
	}
	g.ran = append(g.ran, s)
}

// sampled counts what a goroutine ran between from and to, at the end of a chain.
func (f *Follower) sampled(g *Goroutine, from, to trace.Time, chain ChainID) {
	first := sort.Search(len(g.ran), func(i int) bool { return g.ran[i].At >= from })
	for _, s := range g.ran[first:] {
		if s.At >= to {
			return
		}
		key := chainStack{chain, s.Stack}
		if _, ok := f.Chains.Ran[key]; ok || len(f.Chains.Ran) < maxChainStack {
			f.Chains.Ran[key]++
		}
	}
}

// CPUSample is one sample of the CPU profile, if one was taken at the same time.
type CPUSample struct {
	At    trace.Time
	Stack interned.Stack
}
