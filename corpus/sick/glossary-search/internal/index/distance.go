package index

import (
	"cmp"
	"slices"
	"strings"
)

func (i *Index) nearest(term string, limit int) []Hit {
	best := make([]Hit, 0, limit+1)
	row := make([]int, 64)
	for _, e := range i.entries {
		h := Hit{Entry: e, Distance: levenshtein(term, e.Term, row)}
		if len(best) == limit && h.Distance >= best[limit-1].Distance {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, h, func(a, b Hit) int { return cmp.Compare(a.Distance, b.Distance) })
		best = slices.Insert(best, at, h)
		best = best[:min(limit, len(best))]
	}
	return slices.Clone(best)
}

func levenshtein(a, b string, row []int) int {
	if len(b) >= len(row) {
		b = b[:len(row)-1]
	}
	row = row[:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for x := range len(a) {
		last := row[0]
		row[0] = x + 1
		for y := range len(b) {
			cost := last
			if a[x] != b[y] {
				cost = 1 + min(last, row[y], row[y+1])
			}
			last, row[y+1] = row[y+1], cost
		}
	}
	return row[len(b)]
}

// Sample returns n made-up entries.
func Sample(n int) []Entry {
	heads := []string{"inter", "trans", "sub", "photo", "hydro", "electro", "geo", "micro", "poly", "thermo"}
	tails := []string{"graph", "scope", "meter", "logy", "phone", "gram", "metry", "nomy", "cracy"}
	list := make([]Entry, n)
	for k := range list {
		term := heads[k%len(heads)] + string(rune('a'+k%26)) + tails[k/len(heads)%len(tails)]
		list[k] = Entry{Term: term + string(rune('a'+k/90%26)), Translation: strings.ToUpper(term)}
	}
	return list
}
