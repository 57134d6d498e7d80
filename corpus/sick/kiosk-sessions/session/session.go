// Package session keeps what kiosks in a museum know of their visitors.
package session

import (
	"container/list"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"
)

// Session is one visit to a kiosk.
type Session struct {
	ID      string
	Kiosk   string
	Started time.Time
	Seen    time.Time
	Rooms   []int
}

// Store keeps sessions until they were not seen for a while.
type Store interface {
	Start(kiosk string) *Session
	Visit(id string, room int) (rooms int, ok bool)
	Len() int
}

func newID() string {
	var b [12]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Memory is a Store in a map.
type Memory struct {
	mu   sync.Mutex
	life time.Duration
	by   map[string]*Session
}

// NewMemory makes a store whose sessions live for life.
func NewMemory(life time.Duration) *Memory {
	return &Memory{life: life, by: make(map[string]*Session)}
}

// Start begins a session.
func (m *Memory) Start(kiosk string) *Session {
	now := time.Now()
	s := &Session{ID: newID(), Kiosk: kiosk, Started: now, Seen: now}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire(now)
	m.by[s.ID] = s
	return s
}

// Visit notes that a visitor looked at a room.
func (m *Memory) Visit(id string, room int) (int, bool) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire(now)
	s, ok := m.by[id]
	if !ok {
		return 0, false
	}
	s.Seen, s.Rooms = now, append(s.Rooms, room)
	return len(s.Rooms), true
}

// Len is how many sessions live.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.by)
}

func (m *Memory) expire(now time.Time) {
	for id, s := range m.by {
		if now.Sub(s.Seen) > m.life {
			delete(m.by, id)
		}
	}
}

// Ordered is a Store that has the sessions in the order in which they were seen.
type Ordered struct {
	mu   sync.Mutex
	life time.Duration
	by   map[string]*list.Element
	seen *list.List
}

// NewOrdered makes a store whose sessions live for life.
func NewOrdered(life time.Duration) *Ordered {
	return &Ordered{life: life, by: make(map[string]*list.Element), seen: list.New()}
}

// Start begins a session.
func (o *Ordered) Start(kiosk string) *Session {
	now := time.Now()
	s := &Session{ID: newID(), Kiosk: kiosk, Started: now, Seen: now}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expire(now)
	o.by[s.ID] = o.seen.PushBack(s)
	return s
}

// Visit notes that a visitor looked at a room.
func (o *Ordered) Visit(id string, room int) (int, bool) {
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expire(now)
	e, ok := o.by[id]
	if !ok {
		return 0, false
	}
	o.seen.MoveToBack(e)
	s := e.Value.(*Session)
	s.Seen, s.Rooms = now, append(s.Rooms, room)
	return len(s.Rooms), true
}

// Len is how many sessions live.
func (o *Ordered) Len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen.Len()
}

func (o *Ordered) expire(now time.Time) {
	for e := o.seen.Front(); e != nil; e = o.seen.Front() {
		s := e.Value.(*Session)
		if now.Sub(s.Seen) <= o.life {
			return
		}
		delete(o.by, s.ID)
		o.seen.Remove(e)
	}
}
