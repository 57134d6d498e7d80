package customs

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// session is the login at customs. It ends after a while and is then renewed.
type session struct {
	mu     sync.Mutex
	ticket string
	until  time.Time
	number int
	shared bool
	login  func(context.Context) (time.Duration, error)
}

// with calls f with a ticket that is valid.
func (s *session) with(ctx context.Context, f func(ticket string) error) error {
	s.mu.Lock()
	if s.shared {
		ticket, err := s.current(ctx)
		s.mu.Unlock()
		if err != nil {
			return err
		}
		return f(ticket)
	}
	defer s.mu.Unlock()
	ticket, err := s.current(ctx)
	if err != nil {
		return err
	}
	return f(ticket)
}

func (s *session) current(ctx context.Context) (string, error) {
	if now := time.Now(); now.After(s.until) {
		ttl, err := s.login(ctx)
		if err != nil {
			return "", fmt.Errorf("login: %w", err)
		}
		s.number++
		s.ticket, s.until = fmt.Sprintf("ticket-%06d", s.number), now.Add(ttl)
	}
	return s.ticket, nil
}
