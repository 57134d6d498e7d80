// Package names makes names.
package names

import (
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Parts are put together.
var Parts = []string{"stri", "bubo", "aeg", "oli", "noc", "tua", "asi", "otu", "ul", "ula", "syr", "nium"}

var triple = regexp.MustCompile(`[aeiou]{3}|[^aeiou]{4}`)

// Namer makes the names of a seed.
type Namer interface {
	Names(seed string) []string
}

// Maker makes names of parts.
type Maker struct{ Parts []string }

// Names implements Namer.
func (m Maker) Names(seed string) []string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed))
	n := h.Sum64()
	list := make([]string, 0, 8)
	for i := 0; i < 24 && len(list) < cap(list); i++ {
		var b strings.Builder
		for range 3 {
			b.WriteString(m.Parts[n%uint64(len(m.Parts))])
			n = n*6364136223846793005 + 1442695040888963407
			n ^= n >> 33
		}
		if name := b.String(); !triple.MatchString(name) && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// Kept remembers names.
type Kept struct {
	Namer
	cache        *lru.Cache[string, []string]
	hits, misses atomic.Int64
}

// Keep makes a Namer that remembers the last n seeds.
func Keep(next Namer, n int) (*Kept, error) {
	c, err := lru.New[string, []string](n)
	return &Kept{Namer: next, cache: c}, err
}

// Names implements Namer.
func (k *Kept) Names(seed string) []string {
	if list, ok := k.cache.Get(seed); ok {
		k.hits.Add(1)
		return list
	}
	k.misses.Add(1)
	list := k.Namer.Names(seed)
	k.cache.Add(seed, list)
	return list
}

// Stats returns how often names were kept and made.
func (k *Kept) Stats() (hits, misses int64) { return k.hits.Load(), k.misses.Load() }
