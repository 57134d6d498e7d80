package lots

import (
	"cmp"
	"slices"
	"sync"
)

// Cloner is a value that can be handed out without sharing its memory.
type Cloner[T any] interface{ Clone() T }

// Store keeps values by their key, in the order of keys. Nobody outside shares
// memory with it.
type Store[K cmp.Ordered, V Cloner[V]] struct {
	mu   sync.RWMutex
	rows map[K]V
	keys []K
}

// NewStore makes an empty store.
func NewStore[K cmp.Ordered, V Cloner[V]]() *Store[K, V] {
	return &Store[K, V]{rows: map[K]V{}}
}

// Put adds or replaces a value.
func (s *Store[K, V]) Put(k K, v V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.rows[k]; !known {
		at, _ := slices.BinarySearch(s.keys, k)
		s.keys = slices.Insert(s.keys, at, k)
	}
	s.rows[k] = v.Clone()
}

// Get returns the value of k.
func (s *Store[K, V]) Get(k K) (V, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.rows[k]
	if !ok {
		return v, false
	}
	return v.Clone(), true
}

// Update changes the value of k, unless change fails.
func (s *Store[K, V]) Update(k K, change func(*V) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.rows[k]
	if !ok {
		return ErrUnknown
	}
	next := v.Clone()
	if err := change(&next); err != nil {
		return err
	}
	s.rows[k] = next
	return nil
}

// List returns all values in the order of their keys.
func (s *Store[K, V]) List() []V {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]V, 0, len(s.keys))
	for _, k := range s.keys {
		out = append(out, s.rows[k].Clone())
	}
	return out
}

// Len is the number of values.
func (s *Store[K, V]) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.keys)
}
