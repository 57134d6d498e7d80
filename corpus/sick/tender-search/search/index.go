package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// index has the tenders of each word.
type index struct {
	tenders []Tender
	words   map[string][]int32
}

func build(tenders []Tender) *index {
	x := &index{tenders: tenders, words: map[string][]int32{}}
	for i, t := range tenders {
		for _, w := range split(t.Title + " " + t.City) {
			list := x.words[w]
			if n := len(list); n == 0 || list[n-1] != int32(i) {
				x.words[w] = append(list, int32(i))
			}
		}
	}
	return x
}

// split returns the words of a text with their stems.
func split(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		for _, end := range []string{"ing", "s", "al"} {
			if stem, ok := strings.CutSuffix(w, end); ok && len(stem) > 3 {
				words = append(words, stem)
			}
		}
	}
	return words
}

func (x *index) find(q string, n int) []Tender {
	var lists [][]int32
	for w := range strings.FieldsSeq(strings.ToLower(q)) {
		lists = append(lists, x.words[w])
	}
	if len(lists) == 0 {
		return nil
	}
	slices.SortFunc(lists, func(a, b []int32) int { return cmp.Compare(len(a), len(b)) })
	var hits []Tender
	for _, id := range lists[0] {
		all := true
		for _, l := range lists[1:] {
			_, found := slices.BinarySearch(l, id)
			all = all && found
		}
		if all {
			hits = append(hits, x.tenders[id])
		}
	}
	slices.SortFunc(hits, func(a, b Tender) int { return cmp.Compare(b.Euros, a.Euros) })
	return hits[:min(n, len(hits))]
}
