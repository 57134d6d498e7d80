// Package docstore keeps documents under keys, with a version each.
package docstore

import (
	"bytes"
	"errors"
	"sync"
)

// Errors of engines.
var (
	ErrMissing  = errors.New("docstore: no such document")
	ErrConflict = errors.New("docstore: changed by somebody else")
)

// Engine keeps bytes. What it returns must not be changed.
type Engine interface {
	Read(key string) (doc []byte, version uint64, err error)
	// Write replaces the document of that version; version 0 makes a new one.
	Write(key string, doc []byte, version uint64) error
}

type cell struct {
	doc     []byte
	version uint64
}

// Memory is an engine that forgets when the process ends.
type Memory struct {
	mu    sync.RWMutex
	cells map[string]cell
}

// NewMemory makes an empty engine.
func NewMemory() *Memory { return &Memory{cells: map[string]cell{}} }

var _ Engine = (*Memory)(nil)

// Read implements Engine.
func (m *Memory) Read(key string) ([]byte, uint64, error) {
	m.mu.RLock()
	c, ok := m.cells[key]
	m.mu.RUnlock()
	if !ok {
		return nil, 0, ErrMissing
	}
	return c.doc, c.version, nil
}

// Write implements Engine.
func (m *Memory) Write(key string, doc []byte, version uint64) error {
	doc = bytes.Clone(doc)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cells[key].version != version {
		return ErrConflict
	}
	m.cells[key] = cell{doc, version + 1}
	return nil
}
