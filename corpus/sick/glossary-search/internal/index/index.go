// Package index keeps the glossary and looks terms up in it.
package index

import (
	"context"
	"fmt"
	"sync"
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

// WithDirect lets callers look up by themselves.
func WithDirect(on bool) Option { return func(i *Index) { i.direct = on } }

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
	direct  bool

	mu      sync.RWMutex
	entries []Entry
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
				m.hits = i.nearest(m.term, m.limit)
			}
			close(m.done)
		}
	}
}

// Lookup returns up to limit entries that are nearest to term.
func (i *Index) Lookup(ctx context.Context, term string, limit int) ([]Hit, error) {
	if i.direct {
		i.mu.RLock()
		defer i.mu.RUnlock()
		return i.nearest(term, limit), nil
	}
	m := &message{term: term, limit: limit, done: make(chan struct{})}
	if err := i.ask(ctx, m); err != nil {
		return nil, err
	}
	return m.hits, nil
}

// Put adds an entry, or replaces the one of the same term.
func (i *Index) Put(ctx context.Context, e Entry) error {
	if i.direct {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.store(e)
		return nil
	}
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
	for n := range i.entries {
		if i.entries[n].Term == e.Term {
			i.entries[n] = e
			return
		}
	}
	i.entries = append(i.entries, e)
}
