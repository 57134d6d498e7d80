// Package notes keeps notes of shifts.
package notes

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Note is what one shift tells the next about a bed.
type Note struct {
	ID     string    `json:"id"`
	Bed    int       `json:"bed"`
	Nurse  string    `json:"nurse"`
	Text   string    `json:"text"`
	Urgent bool      `json:"urgent"`
	At     time.Time `json:"at"`
}

// ErrUnknown is returned for a note that is not there.
var ErrUnknown = errors.New("notes: unknown")

// Store keeps notes. A note that Save accepted outlives a loss of power where
// the store says so.
type Store interface {
	Save(ctx context.Context, n Note) error
	Load(ctx context.Context, id string) (Note, error)
}

// Memory is a store that ends with its process.
type Memory struct {
	mu    sync.RWMutex
	notes map[string]Note
}

var (
	_ Store = (*Memory)(nil)
	_ Store = (*Journal)(nil)
)

// NewMemory makes an empty store.
func NewMemory() *Memory { return &Memory{notes: map[string]Note{}} }

// Save implements Store.
func (m *Memory) Save(_ context.Context, n Note) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes[n.ID] = n
	return nil
}

// Load implements Store.
func (m *Memory) Load(_ context.Context, id string) (Note, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, ok := m.notes[id]
	if !ok {
		return Note{}, ErrUnknown
	}
	return n, nil
}
