// Package terminal speaks with the registry of tyres, which knows a client by the
// session that it has opened.
package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("terminal: closed")

// Session is a signed-on terminal. It is used by one goroutine at a time.
type Session struct {
	id    int
	calls int
	token string
	since time.Time
}

// Bank holds the sessions.
type Bank struct {
	base   string
	client *http.Client
	renew  int

	mu     sync.Mutex
	free   *sync.Cond
	idle   []*Session
	open   int
	most   int
	closed bool
}

// NewBank makes a bank of at most most sessions with the registry at base, each
// renewed after so many calls.
func NewBank(base string, most, renew int) *Bank {
	b := &Bank{base: base, most: most, renew: renew, client: &http.Client{
		Timeout:   4 * time.Second,
		Transport: &http.Transport{MaxIdleConns: 128, MaxIdleConnsPerHost: 128, IdleConnTimeout: time.Minute},
	}}
	b.free = sync.NewCond(&b.mu)
	return b
}

// Close lets those that wait go.
func (b *Bank) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.free.Broadcast()
}

func (b *Bank) take(ctx context.Context) (*Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case b.closed:
			return nil, ErrClosed
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case len(b.idle) > 0:
			s := b.idle[len(b.idle)-1]
			b.idle = b.idle[:len(b.idle)-1]
			return s, nil
		case b.open < b.most:
			b.open++
			return &Session{id: b.open, since: time.Now()}, nil
		}
		b.free.Wait()
	}
}

func (b *Bank) put(s *Session, broken bool) {
	b.mu.Lock()
	if broken {
		b.open--
	} else {
		b.idle = append(b.idle, s)
	}
	b.mu.Unlock()
	b.free.Signal()
}

// Record is what the registry says of a tyre.
type Record struct {
	State string `json:"state"`
	Note  string `json:"note"`
}

// Look asks the registry for the tyre of code.
func (b *Bank) Look(ctx context.Context, code string) (Record, error) {
	s, err := b.take(ctx)
	if err != nil {
		return Record{}, err
	}
	rec, err := b.call(ctx, s, code)
	b.put(s, err != nil)
	return rec, err
}

func (b *Bank) call(ctx context.Context, s *Session, code string) (Record, error) {
	var rec Record
	if s.token == "" || s.calls >= b.renew {
		s.token, s.calls = fmt.Sprintf("t%d-%d", s.id, time.Since(s.since).Microseconds()), 0
	}
	s.calls++
	body, err := json.Marshal(map[string]string{"code": code, "token": s.token})
	if err != nil {
		return rec, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+"/registry/look", bytes.NewReader(body))
	if err != nil {
		return rec, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.client.Do(req)
	if err != nil {
		return rec, fmt.Errorf("registry: %w", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return rec, err
	}
	if resp.StatusCode != http.StatusOK {
		return rec, fmt.Errorf("registry: %s", resp.Status)
	}
	return rec, json.Unmarshal(raw, &rec)
}
