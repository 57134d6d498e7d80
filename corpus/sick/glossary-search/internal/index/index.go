// Package index keeps the glossary and looks terms up in it.
package index

import (
	"context"
	"fmt"
)

// Entry is one line of the glossary.
type Entry struct {
	Term, Translation string
}

// Hit is an entry with its distance from what was asked for.
type Hit struct {
	Entry
	Distance int
}

// Option configures an Index.
type Option func(*Index)

// WithEntries sets what the index starts with.
func WithEntries(list []Entry) Option { return func(i *Index) { i.entries = list } }

// WithAnswers keeps answers until an entry is stored.
func WithAnswers(on bool) Option {
	return func(i *Index) {
		if on {
			i.answers = map[question][]Hit{}
		}
	}
}

type question struct {
	term  string
	limit int
}

// mostAnswers bounds what is kept.
const mostAnswers = 4096

type message struct {
	term  string
	limit int
	entry *Entry

	hits []Hit
	done chan struct{}
}

// Index is a glossary in memory.
type Index struct {
	mailbox chan *message
	entries []Entry
	answers map[question][]Hit // nil keeps none
}

// New returns an index; Run must be called for it to answer.
func New(options ...Option) *Index {
	i := &Index{mailbox: make(chan *message, 128)}
	for _, o := range options {
		o(i)
	}
	return i
}

// Run works on the mailbox until ctx ends.
func (i *Index) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-i.mailbox:
			if m.entry != nil {
				i.store(*m.entry)
			} else {
				m.hits = i.answer(question{m.term, m.limit})
			}
			close(m.done)
		}
	}
}

func (i *Index) answer(q question) []Hit {
	if i.answers == nil {
		return i.nearest(q.term, q.limit)
	}
	hits, ok := i.answers[q]
	if !ok {
		if len(i.answers) >= mostAnswers {
			clear(i.answers)
		}
		hits = i.nearest(q.term, q.limit)
		i.answers[q] = hits
	}
	return hits
}

// Lookup returns up to limit entries that are nearest to term.
func (i *Index) Lookup(ctx context.Context, term string, limit int) ([]Hit, error) {
	m := &message{term: term, limit: limit, done: make(chan struct{})}
	if err := i.ask(ctx, m); err != nil {
		return nil, err
	}
	return m.hits, nil
}

// Put adds an entry, or replaces the one of the same term.
func (i *Index) Put(ctx context.Context, e Entry) error {
	return i.ask(ctx, &message{entry: &e, done: make(chan struct{})})
}

func (i *Index) ask(ctx context.Context, m *message) error {
	select {
	case i.mailbox <- m:
	case <-ctx.Done():
		return fmt.Errorf("send: %w", ctx.Err())
	}
	select {
	case <-m.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("await: %w", ctx.Err())
	}
}

func (i *Index) store(e Entry) {
	clear(i.answers)
	for n := range i.entries {
		if i.entries[n].Term == e.Term {
			i.entries[n] = e
			return
		}
	}
	i.entries = append(i.entries, e)
}
