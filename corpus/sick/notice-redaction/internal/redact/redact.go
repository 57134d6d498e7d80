// Package redact applies the rules of a council to a text.
package redact

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/redline-go/redline/corpus/sick/notice-redaction/internal/rules"
)

// Source makes the redactor of a council.
type Source interface {
	For(council int) (*Redactor, error)
}

type step struct {
	match   *regexp.Regexp
	instead string
	name    string
}

// Redactor takes out what its steps match.
type Redactor struct{ steps []step }

// New makes a redactor of rules.
func New(list []rules.Rule) (*Redactor, error) {
	r := &Redactor{steps: make([]step, 0, len(list))}
	for _, rule := range list {
		re, err := regexp.Compile(rule.Match)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", rule.Name, err)
		}
		r.steps = append(r.steps, step{re, rule.Instead, rule.Name})
	}
	return r, nil
}

// Clean returns the text without what the rules name, and how often each was found.
func (r *Redactor) Clean(text string) (string, map[string]int) {
	found := make(map[string]int, len(r.steps))
	for _, s := range r.steps {
		text = s.match.ReplaceAllStringFunc(text, func(string) string {
			found[s.name]++
			return s.instead
		})
	}
	return text, found
}

type book struct{ *rules.Book }

// FromBook returns the redactors of a rule book.
func FromBook(b *rules.Book) Source { return book{b} }

func (b book) For(council int) (*Redactor, error) {
	list, err := b.Of(council)
	if err != nil {
		return nil, err
	}
	return New(list)
}

type remembered struct {
	Source
	seen sync.Map
}

// Remember keeps what a source returned.
func Remember(s Source) Source { return &remembered{Source: s} }

func (m *remembered) For(council int) (*Redactor, error) {
	if r, ok := m.seen.Load(council); ok {
		return r.(*Redactor), nil
	}
	r, err := m.Source.For(council)
	if err == nil {
		m.seen.Store(council, r)
	}
	return r, err
}
