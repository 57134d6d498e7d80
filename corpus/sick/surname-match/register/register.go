// Package register is a parish register: family names as clerks spelt them.
package register

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/corpus/sick/surname-match/similarity"
)

// Entry is a spelling with the folios that have it.
type Entry struct {
	Name   string `json:"name"`
	Folios []int  `json:"folios"`
}

// Match is an entry and how near it is.
type Match struct {
	*Entry
	Score float64 `json:"score"`
}

// Register finds entries by spelling.
type Register struct {
	entries []Entry
	exact   map[string]*Entry
	metric  similarity.Metric
}

// New makes a register of entries.
func New(entries []Entry, m similarity.Metric) *Register {
	r := &Register{entries: entries, exact: make(map[string]*Entry, len(entries)), metric: m}
	for i := range entries {
		r.exact[entries[i].Name] = &entries[i]
	}
	return r
}

// Normal is the form in which names are kept: small letters, nothing else.
func Normal(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		}
		return -1
	}, name)
}

// Exact returns the entry of a spelling.
func (r *Register) Exact(name string) (*Entry, bool) {
	e, ok := r.exact[Normal(name)]
	return e, ok
}

// Candidates returns up to limit entries that score at least atLeast, the
// nearest first.
func (r *Register) Candidates(name string, atLeast float64, limit int) []Match {
	name = Normal(name)
	found := make([]Match, 0, 2*limit)
	for i := range r.entries {
		e := &r.entries[i]
		if score := r.metric.Compare(name, e.Name); score >= atLeast {
			found = append(found, Match{e, score})
		}
	}
	slices.SortFunc(found, func(a, b Match) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return found[:min(limit, len(found))]
}
