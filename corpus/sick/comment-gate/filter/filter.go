// Package filter scores what people write below articles. Filters are plugins:
// importing one registers it.
package filter

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Comment is what somebody wrote.
type Comment struct {
	Author string   `json:"author"`
	Text   string   `json:"text"`
	Words  []string `json:"-"`
}

// Split fills Words.
func (c *Comment) Split() {
	c.Words = strings.FieldsFunc(strings.ToLower(c.Text), func(r rune) bool {
		return r == ' ' || r == '\n' || r == ',' || r == '.' || r == '!' || r == '?'
	})
}

// Filter scores a comment from 0, harmless, to 1.
type Filter interface {
	Name() string
	Score(c *Comment) float64
}

// Options is what filters are made with.
type Options struct {
	Reuse   bool
	Blocked []string
}

type maker func(Options) (Filter, error)

var (
	mu     sync.RWMutex
	makers = map[string]maker{}
)

// Register makes a filter known under name.
func Register(name string, m func(Options) (Filter, error)) {
	mu.Lock()
	defer mu.Unlock()
	if _, dup := makers[name]; dup {
		panic("filter: Register called twice for " + name)
	}
	makers[name] = m
}

// Open makes the filters of names.
func Open(o Options, names ...string) ([]Filter, error) {
	mu.RLock()
	defer mu.RUnlock()
	var list []Filter
	for _, n := range names {
		m, ok := makers[n]
		if !ok {
			return nil, fmt.Errorf("filter: unknown %q (forgotten import?)", n)
		}
		f, err := m(o)
		if err != nil {
			return nil, fmt.Errorf("filter %s: %w", n, err)
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b Filter) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}
